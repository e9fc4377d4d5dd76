"""CARLA's cameras and lidars, spawned once and moved (a ``CameraPort``).

Creating and destroying thousands of cameras crashes CARLA servers, so the rig's cameras live as long as the town. Each
image is held against the tick and the pose that were asked for before anybody sees its pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uavsim.errors import MissedTick
from uavsim.geometry import unreal
from uavsim.records.modalities import LIDAR, Modality, camera_modalities, modality
from uavsim.records.plan import CameraSpec, LidarSpec, ScenePlan
from uavsim.simulate.carla.inbox import Inbox, SensorsPending
from uavsim.simulate.carla.world import CarlaWorld
from uavsim.simulate.ports import CameraPose, Reading, SceneTraffic, TickState

__all__ = ["CarlaCameras"]

_LOCATION_TOLERANCE_M = 2e-3
_ANGLE_TOLERANCE_RAD = 1e-3
_PARKED_UE_M = (8000.0, 8000.0, 3000.0)  # farther from any town than a lidar reaches
_TURN_TOLERANCE_RAD = 0.02  # float32 adds up over the ticks of a town


class CarlaCameras:
    """The rig's cameras on every drone."""

    def __init__(self, world: CarlaWorld, *, deadline_s: float = 30.0) -> None:
        """Use ``world`` to spawn and move; a tick's images must all be here within ``deadline_s``."""
        self._world = world
        self._deadline_s = deadline_s
        self._built_for: object = None
        self._actors: list[Any] = []
        self._keys: list[tuple[str, Modality]] = []
        self._specs: list[CameraSpec | LidarSpec] = []
        self._silent: set[int] = set()  # sensors that send nothing for the next image
        self._angles_rad: dict[int, float] = {}  # at which each lidar ended its first turn
        self._inbox = Inbox()  # of the tick that is captured next, or was last
        self._inbox.close()  # lidars measure at every tick, also at those that nobody reads
        self._poses: list[CameraPose] = []

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """See ``CameraPort``."""
        del traffic
        wanted = (self._world.generation, plan.rig, plan.lidar, plan.swarm.drone_ids)
        if wanted == self._built_for:
            self._renew()
            return
        if self._actors and isinstance(self._built_for, tuple) and self._built_for[0] == self._world.generation:
            self._world.destroy(self._actors)
        self._actors, self._keys, self._specs, self._angles_rad, self._silent = [], [], [], {}, set()
        for drone_id in plan.swarm.drone_ids:
            for spec in plan.rig:
                for sensor in camera_modalities(spec.sensors):
                    self._spawn(plan.channel(camera=spec.name, drone_id=drone_id), spec, sensor)
        if plan.lidar is not None:
            for drone_id in plan.swarm.drone_ids:
                self._spawn(plan.lidar_channel(drone_id), plan.lidar, modality(LIDAR))
        self._park_lidars()
        self._built_for = wanted

    def _spawn(self, channel: str, spec: CameraSpec | LidarSpec, sensor: Modality) -> None:
        index = len(self._actors)
        self._actors.append(self._sensor(index, spec, sensor))
        self._keys.append((channel, sensor))
        self._specs.append(spec)

    def _sensor(self, index: int, spec: CameraSpec | LidarSpec, sensor: Modality) -> Any:
        def on_measurement(measurement: Any) -> None:
            self._inbox.put(index, measurement)

        if sensor.remembers:
            self._silent.add(index)
        return self._world.spawn_sensor(sensor, _sensor_attributes(spec), on_measurement)

    def _renew(self) -> None:
        """Spawn sensors anew whose measurements depend on what they saw in the scene before."""
        for index, (_, sensor) in enumerate(self._keys):
            if sensor.remembers:
                self._world.destroy([self._actors[index]])
                self._actors[index] = self._sensor(index, self._specs[index], sensor)

    def place(self, poses: Sequence[CameraPose]) -> None:
        """See ``CameraPort``."""
        self._inbox = Inbox()
        by_channel = {pose.channel: pose for pose in poses}
        self._poses = [by_channel[channel] for channel, _ in self._keys]
        self._world.move(
            [actor.id for actor in self._actors],
            np.stack([pose.ue_location_m for pose in self._poses]),
            np.array([pose.ue_euler_deg for pose in self._poses]),
        )

    def collect(self, state: TickState) -> SensorsPending:
        """See ``CameraPort``."""
        silent, self._silent = self._silent, set()
        pending = SensorsPending(
            self._inbox,
            frame=state.frame,
            names=[f"{channel} {sensor.name}" for channel, sensor in self._keys],
            silent=silent,
            deadline_s=self._deadline_s,
            proven=partial(self._proven, state=state),
        )
        self._park_lidars()
        return pending

    def _proven(self, images: Sequence[Any], *, state: TickState) -> list[Reading]:
        self._check(images, state)
        return [self._reading(index, image) for index, image in enumerate(images)]

    def _park_lidars(self) -> None:
        """Send lidars to where their rays meet nothing: they measure at every tick, and rays that hit are dear."""
        ids = [a.id for a, spec in zip(self._actors, self._specs, strict=True) if isinstance(spec, LidarSpec)]
        if ids:
            self._world.move(ids, np.tile(_PARKED_UE_M, (len(ids), 1)), np.zeros((len(ids), 3)))

    def _check(self, images: Sequence[Any], state: TickState) -> None:
        """Refuse images whose pose, size or time is not the one asked for.

        Angles are compared as rotations: at pitch -90 yaw and roll are one angle told in two ways.
        """
        taken = [index for index, image in enumerate(images) if image is not None]
        poses = [self._poses[index] for index in taken]
        got = np.array([_pose_row(images[index]) for index in taken])
        asked_t = np.stack([pose.ue_location_m for pose in poses])
        asked_q = np.stack([pose.map_SE3_optical.quat_wxyz for pose in poses])
        got_q = unreal.map_q_optical_from_ue_euler(got[:, 3:6])
        off_m = np.linalg.norm(got[:, :3] - asked_t, axis=1)
        # 1 - |<p, q>| = angle^2 / 8 for small angles; NaN fails both comparisons
        off_q = 1.0 - np.abs(np.sum(asked_q * got_q, axis=1))
        good = (off_m <= _LOCATION_TOLERANCE_M) & (off_q <= _ANGLE_TOLERANCE_RAD**2 / 8)
        if not good.all():
            bad = int(np.flatnonzero(~good)[0])
            channel, sensor = self._keys[taken[bad]]
            raise MissedTick(
                f"tick {state.frame}: {channel} {sensor.name} was taken {off_m[bad]:.3f} m and "
                f"{np.degrees(np.sqrt(8 * max(off_q[bad], 0))):.3f} degrees from the pose asked for"
            )
        for index in taken:
            (channel, sensor), spec, image = self._keys[index], self._specs[index], images[index]
            wrong = _other_image(image, spec) if isinstance(spec, CameraSpec) else self._other_turn(index, image, spec)
            if wrong:
                raise MissedTick(f"tick {state.frame}: {channel} {sensor.name} {wrong}")
            if abs(image.timestamp - state.elapsed_s) > 1e-6:
                raise MissedTick(
                    f"tick {state.frame}: {channel} {sensor.name} is stamped {image.timestamp}, not {state.elapsed_s}"
                )

    def _other_turn(self, index: int, measurement: Any, spec: LidarSpec) -> str:
        """Say what is wrong with a lidar's turn: after whole turns its head is where it was."""
        if int(measurement.channels) != spec.channels:
            return f"has {measurement.channels} beams, not {spec.channels}"
        angle_rad = float(measurement.horizontal_angle)
        turned_rad = math.remainder(angle_rad - self._angles_rad.setdefault(index, angle_rad), math.tau)
        if abs(turned_rad) > _TURN_TOLERANCE_RAD:
            return f"made no whole turns since its first: it is {math.degrees(turned_rad):.1f} degrees farther"
        return ""

    def _reading(self, index: int, image: Any) -> Reading:
        (channel, sensor), spec = self._keys[index], self._specs[index]
        assert sensor.carla is not None
        if image is None:
            assert isinstance(spec, CameraSpec)
            assert sensor.unknown is not None, "what sends nothing at first says what stands for it"
            return Reading(channel, sensor.name, sensor.unknown(spec.width_px, spec.height_px), None)
        return Reading(channel, sensor.name, sensor.carla.read(image), image)

    def close(self) -> None:
        """See ``CameraPort``."""
        if self._actors:
            self._world.destroy(self._actors)
        self._actors, self._keys, self._specs, self._built_for = [], [], [], None


def _sensor_attributes(spec: CameraSpec | LidarSpec) -> dict[str, float]:
    if isinstance(spec, CameraSpec):
        return {
            "image_size_x": spec.width_px,
            "image_size_y": spec.height_px,
            "fov": spec.fov_deg,
            "sensor_tick": 0.0,
        }
    return {
        "channels": spec.channels,
        "range": spec.range_m,
        "points_per_second": spec.points_per_second,
        "rotation_frequency": spec.rotation_hz,
        "upper_fov": spec.upper_fov_deg,
        "lower_fov": spec.lower_fov_deg,
        "horizontal_fov": 360.0,
        "sensor_tick": 0.0,
    }


def _other_image(image: Any, spec: CameraSpec) -> str:
    if (image.width, image.height) != (spec.width_px, spec.height_px) or abs(image.fov - spec.fov_deg) > 1e-3:
        return f"came as {image.width}x{image.height} fov {image.fov}"
    return ""


def _pose_row(image: Any) -> tuple[float, ...]:
    p, r = image.transform.location, image.transform.rotation
    return (p.x, p.y, p.z, r.roll, r.pitch, r.yaw)
