"""Tests of `uavsim_scenarios.intruders`."""
