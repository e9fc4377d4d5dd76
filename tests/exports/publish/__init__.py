"""Packs, opened by the tools that they are for."""
