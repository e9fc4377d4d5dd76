"""Collects the motion of actors and drones at each tick of a scene into a ``SceneMotion``."""

from collections.abc import Sequence

import numpy as np

from uavsim.errors import MissedTick
from uavsim.geometry.se3 import SE3
from uavsim.records.motion import CONTROLS, SceneMotion, TickMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState


class MotionRecorder:
    """Records the ticks of a scene; without motion of the world the result is None."""

    def __init__(self, plan: ScenePlan) -> None:
        """Start a scene."""
        self._steps = None if plan.recording == "full" else frozenset(plan.rendered_steps)
        self._taken: list[tuple[int, TickMotion, tuple[DroneState, ...]]] = []

    def add(self, step: int, motion: TickMotion | None, drones: Sequence[DroneState]) -> None:
        """Record a tick."""
        if motion is not None and (self._steps is None or step in self._steps):
            self._taken.append((step, motion, tuple(drones)))

    def motion(self) -> SceneMotion | None:
        """Return the recorded motion; None without a recorded tick.

        Raises:
            MissedTick: the traffic lights changed between ticks.
        """
        if not self._taken:
            return None
        ticks = [tick for _, tick, _ in self._taken]
        signal_id = ticks[0].signal_id
        if any(tick.signal_id != signal_id for tick in ticks):
            raise MissedTick("the town's traffic lights changed within a scene")
        ids = np.unique(np.concatenate([tick.instance_id for tick in ticks]))
        ue_pose = np.full((len(ticks), len(ids), 6), np.nan, np.float32)
        control = np.zeros((len(ticks), len(ids), CONTROLS), np.float32)
        lights = np.zeros((len(ticks), len(ids)), np.uint32)
        for row, tick in enumerate(ticks):
            columns = np.searchsorted(ids, tick.instance_id)
            ue_pose[row, columns], control[row, columns], lights[row, columns] = tick.ue_pose, tick.control, tick.lights
        drones = [states for _, _, states in self._taken]
        return SceneMotion(
            step=np.array([step for step, _, _ in self._taken], dtype=np.int64),
            instance_id=ids,
            ue_pose=ue_pose,
            control=control,
            lights=lights,
            signal_id=signal_id,
            signals=np.array([tick.signals for tick in ticks], dtype=np.uint8).reshape(len(ticks), len(signal_id)),
            drone_id=tuple(drone.drone_id for drone in drones[0]),
            map_SE3_flu=SE3.stack([SE3.stack([drone.map_SE3_flu for drone in states]) for states in drones]),
            velocity_map_mps=np.array([[d.velocity_map_mps for d in states] for states in drones], dtype=np.float64),
        )
