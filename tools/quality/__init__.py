"""Limits of size that no linter has: ``python -m tools.quality``, a part of ``scripts/check``."""
