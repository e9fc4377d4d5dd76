"""Tests of ``uavsim.simulate.airsim``."""
