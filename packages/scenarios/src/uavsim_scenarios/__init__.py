"""Ingredients of scenes beyond traffic: intruders, corner cases, clocks and sensors of drones, cars and poles that sense."""
