"""Tests of records and their serialisation."""
