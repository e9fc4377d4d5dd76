"""Tests of `uavsim_scenarios.vehicles`."""
