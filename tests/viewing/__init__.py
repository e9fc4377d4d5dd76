"""Tests of reports and recordings of a dataset."""
