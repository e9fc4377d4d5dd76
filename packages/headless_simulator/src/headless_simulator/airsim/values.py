"""Validation of AirSim clients' arguments before a method runs."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeAlias

from headless_simulator.airsim.drone import YawMode
from headless_simulator.airsim.geo import Geo
from headless_simulator.airsim.ned import Quat, Vec3
from headless_simulator.airsim.settings import IMAGE_TYPE_COUNT
from headless_simulator.errors import BadArgument
from headless_simulator.rpc.arguments import Reads, array, array_of, flag, integer, number, short_repr

MOST_POINTS: Final = 100_000
FORWARD_ONLY: Final = 1  # DrivetrainType


def vector_of(value: Any, name: str) -> Vec3:
    """Read a Vector3r; its parts may be NaN."""
    x, y, z = _numbers(value, ("x_val", "y_val", "z_val"), type_name="Vector3r", name=name)
    return x, y, z


def quat_of(value: Any, name: str) -> Quat:
    """Read a Quaternionr; its parts may be NaN."""
    w, x, y, z = _numbers(value, ("w_val", "x_val", "y_val", "z_val"), type_name="Quaternionr", name=name)
    return w, x, y, z


def pose_of(value: Any, name: str) -> tuple[Vec3, Quat]:
    """Read a Pose; its parts may be NaN."""
    _map(value, ("position", "orientation"), type_name="Pose", name=name)
    return vector_of(value["position"], name), quat_of(value["orientation"], name)


def finite_pose(value: Any, name: str) -> tuple[Vec3, Quat]:
    """Read a Pose of finite parts."""
    position, quat = pose_of(value, name)
    if not all(map(math.isfinite, (*position, *quat))):
        raise BadArgument(f"{name}: a Pose must have finite numbers")
    return position, quat


def yaw_mode(value: Any, name: str) -> YawMode:
    """Read a YawMode."""
    _map(value, ("is_rate", "yaw_or_rate"), type_name="YawMode", name=name)
    return YawMode(is_rate=flag(value["is_rate"], "is_rate"), degrees=number(value["yaw_or_rate"], "yaw_or_rate"))


def forward_only(value: Any, name: str) -> bool:
    """Read a DrivetrainType; True if the vehicle faces the direction of travel."""
    return integer(value, name) == FORWARD_ONLY


def rc_data(value: Any, name: str) -> dict[str, Any]:
    """Read RCData: the four sticks and their validity."""
    _map(value, (), type_name="RCData", name=name)
    sticks: dict[str, Any] = {key: number(value.get(key, 0.0), key) for key in ("roll", "pitch", "throttle", "yaw")}
    counts = {key: integer(value.get(key, 0), key) for key in ("timestamp", "switches")}
    return {**sticks, **counts, "is_valid": bool(value.get("is_valid", False))}


def geo_point(value: Any, name: str) -> Geo:
    """Read a GeoPoint of finite parts."""
    keys = ("latitude", "longitude", "altitude")
    latitude, longitude, altitude = _numbers(value, keys, type_name="GeoPoint", name=name)
    if not all(map(math.isfinite, (latitude, longitude, altitude))):
        raise BadArgument(f"{name}: a GeoPoint must be finite")
    return latitude, longitude, altitude


def image_type(value: Any, name: str) -> int:
    """Read the number of an image type."""
    kind = integer(value, name)
    if not 0 <= kind < IMAGE_TYPE_COUNT:
        hint = ": 10 (Lighting) and 11 (Annotation) are Cosys-AirSim's own" if kind in (10, 11) else ""
        raise BadArgument(f"{name} {kind} must be from 0 to {IMAGE_TYPE_COUNT - 1}{hint}")
    return kind


def camera_name(value: Any, name: str) -> str:
    """Read a camera name; old clients send a number."""
    if not isinstance(value, str | int):
        raise BadArgument(f"{name} must be a camera's name or number, not {short_repr(value)}")
    return str(value)


def gains(value: Any, name: str) -> list[float]:
    """Read the gains of three axes."""
    rows = array(value, name)
    if len(rows) != 3:
        raise BadArgument(f"{name} must be a list of three gains, not of {len(rows)}")
    return [number(row, name) for row in rows]


def _map(value: Any, keys: tuple[str, ...], *, type_name: str, name: str) -> None:
    if not isinstance(value, Mapping) or not set(keys) <= value.keys():
        raise BadArgument(f"{name}: expected a {type_name}: a map with {', '.join(keys)}")


def _numbers(value: Any, keys: tuple[str, ...], *, type_name: str, name: str) -> tuple[float, ...]:
    if not isinstance(value, Mapping):
        raise BadArgument(f"{name}: expected a {type_name}: a map with {', '.join(keys)}")
    missing = [key for key in keys if not isinstance(value.get(key), int | float)]
    if missing:
        raise BadArgument(f"{name}: expected a {type_name}: {missing[0]} is missing or not a number")
    try:
        return tuple(float(value[key]) for key in keys)
    except OverflowError:
        raise BadArgument(f"{name}: a {type_name} has a number that is too large") from None


Vector3r: TypeAlias = Annotated[Vec3, Reads(vector_of)]
Pose: TypeAlias = Annotated[tuple[Vec3, Quat], Reads(pose_of)]
FinitePose: TypeAlias = Annotated[tuple[Vec3, Quat], Reads(finite_pose)]
Drivetrain: TypeAlias = Annotated[bool, Reads(forward_only)]
RcData: TypeAlias = Annotated[dict[str, Any], Reads(rc_data)]
Yaw: TypeAlias = Annotated[YawMode, Reads(yaw_mode)]
GeoPoint: TypeAlias = Annotated[Geo, Reads(geo_point)]
Points: TypeAlias = Annotated[list[Vec3], Reads(array_of(vector_of, most=MOST_POINTS))]
ImageType: TypeAlias = Annotated[int, Reads(image_type)]
CameraName: TypeAlias = Annotated[str, Reads(camera_name)]
Gains: TypeAlias = Annotated[list[float], Reads(gains)]
