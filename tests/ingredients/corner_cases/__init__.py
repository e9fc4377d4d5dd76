"""Tests of `uavsim.ingredients.corner_cases`."""
