"""Tests of recordings for Rerun."""
