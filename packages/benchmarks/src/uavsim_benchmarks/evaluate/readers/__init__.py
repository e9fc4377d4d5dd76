"""Readers: a benchmark's own files to the arrays that its metrics take; nothing here computes a score."""
