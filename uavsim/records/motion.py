"""The motion of all actors of a scene, tick by tick, for replays; with a packed form for the disk.

Poses are the simulator's float32 values, with which a replay gives the same images. A packed value is the difference from the
previous tick (for poses, from the extrapolation of the two previous ticks), byte by byte, then compressed: standing actors
take almost no space.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.deflate import deflated
from uavsim.geometry.se3 import SE3
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["MotionLog", "SceneMotion", "TickMotion"]

CONTROLS: Final = 5
"""Throttle, steer, brake, hand brake, gear (negative: backwards) of a vehicle; speed and four zeros of a walker."""
_MOST_BYTES: Final = 1 << 31


@dataclass(frozen=True, slots=True, eq=False)
class TickMotion:
    """The simulator's report of its actors at one tick.

    Attributes:
        instance_id: (N,) of the living actors, increasing.
        ue_pose: (N, 6) float32: x, y, z, roll, pitch, yaw, metres and degrees in the simulator's frame.
        control: (N, 5) see ``CONTROLS``.
        lights: (N,) bits of CARLA's ``VehicleLightState``; 0 for walkers.
        is_held: (N,) bool, a red or yellow traffic light holds the actor.
        signal_id: (S,) ids of traffic lights in the OpenDRIVE file.
        signals: (S,) states, CARLA's numbers: 0 red, 1 yellow, 2 green, 3 off, 4 unknown.
    """

    instance_id: IntArray
    ue_pose: AnyArray
    control: FloatArray
    lights: IntArray
    is_held: BoolArray
    signal_id: tuple[str, ...]
    signals: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class SceneMotion:
    """T ticks of N actors, S traffic lights and D drones, without the parked vehicles of the town.

    Attributes:
        step: (T,) plan steps, increasing.
        instance_id: (N,) increasing; every actor that was alive at one of these ticks.
        ue_pose: (T, N, 6) float32, see ``TickMotion``; NaN for absent actors.
        control: (T, N, 5) float32.
        lights: (T, N) uint32.
        signal_id: (S,) as in ``TickMotion``.
        signals: (T, S) uint8.
        drone_id: (D,).
        map_SE3_flu: (T, D) the drones.
        velocity_map_mps: (T, D, 3) of the drones.
    """

    step: IntArray
    instance_id: IntArray
    ue_pose: AnyArray
    control: AnyArray
    lights: AnyArray
    signal_id: tuple[str, ...]
    signals: AnyArray
    drone_id: tuple[int, ...]
    map_SE3_flu: SE3
    velocity_map_mps: FloatArray

    def row_of(self, step: int) -> int:
        """Return the row of a step, or of the next recorded step; beyond the end, the last row."""
        return min(int(np.searchsorted(self.step, step)), len(self.step) - 1)

    def packed(self) -> MotionLog:
        """Return the packed form; equal motions give equal bytes."""
        poses = np.concatenate([self.map_SE3_flu.quat_wxyz, self.map_SE3_flu.translation_m], axis=-1)
        columns = {
            "ue_pose": self.ue_pose,
            "control": self.control,
            "lights": self.lights,
            "signals": self.signals,
            "drone_pose": poses,
            "drone_velocity": self.velocity_map_mps,
        }
        return MotionLog(
            self.step.astype(np.int64),
            self.instance_id.astype(np.int64),
            self.signal_id,
            self.drone_id,
            {name: _squeezed(columns[name].astype(_TYPES[name]), _ORDERS[name]) for name in _TYPES},
        )


@dataclass(frozen=True, slots=True, eq=False)
class MotionLog:
    """The packed form of ``SceneMotion``, with one compressed array per column."""

    step: IntArray
    instance_id: IntArray
    signal_id: tuple[str, ...]
    drone_id: tuple[int, ...]
    columns: Mapping[str, bytes]

    @property
    def size_bytes(self) -> int:
        """Size of the compressed arrays."""
        return sum(map(len, self.columns.values()))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        ticks, actors, drones = len(self.step), len(self.instance_id), len(self.drone_id)
        if not ticks:
            raise ValueError("it has no ticks")
        return {
            "ue_pose": (ticks, actors, 6),
            "control": (ticks, actors, CONTROLS),
            "lights": (ticks, actors),
            "signals": (ticks, len(self.signal_id)),
            "drone_pose": (ticks, drones, 7),
            "drone_velocity": (ticks, drones, 3),
        }

    def open(self) -> SceneMotion:
        """Unpack the motion.

        Raises:
            DatasetError: the data are damaged.
        """
        try:
            data = {
                name: _restored(self.columns[name], np.dtype(_TYPES[name]), shape, _ORDERS[name])
                for name, shape in self._shapes().items()
            }
        except (zlib.error, ValueError, KeyError, TypeError) as error:
            raise DatasetError(f"the motion of a recording is damaged ({type(error).__name__}: {error})") from error
        return SceneMotion(
            step=self.step,
            instance_id=self.instance_id,
            ue_pose=data["ue_pose"],
            control=data["control"],
            lights=data["lights"],
            signal_id=self.signal_id,
            signals=data["signals"],
            drone_id=self.drone_id,
            map_SE3_flu=SE3(data["drone_pose"][..., :4], data["drone_pose"][..., 4:]),
            velocity_map_mps=data["drone_velocity"],
        )


_TYPES: Final = {
    "ue_pose": "<f4",
    "control": "<f4",
    "lights": "<u4",
    "signals": "u1",
    "drone_pose": "<f8",
    "drone_velocity": "<f8",
}
_ORDERS: Final = {name: 2 if name == "ue_pose" else 1 for name in _TYPES}
"""Order of the prediction: 1, the previous tick; 2, the extrapolation of the two previous ticks."""


def _squeezed(values: AnyArray, order: int) -> bytes:
    """Compress (T, ...) values: differences of their bits along time, ordered by significance of the bytes."""
    wide = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"<u{wide}").reshape(len(values), -1)
    for _ in range(order):
        bits = np.diff(bits, axis=0, prepend=np.zeros((1, bits.shape[1]), bits.dtype))
    planes = np.ascontiguousarray(bits.T).view(np.uint8).reshape(-1, wide).T
    return deflated([np.ascontiguousarray(planes).tobytes()])


def _restored(data: bytes, kind: np.dtype[np.generic], shape: tuple[int, ...], order: int) -> AnyArray:
    """Invert ``_squeezed``.

    Raises:
        ValueError: the number of values is wrong.
    """
    wide, ticks = kind.itemsize, shape[0]
    count = int(np.prod(shape))
    if count * wide > _MOST_BYTES:
        raise ValueError(f"{count} values are too many")
    raw = zlib.decompressobj().decompress(data, count * wide + 1)
    if len(raw) != count * wide:
        raise ValueError(f"{len(raw)} bytes, not {count * wide}")
    planes = np.frombuffer(raw, np.uint8).reshape(wide, -1)
    bits = np.ascontiguousarray(planes.T).view(f"<u{wide}").reshape(-1, ticks).T if count else np.zeros(shape, kind)
    for _ in range(order if count else 0):
        bits = np.cumsum(bits, axis=0, dtype=bits.dtype)
    return np.ascontiguousarray(bits).view(kind).reshape(shape)
