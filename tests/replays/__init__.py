"""Tests of replays and twins: requests, refusals, skins and links."""
