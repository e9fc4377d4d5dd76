"""Pixels: encode and decode, draw, degrade, run lengths; the only room that imports OpenCV."""
