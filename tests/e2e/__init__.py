"""Whole runs of the command line against the headless simulator."""
