"""Tests of the report: self-contained, accessible, and consistent with the tables."""
