"""Tests of `uavsim.ingredients`."""
