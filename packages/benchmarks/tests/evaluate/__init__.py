"""Metrics against values calculated by hand."""
