"""Scores of a swarm, and the worth of each of its drones."""
