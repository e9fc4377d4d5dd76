"""Recordings for Rerun, read back."""
