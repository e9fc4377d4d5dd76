"""Surroundings that mean harm, or are in a bad way: nothing of others is touched, every failure is one line."""
