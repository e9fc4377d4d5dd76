"""Tests of ``uavsim.simulate.carla``."""
