"""Metrics and the commands that print them."""
