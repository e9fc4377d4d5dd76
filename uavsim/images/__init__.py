"""Pixels: encode and decode, draw, degrade, run lengths; the only package that imports OpenCV."""
