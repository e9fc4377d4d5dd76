"""Names of vehicles and sensors in AirSim's settings and client."""

from uavsim.records.sensors import SensorSpec


def sensor_name(spec: SensorSpec) -> str:
    """Return the name of a sensor other than a camera in AirSim's settings: ``LIDAR``, ``LIDAR_FRONT``."""
    return "_".join(part for part in (spec.params.prefix, spec.name) if part)


def vehicle_name(drone_id: int) -> str:
    """Return the name of a drone in AirSim's settings: ``uav0``."""
    return f"uav{drone_id}"
