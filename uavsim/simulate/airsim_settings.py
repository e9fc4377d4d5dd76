"""AirSim's settings.json for a swarm and its rig: pure, so that it can be written where no AirSim is.

Source: AirSim docs/settings.md. Lengths are NED metres from PlayerStart (vehicles) or from the vehicle (cameras), angles
degrees; AirSim's roll, pitch and yaw have CARLA's signs.
"""

from __future__ import annotations

from typing import Final

from uavsim.records.plan import CameraSpec, ScenePlan, SensorKind
from uavsim.simulate.names import vehicle_name
from uavsim.typing import JsonDict

__all__ = ["airsim_settings"]

_IMAGE_TYPE: Final[dict[SensorKind, int]] = {"rgb": 0, "depth": 1, "instance": 5}  # Scene, DepthPlanar, Segmentation


def airsim_settings(plan: ScenePlan) -> JsonDict:
    """Return settings for ``plan``'s drones: on the ground in their formation, every camera of the rig on each.

    Segmentation numbers are left at 0 ("None"), so that the capture owns them all; sizes are given for every image type,
    because AirSim otherwise takes 256x144 without a word.
    """
    places_m = plan.swarm.map_SE3_flu[0].translation_m
    offsets_m = places_m - places_m[0]
    vehicles = {
        vehicle_name(drone_id): {
            "VehicleType": "SimpleFlight",
            "AutoCreate": True,
            "X": round(float(offset[0]), 3),
            "Y": round(float(-offset[1]), 3),
            "Z": 0.0,
            "Yaw": 0.0,
            "Cameras": {spec.name: _camera(spec) for spec in plan.rig},
        }
        for drone_id, offset in zip(plan.swarm.drone_ids, offsets_m, strict=True)
    }
    return {
        "SettingsVersion": 1.2,
        "SimMode": "Multirotor",
        "ClockSpeed": 1.0,
        "ViewMode": "NoDisplay",
        "SegmentationSettings": {"InitMethod": "None", "OverrideExisting": True},
        "Vehicles": vehicles,
    }


def _camera(spec: CameraSpec) -> JsonDict:
    (x, y, z), (roll, pitch, yaw) = spec.mount_t_m, spec.mount_rpy_deg
    size = {"Width": spec.width_px, "Height": spec.height_px, "FOV_Degrees": spec.fov_deg, "MotionBlurAmount": 0.0}
    captures = [{"ImageType": kind, **size} for sensor, kind in _IMAGE_TYPE.items() if sensor in spec.sensors]
    return {"X": x, "Y": -y + 0.0, "Z": -z + 0.0, "Roll": roll, "Pitch": pitch, "Yaw": yaw, "CaptureSettings": captures}
