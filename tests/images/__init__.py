"""Codecs there and back, and drawings."""
