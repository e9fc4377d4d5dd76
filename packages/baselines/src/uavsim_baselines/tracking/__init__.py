"""Trackers, which link the boxes of successive samples without images."""
