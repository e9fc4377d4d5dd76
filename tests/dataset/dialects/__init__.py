"""Tests of dialects."""
