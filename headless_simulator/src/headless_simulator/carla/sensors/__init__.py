"""What sensors send: one module per family, all fed from the same tick."""

from headless_simulator.carla.sensors.hub import Sensors

__all__ = ["Sensors"]
