"""Scores of results against a data set: the outside judges as processes, and metrics of our own; one module per metric."""
