"""Tests with processes that die, hang or print invalid output."""
