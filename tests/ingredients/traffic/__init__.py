"""Tests of `uavsim.ingredients.traffic`."""
