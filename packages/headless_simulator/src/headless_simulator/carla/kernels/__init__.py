"""Compiled work of CARLA's port on whole messages."""
