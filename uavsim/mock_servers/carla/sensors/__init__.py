"""What sensors send: one module per family, all fed from the same tick."""

from uavsim.mock_servers.carla.sensors.hub import Sensors

__all__ = ["Sensors"]
