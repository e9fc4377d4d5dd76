"""Data sets in, benchmarks' result files out; data sets are read through ``uavsim.open`` only."""
