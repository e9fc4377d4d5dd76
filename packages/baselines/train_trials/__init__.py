"""Trials of the baselines, too long for CI, and the made-up data set that they and the tests use."""
