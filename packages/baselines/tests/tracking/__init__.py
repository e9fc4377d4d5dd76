"""Tests of the baselines; they need .venv-train."""
