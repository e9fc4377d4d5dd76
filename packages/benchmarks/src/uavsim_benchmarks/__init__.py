"""Scores of results, labels by rule, and questions: benchmarks on uavsim's datasets."""
