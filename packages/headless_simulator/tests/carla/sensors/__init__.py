"""Measurements of each family of CARLA's sensors, without a socket."""
