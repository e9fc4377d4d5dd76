"""The outside judges on data sets of ours; skipped where their environment is missing."""
