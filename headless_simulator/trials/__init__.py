"""Comparisons with programs of other authors, started by hand: nothing here is in the wheel or in the tests of every day."""
