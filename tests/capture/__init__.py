"""Tests of ``uavsim.capture``."""
