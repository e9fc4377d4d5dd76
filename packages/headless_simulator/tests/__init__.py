"""Tests of the headless simulator, one folder per package; the vendors' real clients run in separate processes."""
