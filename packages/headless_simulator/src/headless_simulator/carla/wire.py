"""Wire layouts of CARLA: msgpack response wrappers and packed stream structs.

Source: the debug information of the 0.9.16 wheel's shared library, and the behaviour of its client.

Response of a value is ``[[1, value]]``, of an error ``[[0, [text]]]``; a call without a value answers ``[[false]]`` or
``[[true, [text]]]``. Streams are little-endian and packed.
"""

import socket
import struct
from typing import Any, Final

import numpy as np

SENSOR_TYPE: Final[dict[str, int]] = {  # index in the client's compiled sensor registry
    "sensor.other.collision": 0, "sensor.camera.depth": 1, "sensor.camera.normals": 2, "sensor.camera.dvs": 3,
    "sensor.other.gnss": 4, "sensor.other.imu": 5, "sensor.other.lane_invasion": 6, "sensor.other.obstacle": 7,
    "sensor.camera.optical_flow": 8, "sensor.other.radar": 9, "sensor.lidar.ray_cast_semantic": 10,
    "sensor.lidar.ray_cast": 11, "sensor.other.rss": 12, "sensor.camera.rgb": 13,
    "sensor.camera.semantic_segmentation": 14, "sensor.camera.instance_segmentation": 15,
    "sensor.camera.cosmos_visualization": 16, "sensor.other.v2x": 20, "sensor.other.v2x_custom": 21,
}  # fmt: skip

TOKEN: Final = struct.Struct("<IHBB16s")  # stream id, port, 1 = TCP, 1 = IPv4, address
SENSOR_HEADER: Final = struct.Struct("<QQd6f")  # type, frame, timestamp, x y z pitch yaw roll
IMAGE_HEADER: Final = struct.Struct("<IIf")  # width, height, field of view
EPISODE_HEADER: Final = struct.Struct("<Qdf3iI")  # episode, platform time, delta, map origin, flags
MAP_CHANGE: Final = 1

ACTOR_STATE: Final = np.dtype(
    [
        ("id", "<u4"), ("state", "u1"), ("transform", "<f4", 6), ("velocity", "<f4", 3), ("angular", "<f4", 3),
        ("acceleration", "<f4", 3), ("data", "V54"),
    ]
)  # fmt: skip
VEHICLE_DATA: Final = np.dtype(
    [
        ("control", "<f4", 3), ("hand_brake", "u1"), ("reverse", "u1"), ("manual", "u1"), ("gear", "<i4"),
        ("limit", "<f4"), ("tl_state", "u1"), ("has_tl", "u1"), ("tl_id", "<u4"), ("failure", "u1"), ("", "V24"),
    ]
)  # fmt: skip
LIGHT_DATA: Final = np.dtype(
    [
        ("sign_id", "S32"), ("green", "<f4"), ("yellow", "<f4"), ("red", "<f4"), ("elapsed", "<f4"), ("pole", "<u4"),
        ("frozen", "u1"), ("state", "u1"),
    ]
)  # fmt: skip
WALKER_DATA: Final = np.dtype([("direction", "<f4", 3), ("speed", "<f4"), ("jump", "u1"), ("", "V37")])
SIGN_DATA: Final = np.dtype([("sign_id", "S32"), ("", "V22")])

VOID_OK: Final = [[False]]


def ok(value: Any) -> list[Any]:
    """Wrap a value as ``Response<T>``."""
    return [[1, value]]


def error(text: str) -> list[Any]:
    """Wrap an error as ``Response<T>``."""
    return [[0, [text]]]


def void_error(text: str) -> list[Any]:
    """Wrap an error as ``Response<void>``."""
    return [[True, [text]]]


def token(stream_id: int, port: int, host: str) -> bytes:
    """Pack a stream's address as a token."""
    return TOKEN.pack(stream_id, port, 1, 1, socket.inet_aton(host))
