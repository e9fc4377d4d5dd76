"""The binary layout of a recording: little-endian, strings with a 16-bit length, packets of (id, size, data).

A file is a header, then frames; a frame is packets between a FRAME_START and a FRAME_END. Lengths in the file are in
centimetres and rotations are (roll, pitch, yaw) in degrees, as in Unreal; velocities are in m/s and deg/s.

Source: CARLA's documentation (``ref_recorder_binary_file_format``) and files of its recorder.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from headless_simulator.scene import Float64

MAGIC: Final = "CARLA_RECORDER"
VERSION: Final = 2  # types of attributes count from 1; they counted from 0 in version 1

FRAME_START: Final = 0
FRAME_END: Final = 1
EVENT_ADD: Final = 2
EVENT_DEL: Final = 3
EVENT_PARENT: Final = 4
COLLISION: Final = 5
POSITION: Final = 6
STATE: Final = 7
ANIM_VEHICLE: Final = 8
ANIM_WALKER: Final = 9
VEHICLE_LIGHT: Final = 10
KINEMATICS: Final = 12
BOUNDING_BOX: Final = 13
PLATFORM_TIME: Final = 14
PHYSICS_CONTROL: Final = 15
TRAFFIC_LIGHT_TIME: Final = 16
TRIGGER_VOLUME: Final = 17
VISUAL_TIME: Final = 20

OTHER_ACTOR: Final = 0
VEHICLE_ACTOR: Final = 1
WALKER_ACTOR: Final = 2
LIGHT_ACTOR: Final = 3
SIGN_ACTOR: Final = 4
SENSOR_ACTOR: Final = 5
NO_ACTOR: Final = 0xFFFFFFFF  # the other side of a collision with a part of the town

PACKET: Final = struct.Struct("<BI")  # id, size of the data
FRAME: Final = struct.Struct("<Qdd")  # number, seconds to the next frame, seconds since the first
SECONDS: Final = struct.Struct("<d")
_COUNT: Final = struct.Struct("<H")
_LONG_COUNT: Final = struct.Struct("<I")
_ADD_HEAD: Final = struct.Struct("<IB6fI")
_ENGINE: Final = struct.Struct("<5f?4f3f")
UNKNOWN_DURATION_S: Final = -1.0  # of the last frame

POSITION_ROW: Final = np.dtype([("id", "<u4"), ("location", "<f4", 3), ("rotation", "<f4", 3)])
STATE_ROW: Final = np.dtype([("id", "<u4"), ("frozen", "u1"), ("elapsed", "<f4"), ("state", "u1")])
VEHICLE_ROW: Final = np.dtype(
    [("id", "<u4"), ("steer", "<f4"), ("throttle", "<f4"), ("brake", "<f4"), ("hand_brake", "u1"), ("gear", "<i4")]
)
WALKER_ROW: Final = np.dtype([("id", "<u4"), ("speed", "<f4")])
LIGHT_ROW: Final = np.dtype([("id", "<u4"), ("lights", "<u4")])
KINEMATICS_ROW: Final = np.dtype([("id", "<u4"), ("velocity", "<f4", 3), ("angular", "<f4", 3)])
BOX_ROW: Final = np.dtype([("id", "<u4"), ("centre", "<f4", 3), ("half", "<f4", 3)])
TIMES_ROW: Final = np.dtype([("id", "<u4"), ("green", "<f4"), ("yellow", "<f4"), ("red", "<f4")])
COLLISION_ROW: Final = np.dtype([("number", "<u4"), ("a", "<u4"), ("b", "<u4"), ("hero_a", "u1"), ("hero_b", "u1")])
PARENT_ROW: Final = np.dtype([("child", "<u4"), ("parent", "<u4")])
DEL_ROW: Final = np.dtype([("id", "<u4")])

Table = npt.NDArray[np.void]
LARGEST_TABLE: Final = 65_535
_LONGEST_TEXT: Final = 65_535
_LARGEST_SINGLE: Final = 3e38
_CM: Final = 100.0


class Damaged(Exception):
    """A recording with an invalid layout; the message has the position."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file.

    Attributes:
        version: layout version.
        date_s: start of the recording, seconds since 1970.
        town: map name.
    """

    version: int
    date_s: int
    town: str

    def pack(self) -> bytes:
        """Encode the file format."""
        return struct.pack("<H", self.version) + _text(MAGIC) + struct.pack("<q", self.date_s) + _text(self.town)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A recorded spawn.

    Attributes:
        actor_id: recorded actor id.
        kind: OTHER_ACTOR to SENSOR_ACTOR.
        location_cm, euler_deg: (x, y, z) and (roll, pitch, yaw) in the world; for an attached actor in its parent's frame.
        uid, blueprint: blueprint number and id.
        attributes: (type, name, value).
    """

    actor_id: int
    kind: int
    location_cm: tuple[float, float, float]
    euler_deg: tuple[float, float, float]
    uid: int
    blueprint: str
    attributes: tuple[tuple[int, str, str], ...] = ()

    def pack(self) -> bytes:
        """Encode the file format."""
        head = _ADD_HEAD.pack(self.actor_id, self.kind, *self.location_cm, *self.euler_deg, self.uid)
        rows = self.attributes[:LARGEST_TABLE]
        attributes = b"".join(bytes([kind]) + _text(name) + _text(value) for kind, name, value in rows)
        return head + _text(self.blueprint) + _COUNT.pack(len(rows)) + attributes


