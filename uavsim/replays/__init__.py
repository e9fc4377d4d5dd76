"""Replays of recorded scenes, and twins: replays with one change that are linked to the dataset."""
