"""CARLA's sensors: their attributes and the conversion of their measurements; a ``CarlaReader`` for each modality.

``Modality.carla`` names them; only a client process imports this module. Measurements are those of CARLA's own client.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import carla
import numpy as np

from uavsim.errors import MissedTick
from uavsim.images import events, mask_pixels, points
from uavsim.images.mask_pixels import Runs
from uavsim.images.points import Returns
from uavsim.records.sensors import CameraParams, LidarParams
from uavsim.typing import AnyArray, BoolArray, UInt8Array

Memory: TypeAlias = dict[str, float]
"""State of a sensor between measurements."""

_DEPTH_RANGE_M: Final = 1000.0  # CARLA's 24-bit depth covers 0..1000 m
_TURN_TOLERANCE_RAD: Final = 0.02  # float32 errors accumulate over the ticks of a town
_EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("elapsed_ns", "<i8"), ("brighter", "?")])
_SEMANTIC_POINT: Final = np.dtype([("ue_m", "<f4", 3), ("cosine", "<f4"), ("actor", "<u4"), ("tag", "<u4")])
_FLU_FROM_UE: Final = np.array([1, -1, 1], dtype=np.float32)  # the sensor's own frame is left-handed, too


@dataclass(frozen=True, slots=True)
class CarlaReader:
    """CARLA's source of a modality.

    Attributes:
        blueprint: blueprint of the sensor.
        attributes: parameters -> attributes of the blueprint.
        fault: (measurement, parameters, sensor state) -> difference from the requested measurement; "" without one.
        read: (measurement or its copy) -> the array of the modality; for a mask its runs and tags.
        optional: parameters -> attributes that only some versions have.
        copy: (measurement, (256,) bool labelled tags) -> a replacement, made in libcarla's thread. The memory of a released
            measurement is reused for the sensor's next one; for each one that is held libcarla allocates more, permanently.
    """

    blueprint: str
    attributes: Callable[[Any], Mapping[str, float]]
    fault: Callable[[Any, Any, Memory], str]
    read: Callable[[Any], Any]
    optional: Callable[[Any], Mapping[str, str]] = lambda _: {}
    copy: Callable[[Any, BoolArray], Any] = lambda measurement, _: measurement


@dataclass(frozen=True, slots=True, eq=False)
class _Mask:
    """An instance image reduced to its runs and tags, and the attributes that are verified."""

    frame: int
    timestamp: float
    transform: carla.Transform
    width: int
    height: int
    fov: float
    parts: tuple[Runs, UInt8Array]


def _mask(image: carla.Image, labelled: BoolArray) -> _Mask:
    parts = mask_pixels.split(bgra(image), labelled)
    return _Mask(image.frame, image.timestamp, image.transform, image.width, image.height, image.fov, parts)


def bgra(image: carla.Image) -> AnyArray:
    """Return a view of a CARLA image as (H, W, 4) uint8, blue first."""
    return np.frombuffer(image.raw_data, dtype=np.uint8).reshape(image.height, image.width, 4)


def _camera_attributes(camera: CameraParams) -> dict[str, float]:
    camera = camera.rendered
    return {
        "image_size_x": camera.width_px,
        "image_size_y": camera.height_px,
        "fov": camera.fov_deg,
        "sensor_tick": 0.0,
    }


def _other_image(image: carla.Image, camera: CameraParams, _: Memory) -> str:
    camera = camera.rendered
    if (image.width, image.height) != (camera.width_px, camera.height_px) or abs(image.fov - camera.fov_deg) > 1e-3:
        return f"came as {image.width}x{image.height} fov {image.fov}"
    return ""


def camera_reader(blueprint: str, read: Callable[[Any], AnyArray], **optional: str) -> CarlaReader:
    """Return the reader of a camera's modality; ``optional`` are attributes that only some versions have."""
    return CarlaReader(blueprint, _camera_attributes, _other_image, read, lambda _: optional)


def _exposure(camera: CameraParams) -> dict[str, str]:
    """Source: CARLA's ref_sensors.md, "Advanced camera attributes"."""
    exposure = camera.exposure
    numbers = {"exposure_compensation": exposure.compensation}
    if exposure.mode == "histogram":
        numbers |= {"exposure_speed_up": exposure.speed, "exposure_speed_down": exposure.speed}
    else:
        numbers |= {"shutter_speed": exposure.shutter_speed, "iso": exposure.iso, "fstop": exposure.fstop}
    return {"exposure_mode": exposure.mode, **{name: str(value) for name, value in numbers.items()}}


