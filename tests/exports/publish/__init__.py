"""Packs, opened with their target tools."""
