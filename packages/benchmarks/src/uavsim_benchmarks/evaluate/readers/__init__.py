"""Readers of the benchmarks' file formats into arrays."""
