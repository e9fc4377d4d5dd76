"""Tests of `uavsim.ingredients.roadside`."""
