"""Tests of `uavsim.ingredients.replay`."""
