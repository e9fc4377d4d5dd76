"""Tests of `uavsim_scenarios.drone_bodies`."""
