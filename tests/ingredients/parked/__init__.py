"""Tests of `uavsim.ingredients.parked`."""
