"""Pixel operations: encode and decode, draw, degrade, run lengths, mostly by OpenCV."""
