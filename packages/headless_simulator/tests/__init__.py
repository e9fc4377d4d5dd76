"""Tests of the headless simulator, one room per package of it; the vendors' real clients run in processes of their own."""
