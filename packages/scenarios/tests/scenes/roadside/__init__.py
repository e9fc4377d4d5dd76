"""Tests of `uavsim_scenarios.roadside`."""
