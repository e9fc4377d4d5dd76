"""Tests of `uavsim.ingredients.drone_bodies`."""