def _depth_m(image: carla.Image) -> AnyArray:
    code = bgra(image)
    number = code[..., 2].astype(np.float32) + code[..., 1] * np.float32(256) + code[..., 0] * np.float32(65536)
    return number * np.float32(_DEPTH_RANGE_M / (2**24 - 1))


def _flow_px(image: carla.OpticalFlowImage) -> AnyArray:
    """Convert Unreal's velocity buffer, (H, W, 2) in clip space (-1 to 1, right and up, clipped at +-2), to pixels."""
    clip = np.frombuffer(image.raw_data, dtype=np.float32).reshape(image.height, image.width, 2)
    return clip * np.array([image.width / 2, -image.height / 2], dtype=np.float32)


def _events(measurement: carla.DVSEventArray) -> AnyArray:
    """Convert events; CARLA's times are since the server's start, ours relative to the image's timestamp."""
    raw = np.frombuffer(measurement.raw_data, dtype=_EVENT)
    changes = np.empty(len(raw), dtype=events.EVENT)
    changes["x"], changes["y"], changes["p"] = raw["x"], raw["y"], raw["brighter"]
    changes["t_ns"] = raw["elapsed_ns"] - round(measurement.timestamp * 1e9)
    return changes


def _lidar_attributes(lidar: LidarParams) -> dict[str, float]:
    return {
        "channels": lidar.channels,
        "range": lidar.range_m,
        "points_per_second": lidar.points_per_second,
        "rotation_frequency": lidar.rotation_hz,
        "upper_fov": lidar.upper_fov_deg,
        "lower_fov": lidar.lower_fov_deg,
        "horizontal_fov": 360.0,
        "sensor_tick": 0.0,
    }


def _other_turn(measurement: carla.SemanticLidarMeasurement, lidar: LidarParams, memory: Memory) -> str:
    """Compare the head's angle with that of the first scan: each scan is a whole turn."""
    if int(measurement.channels) != lidar.channels:
        return f"has {measurement.channels} beams, not {lidar.channels}"
    angle_rad = float(measurement.horizontal_angle)
    turned_rad = math.remainder(angle_rad - memory.setdefault("first_angle_rad", angle_rad), math.tau)
    if abs(turned_rad) > _TURN_TOLERANCE_RAD:
        return f"is {math.degrees(turned_rad):.1f} degrees off a whole number of turns since its first scan"
    return ""


def _returns(measurement: carla.SemanticLidarMeasurement) -> Returns:
    """Convert a ``SemanticLidarMeasurement``; its points are sorted by beam, the highest first.

    A semantic lidar measures no intensity; the cosine of the angle of incidence replaces it.
    """
    raw = np.frombuffer(measurement.raw_data, dtype=_SEMANTIC_POINT)
    channels = int(measurement.channels)
    counts = [int(measurement.get_point_count(channel)) for channel in range(channels)]
    if sum(counts) != len(raw):
        raise MissedTick(f"a lidar's beams have {sum(counts)} points, the measurement {len(raw)}")
    returns = np.zeros(len(raw), dtype=points.RETURN)
    returns["flu_m"] = raw["ue_m"] * _FLU_FROM_UE
    returns["intensity"] = 255 * np.abs(raw["cosine"])
    returns["ring"] = np.repeat(np.arange(channels)[::-1], counts)
    returns["actor"], returns["tag"] = raw["actor"], raw["tag"]
    return returns


RGB: Final = replace(
    camera_reader("sensor.camera.rgb", bgra),
    optional=lambda camera: {"motion_blur_intensity": "0.0", **_exposure(camera)},  # cameras jump
)
INSTANCE: Final = CarlaReader(
    "sensor.camera.instance_segmentation", _camera_attributes, _other_image, lambda mask: mask.parts, copy=_mask
)
DEPTH: Final = camera_reader("sensor.camera.depth", _depth_m)
SEMANTIC: Final = camera_reader("sensor.camera.semantic_segmentation", lambda image: bgra(image)[..., 2])
OPTICAL_FLOW: Final = camera_reader("sensor.camera.optical_flow", _flow_px)
EVENTS: Final = replace(camera_reader("sensor.camera.dvs", _events), optional=_exposure)
LIDAR: Final = CarlaReader("sensor.lidar.ray_cast_semantic", _lidar_attributes, _other_turn, _returns)
