"""Trials of the baselines, too long for CI, and the made-up dataset that they and the tests use."""
