"""Figures of this machine, one row each: ``scripts/bench``."""
