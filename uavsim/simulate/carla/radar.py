"""CARLA's radar measurements.

CARLA computes the sensor's velocity from its position a tick before. Our sensors jump to their poses, so CARLA's velocities
are meaningless; ``capture/radar.py`` computes them from the actors' motion.
"""

from typing import Final

import carla
import numpy as np

from uavsim.images import points
from uavsim.images.points import Returns
from uavsim.records.radar import RadarParams
from uavsim.simulate.carla.readers import CarlaReader, Memory

_RAY: Final = np.dtype([("mps", "<f4"), ("azimuth_rad", "<f4"), ("altitude_rad", "<f4"), ("depth_m", "<f4")])
"""Layout of CARLA's ``RadarData.h``; azimuth increases to the right."""


def _attributes(radar: RadarParams) -> dict[str, float]:
    return {
        "range": radar.range_m,
        "points_per_second": radar.points_per_second,
        "horizontal_fov": radar.horizontal_fov_deg,
        "vertical_fov": radar.vertical_fov_deg,
        "noise_seed": radar.noise_seed,
        "sensor_tick": 0.0,
    }


def _too_far(measurement: carla.RadarMeasurement, radar: RadarParams, _: Memory) -> str:
    depth_m = np.frombuffer(measurement.raw_data, _RAY)["depth_m"]
    farthest_m = float(depth_m.max(initial=0.0))
    return f"sees {farthest_m:.1f} m far, not {radar.range_m:g}" if farthest_m > radar.range_m + 0.1 else ""


def _returns(measurement: carla.RadarMeasurement) -> Returns:
    rays = np.frombuffer(measurement.raw_data, _RAY)
    level_m = rays["depth_m"] * np.cos(rays["altitude_rad"])
    returns = np.zeros(len(rays), points.RETURN)
    returns["flu_m"] = np.stack(
        [
            level_m * np.cos(rays["azimuth_rad"]),
            -level_m * np.sin(rays["azimuth_rad"]),
            rays["depth_m"] * np.sin(rays["altitude_rad"]),
        ],
        axis=1,
    )
    return returns


RADAR: Final = CarlaReader("sensor.other.radar", _attributes, _too_far, _returns)
