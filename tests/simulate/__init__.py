"""Tests of ``uavsim.simulate``."""
