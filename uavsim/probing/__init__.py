"""Checks of a simulator before a long run: pace, conformance and frames, as commands of ``uavsim``."""
