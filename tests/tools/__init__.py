"""Tests of ``tools/``: benchmarks, trials and checks."""