@dataclass(frozen=True, slots=True)
class PhysicsControl:
    """A vehicle's engine and wheels, in file order.

    Attributes:
        actor_id: the vehicle's id.
        engine: max rpm, moment of inertia, three damping rates, auto box, clutch, final ratio, mass, drag, centre of mass.
        torque, gears, steering, wheels: (N, 2), (N, 3), (N, 2) and (N, 12).
    """

    actor_id: int
    engine: tuple[Any, ...]
    torque: npt.NDArray[np.float32]
    gears: npt.NDArray[np.float32]
    steering: npt.NDArray[np.float32]
    wheels: npt.NDArray[np.float32]

    def pack(self) -> bytes:
        """Encode the file format."""
        parts = [_LONG_COUNT.pack(self.actor_id), _ENGINE.pack(*self.engine)]
        for rows in (self.torque, self.gears, self.steering, self.wheels):
            parts += [_LONG_COUNT.pack(len(rows)), rows.astype("<f4").tobytes()]
        return b"".join(parts)


class Cursor:
    """Sequential reader of a packet.

    Args:
        data: the packet's data.
        packet_name: packet name in messages of ``Damaged``.

    Attributes:
        offset: number of bytes read.
    """

    def __init__(self, data: bytes, packet_name: str) -> None:
        self._data, self._packet_name, self.offset = data, packet_name, 0

    def take(self, size: int) -> bytes:
        """Return the next bytes.

        Raises:
            Damaged: fewer bytes are left.
        """
        part = self._data[self.offset : self.offset + size]
        if len(part) < size:
            raise Damaged(f"{self._packet_name} ends in the middle of a record")
        self.offset += size
        return part

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        """Read one record."""
        return layout.unpack(self.take(layout.size))

    def text(self) -> str:
        """Read a string."""
        (length,) = self.unpack(_COUNT)
        return self.take(length).decode("utf-8", "replace")

    def count(self) -> int:
        """Read the number of following records."""
        return int(self.unpack(_COUNT)[0])

    def floats(self, columns: int) -> npt.NDArray[np.float32]:
        """Read a counted (N, columns) float32 array."""
        (length,) = self.unpack(_LONG_COUNT)
        return np.frombuffer(self.take(4 * columns * length), "<f4").reshape(-1, columns)


def packet(number: int, data: bytes = b"") -> bytes:
    """Prepend the packet header to a packet's data."""
    return PACKET.pack(number, len(data)) + data


