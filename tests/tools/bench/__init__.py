"""The benchmarks' own mathematics; no test measures time."""
