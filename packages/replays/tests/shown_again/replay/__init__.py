"""Tests of `uavsim_replays.replay`."""