def counted(number: int, records: Sequence[bytes]) -> bytes:
    """Pack a packet of records of any length."""
    records = records[:LARGEST_TABLE]
    return packet(number, _COUNT.pack(len(records)) + b"".join(records))


def table(number: int, rows: Table) -> bytes:
    """Pack a packet of (N,) records of one length."""
    rows = rows[:LARGEST_TABLE]
    return packet(number, _COUNT.pack(len(rows)) + rows.tobytes())


def rows_of(data: bytes, dtype: np.dtype[np.void], packet_name: str) -> Table:
    """Read the (N,) records of one length of a packet.

    CARLA writes a box with centre nan and half extents -inf for actors without bounds: the spectator and sensors.

    Raises:
        Damaged: the packet is too short, or a number outside boxes is not finite.
    """
    cursor = Cursor(data, packet_name)
    rows = np.frombuffer(cursor.take(cursor.count() * dtype.itemsize), dtype)
    for name in dtype.names or ():
        if dtype != BOX_ROW and dtype[name].base.kind == "f" and not np.isfinite(rows[name]).all():
            raise Damaged(f"{packet_name} contains a number that is not finite")
    return rows


def arrivals(data: bytes) -> list[Arrival]:
    """Read an EVENT_ADD packet.

    Raises:
        Damaged: the packet is too short, or a pose in it is not finite.
    """
    cursor = Cursor(data, "an event-add packet")
    found = []
    for _ in range(cursor.count()):
        actor_id, kind, *pose, uid = cursor.unpack(_ADD_HEAD)
        if not np.isfinite(pose).all():
            raise Damaged(f"actor {actor_id} is spawned at a pose that is not finite")
        blueprint = cursor.text()
        rows = tuple((cursor.take(1)[0], cursor.text(), cursor.text()) for _ in range(cursor.count()))
        found.append(Arrival(actor_id, kind, _three(pose[:3]), _three(pose[3:]), uid, blueprint, rows))
    return found


def physics_controls(data: bytes) -> list[PhysicsControl]:
    """Read a PHYSICS_CONTROL packet.

    Raises:
        Damaged: the packet is too short.
    """
    cursor = Cursor(data, "a physics-control packet")
    found = []
    for _ in range(cursor.count()):
        (actor_id,) = cursor.unpack(_LONG_COUNT)
        engine = cursor.unpack(_ENGINE)
        curves = [cursor.floats(columns) for columns in (2, 3, 2, 12)]
        found.append(PhysicsControl(actor_id, engine, *curves))
    return found


def single(values: npt.ArrayLike) -> Float64:
    """Clip values, which clients may have set, to the range of float32."""
    bounded: Float64 = np.clip(np.asarray(values, np.float64), -_LARGEST_SINGLE, _LARGEST_SINGLE)
    return bounded


def location_cm(pose: Float64) -> Float64:
    """Return (N, 3) locations, centimetres, of (N, 6) poses in metres and degrees."""
    centimetres: Float64 = _CM * pose[..., :3]
    return centimetres


def euler_deg(pose: Float64) -> Float64:
    """Return (N, 3) roll, pitch, yaw, degrees, of (N, 6) poses with pitch, yaw, roll."""
    return pose[..., [5, 3, 4]]


def poses(location: npt.ArrayLike, euler: npt.ArrayLike) -> Float64:
    """Return (N, 6) poses, metres and degrees, of (N, 3) locations in cm and (N, 3) roll, pitch, yaw of the file."""
    roll_pitch_yaw = np.asarray(euler, np.float64)
    return np.concatenate([np.asarray(location, np.float64) / _CM, roll_pitch_yaw[..., [1, 2, 0]]], axis=-1)


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = values
    return float(x), float(y), float(z)


def _text(value: str) -> bytes:
    encoded = value.encode("utf-8", "surrogateescape")[:_LONGEST_TEXT]
    return _COUNT.pack(len(encoded)) + encoded
