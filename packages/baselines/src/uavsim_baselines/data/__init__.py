"""Datasets in, benchmarks' result files out; datasets are read through ``uavsim.open`` only."""
