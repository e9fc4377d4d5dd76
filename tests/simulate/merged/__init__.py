"""Tests of ``uavsim.simulate.merged``."""
