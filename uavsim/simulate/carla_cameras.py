"""CARLA cameras, spawned once and moved (a ``CameraPort``).

Creating and destroying thousands of cameras crashes CARLA servers, so the rig's cameras live as long as the town. Each
image is held against the tick and the pose that were asked for before anybody sees its pixels.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from uavsim.errors import MissedTick
from uavsim.geometry import unreal
from uavsim.records.plan import CameraSpec, ScenePlan, SensorKind
from uavsim.simulate.carla_world import CarlaWorld
from uavsim.simulate.ports import CameraPose, RawImage, SceneTraffic, TickState

__all__ = ["CarlaCameras"]

_LOCATION_TOLERANCE_M = 2e-3
_ANGLE_TOLERANCE_RAD = 1e-3
_DEPTH_RANGE_M = 1000.0  # CARLA's 24-bit depth covers 0..1000 m
_ORDER: tuple[SensorKind, ...] = ("rgb", "instance", "depth")


class CarlaCameras:
    """The rig's cameras on every drone."""

    def __init__(self, world: CarlaWorld, *, deadline_s: float = 30.0) -> None:
        """Use ``world`` to spawn and move; a tick's images must all be here within ``deadline_s``."""
        self._world = world
        self._deadline_s = deadline_s
        self._built_for: object = None
        self._actors: list[Any] = []
        self._keys: list[tuple[str, SensorKind]] = []
        self._specs: list[CameraSpec] = []
        self._arrived: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._poses: list[CameraPose] = []

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """See ``CameraPort``."""
        del traffic
        wanted = (self._world.generation, plan.rig, plan.swarm.drone_ids)
        if wanted == self._built_for:
            return
        if self._actors and isinstance(self._built_for, tuple) and self._built_for[0] == self._world.generation:
            self._world.destroy(self._actors)
        self._actors, self._keys, self._specs = [], [], []
        self._arrived = queue.SimpleQueue()
        for drone_id in plan.swarm.drone_ids:
            for spec in plan.rig:
                for sensor in (s for s in _ORDER if s in spec.sensors):
                    self._spawn(plan.channel(camera=spec.name, drone_id=drone_id), spec, sensor)
        self._built_for = wanted

    def _spawn(self, channel: str, spec: CameraSpec, sensor: SensorKind) -> None:
        index, arrived = len(self._actors), self._arrived
        self._actors.append(self._world.spawn_camera(spec, sensor, lambda image: arrived.put((index, image))))
        self._keys.append((channel, sensor))
        self._specs.append(spec)

    def place(self, poses: Sequence[CameraPose]) -> None:
        """See ``CameraPort``."""
        by_channel = {pose.channel: pose for pose in poses}
        self._poses = [by_channel[channel] for channel, _ in self._keys]
        self._world.move(
            [actor.id for actor in self._actors],
            np.stack([pose.ue_location_m for pose in self._poses]),
            np.array([pose.ue_euler_deg for pose in self._poses]),
        )

    def collect(self, state: TickState) -> list[RawImage]:
        """See ``CameraPort``."""
        images: list[Any] = [None] * len(self._actors)
        missing = len(images)
        give_up = time.monotonic() + self._deadline_s
        while missing:
            try:
                index, image = self._arrived.get(timeout=max(0.0, give_up - time.monotonic()))
            except queue.Empty:
                late = next(i for i, image in enumerate(images) if image is None)
                raise MissedTick(
                    f"tick {state.frame}: {missing} of {len(images)} images did not come within {self._deadline_s:g} s, "
                    f"first {self._keys[late][0]} {self._keys[late][1]}"
                ) from None
            if image.frame > state.frame:
                raise MissedTick(f"tick {state.frame}: {self._keys[index][0]} sent an image of tick {image.frame}")
            if image.frame == state.frame and images[index] is None:  # an older one came late, a second one is a copy
                images[index] = image
                missing -= 1
        self._check(images, state)
        return [self._raw(index, image) for index, image in enumerate(images)]

    def _check(self, images: Sequence[Any], state: TickState) -> None:
        """Refuse images whose pose, size or time is not the one asked for.

        Angles are compared as rotations: at pitch -90 yaw and roll are one angle told in two ways.
        """
        got = np.array([_pose_row(image) for image in images])
        asked_t = np.stack([pose.ue_location_m for pose in self._poses])
        asked_q = np.stack([pose.map_SE3_optical.quat_wxyz for pose in self._poses])
        got_q = unreal.map_q_optical_from_ue_euler(got[:, 3:6])
        off_m = np.linalg.norm(got[:, :3] - asked_t, axis=1)
        # 1 - |<p, q>| = angle^2 / 8 for small angles; NaN fails both comparisons
        off_q = 1.0 - np.abs(np.sum(asked_q * got_q, axis=1))
        good = (off_m <= _LOCATION_TOLERANCE_M) & (off_q <= _ANGLE_TOLERANCE_RAD**2 / 8)
        if not good.all():
            bad = int(np.flatnonzero(~good)[0])
            raise MissedTick(
                f"tick {state.frame}: {self._keys[bad][0]} {self._keys[bad][1]} was taken {off_m[bad]:.3f} m and "
                f"{np.degrees(np.sqrt(8 * max(off_q[bad], 0))):.3f} degrees from the pose asked for"
            )
        for (channel, sensor), spec, image in zip(self._keys, self._specs, images, strict=True):
            if (image.width, image.height) != (spec.width_px, spec.height_px) or abs(image.fov - spec.fov_deg) > 1e-3:
                raise MissedTick(
                    f"tick {state.frame}: {channel} {sensor} came as {image.width}x{image.height} fov {image.fov}"
                )
            if abs(image.timestamp - state.elapsed_s) > 1e-6:
                raise MissedTick(
                    f"tick {state.frame}: {channel} {sensor} is stamped {image.timestamp}, not {state.elapsed_s}"
                )

    def _raw(self, index: int, image: Any) -> RawImage:
        channel, sensor = self._keys[index]
        bgra = np.frombuffer(image.raw_data, dtype=np.uint8).reshape(image.height, image.width, 4)
        if sensor == "depth":
            code = bgra[..., 2].astype(np.float32) + bgra[..., 1] * np.float32(256) + bgra[..., 0] * np.float32(65536)
            return RawImage(channel, sensor, code * np.float32(_DEPTH_RANGE_M / (2**24 - 1)), image)
        return RawImage(channel, sensor, bgra, image)

    def close(self) -> None:
        """See ``CameraPort``."""
        if self._actors:
            self._world.destroy(self._actors)
        self._actors, self._keys, self._specs, self._built_for = [], [], [], None


def _pose_row(image: Any) -> tuple[float, ...]:
    p, r = image.transform.location, image.transform.rotation
    return (p.x, p.y, p.z, r.roll, r.pitch, r.yaw)
