"""Names that both a simulator's settings and its client must agree on."""

from uavsim.records.sensors import SensorSpec


def sensor_name(spec: SensorSpec) -> str:
    """Name what is no camera in AirSim's settings: ``LIDAR``, ``LIDAR_FRONT``."""
    return "_".join(part for part in (spec.params.prefix, spec.name) if part)


def vehicle_name(drone_id: int) -> str:
    """Name the drone in AirSim's settings: ``uav0``."""
    return f"uav{drone_id}"
