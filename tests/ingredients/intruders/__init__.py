"""Tests of `uavsim.ingredients.intruders`."""
