"""Poses that a client set and that do not show yet, as in AirSim on Unreal.

Behaviour ``set-pose=stale``: AirSim hands a pose over to the game's next frames and answers the one before until then.
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
    """Places vehicles at once, or a while later; every method is called under the fleet's lock.

    Args:
        stale: later.
        frame: number of the world's last tick.
        wall: seconds of the wall clock.
    """

    def __init__(self, *, stale: bool, frame: Callable[[], int], wall: Callable[[], float] = time.monotonic) -> None:
        self._stale, self._frame, self._wall = stale, frame, wall
        self._pending: dict[str, _Pending] = {}

    def set(self, drone: Drone, position_m: Vec3, quat: Quat) -> None:
        """Place a vehicle; a pose that waits already is replaced, and comes when that was due.

        Raises:
            CallRefused: the place is out of this world.
        """
        if not self._stale:
            drone.place(position_m, quat)
            return
        refuse_far_places(position_m)
        waits = self._pending.get(drone.name)
        due_s, due_frame = self._wall() + STALE_S, self._frame() + STALE_FRAMES
        if waits is not None:
            due_s, due_frame = waits.due_s, waits.due_frame
        self._pending[drone.name] = _Pending(drone, position_m, quat, due_s, due_frame)

    def show_due(self) -> None:
        """Place those whose time has come."""
        for name, waits in list(self._pending.items()):
            if self._wall() >= waits.due_s or self._frame() >= waits.due_frame:
                waits.drone.place(waits.position_m, waits.quat)
                del self._pending[name]

    def forget(self) -> None:
        """Drop those that wait."""
        self._pending.clear()
