"""Metrics against figures worked out on paper."""
