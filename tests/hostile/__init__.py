"""Hostile or broken environments: foreign files stay untouched, every failure is one line."""
