"""Poses that a client set and images do not show yet, as in AirSim on Unreal.

Behaviour ``set-pose=stale``: AirSim applies a pose in one of the game's next frames and returns the previous one until then.
Source: AirSim issues 3049 (a sleep of 1.0 s is enough, of 0.1 s is not) and 1246; ``MultirotorPawnSimApi.cpp``, ``setPose``
and ``updateRendering``.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headless_simulator.airsim.drone import Drone, refuse_far_places
from headless_simulator.airsim.ned import Quat, Vec3

STALE_S: Final = 0.3
STALE_FRAMES: Final = 2  # ticks of CARLA


@dataclass(frozen=True, slots=True)
class _Pending:
    drone: Drone
    position_m: Vec3
    quat: Quat
    due_s: float
    due_frame: int


class LatePoses:
    """Places vehicles immediately or with a delay; every method is called under the fleet's lock.

    Args:
        stale: whether to delay.
        frame: number of the world's last tick.
    """

    def __init__(self, *, stale: bool, frame: Callable[[], int]) -> None:
        self._stale, self._frame = stale, frame
        self._pending: dict[str, _Pending] = {}

    def set(self, drone: Drone, position_m: Vec3, quat: Quat) -> None:
        """Place a vehicle (NED, metres; wxyz); a pending pose is replaced and keeps its due time.

        Raises:
            CallRefused: the position is outside the world.
        """
        if not self._stale:
            drone.teleport(position_m, quat)
            return
        refuse_far_places(position_m)
        waits = self._pending.get(drone.name)
        due_s, due_frame = time.monotonic() + STALE_S, self._frame() + STALE_FRAMES
        if waits is not None:
            due_s, due_frame = waits.due_s, waits.due_frame
        self._pending[drone.name] = _Pending(drone, position_m, quat, due_s, due_frame)

    def show_due(self) -> None:
        """Apply the poses that are due."""
        for name, waits in list(self._pending.items()):
            if time.monotonic() >= waits.due_s or self._frame() >= waits.due_frame:
                waits.drone.teleport(waits.position_m, waits.quat)
                del self._pending[name]

    def forget(self) -> None:
        """Drop pending poses."""
        self._pending.clear()
