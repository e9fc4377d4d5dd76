"""Adapters against the headless simulator."""
