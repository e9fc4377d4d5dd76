"""AirSim's settings.json for a swarm and its rig; needs no AirSim.

Source: AirSim docs/settings.md. Lengths are NED metres from PlayerStart (vehicles) or from the vehicle (cameras), angles
degrees; AirSim's roll, pitch and yaw have CARLA's signs.
"""

from typing import Final, Literal

from uavsim.records.modalities import ordered
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import LidarParams, SensorSpec
from uavsim.simulate.airsim.readers import reader_of
from uavsim.simulate.names import sensor_name, vehicle_name
from uavsim.typing import JsonDict

_SCENE: Final = 0

Client = Literal["airsim", "cosys"]
"""The server that reads the file."""


def airsim_settings(plan: ScenePlan, *, client: Client = "airsim") -> JsonDict:
    """Return settings for the plan's drones: on the ground in their formation, each with every camera of the rig.

    Cosys-AirSim needs another version of the file and has another segmentation, which stays off (its docs/settings.md).

    Segmentation numbers start at 0 ("None"), because the capture sets them all; sizes are given for every image type, because
    AirSim otherwise uses 256x144 without a message.
    """
    positions_m = plan.swarm.map_SE3_flu[0].translation_m
    offsets_m = positions_m - positions_m[0]
    vehicles = {
        vehicle_name(drone_id): {
            "VehicleType": "SimpleFlight",
            "AutoCreate": True,
            "X": round(float(offset[0]), 3),
            "Y": round(float(-offset[1]), 3),
            "Z": 0.0,
            "Yaw": 0.0,
            **_rig(plan),
        }
        for drone_id, offset in zip(plan.swarm.drone_ids, offsets_m, strict=True)
    }
    by_client: dict[Client, JsonDict] = {
        "airsim": {
            "SettingsVersion": 1.2,
            "SegmentationSettings": {"InitMethod": "None", "OverrideExisting": True},
        },
        "cosys": {"SettingsVersion": 2.0, "InitialInstanceSegmentation": False},
    }
    common = {"SimMode": "Multirotor", "ClockSpeed": 1.0, "ViewMode": "NoDisplay", "Vehicles": vehicles}
    return by_client[client] | common


def _rig(plan: ScenePlan) -> JsonDict:
    lidars = {sensor_name(spec): _lidar(spec, spec.params) for spec in plan.rig if isinstance(spec.params, LidarParams)}
    return {"Cameras": {spec.name: _camera(spec) for spec in plan.cameras}} | ({"Sensors": lidars} if lidars else {})


def _mount(spec: SensorSpec) -> JsonDict:
    (x, y, z), (roll, pitch, yaw) = spec.mount_t_m, spec.mount_rpy_deg
    return {"X": x, "Y": -y + 0.0, "Z": -z + 0.0, "Roll": roll, "Pitch": pitch, "Yaw": yaw}


def _camera(spec: SensorSpec) -> JsonDict:
    camera = spec.camera.rendered
    size = {
        "Width": camera.width_px,
        "Height": camera.height_px,
        "FOV_Degrees": camera.fov_deg,
        "MotionBlurAmount": 0.0,
    }
    types = {reader_of(modality).image_type for modality in ordered(spec.modalities) if modality.airsim}
    captures = [{"ImageType": number, **size} for number in sorted(number for number in types if number is not None)]
    exposure = {"AutoExposureSpeed": camera.exposure.speed, "AutoExposureBias": camera.exposure.compensation}
    captures = [{**capture, **(exposure if capture["ImageType"] == _SCENE else {})} for capture in captures]
    return {**_mount(spec), "CaptureSettings": captures}


def _lidar(spec: SensorSpec, lidar: LidarParams) -> JsonDict:
    """Return AirSim's settings of a lidar (docs/lidar.md): a horizontal field of view of 0 to 360 is a full turn."""
    return {
        "SensorType": 6,
        "Enabled": True,
        "NumberOfChannels": lidar.channels,
        "RotationsPerSecond": lidar.rotation_hz,
        "PointsPerSecond": lidar.points_per_second,
        "Range": lidar.range_m,
        "VerticalFOVUpper": lidar.upper_fov_deg,
        "VerticalFOVLower": lidar.lower_fov_deg,
        "HorizontalFOVStart": 0.0,
        "HorizontalFOVEnd": 360.0,
        **_mount(spec),
        "DrawDebugPoints": False,
        "DataFrame": "SensorLocalFrame",
    }
