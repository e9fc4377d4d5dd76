"""Tests of `uavsim_scenarios.corner_cases`."""
