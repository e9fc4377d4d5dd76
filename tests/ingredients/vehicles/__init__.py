"""Tests of `uavsim.ingredients.vehicles`."""
