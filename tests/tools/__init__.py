"""Tests of what measures, tries and checks uavsim: ``tools/``."""
