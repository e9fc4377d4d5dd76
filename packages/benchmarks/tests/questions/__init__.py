"""Tests of questions: items, draws, and text-only baselines."""
