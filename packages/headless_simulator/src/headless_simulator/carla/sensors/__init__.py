"""Sensor measurements: one module per family; ``hub`` passes all of them the same tick."""
