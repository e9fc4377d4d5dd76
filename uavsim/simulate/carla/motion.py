"""Read the motion of CARLA's actors for the recording, tick by tick.

Controls and traffic lights are part of the state that the server sends at each tick; only vehicle lights need a query, which
is made in captured ticks. CARLA does not report doors, bones and wheels.
"""

from collections.abc import Mapping
from typing import cast

import carla
import numpy as np

from uavsim.records.motion import CONTROLS, TickMotion
from uavsim.typing import FloatArray

_HOLDS = (carla.TrafficLightState.Red, carla.TrafficLightState.Yellow)


def signals_of(world: carla.World) -> dict[str, carla.TrafficLight]:
    """Return a town's traffic lights by their OpenDRIVE ids, sorted."""
    lights = cast("carla.ActorList[carla.TrafficLight]", world.get_actors().filter("traffic.traffic_light*"))
    return dict(sorted((str(light.get_opendrive_id()), light) for light in lights))


class MotionReader:
    """Reads the actors of a scene."""

    def __init__(self, world: carla.World, instance_of: Mapping[int, int]) -> None:
        """Prepare for the actors of a world with their instance ids."""
        self._world = world
        self._instance_of = instance_of
        self._actors = {instance_of[a.id]: a for a in world.get_actors(list(instance_of))} if instance_of else {}
        self._stands = {i for i, a in self._actors.items() if str(a.type_id).startswith("static.")}
        self._walks = {i for i, a in self._actors.items() if str(a.type_id).startswith("walker.")}
        self._signals = signals_of(world)
        self._lights: dict[int, int] = {}

    def read(self, table: FloatArray, *, captured: bool) -> TickMotion:
        """Return the motion of the last received tick.

        Args:
            table: (N, 16) of ``read.snapshot_rows``.
            captured: whether sensors are read in this tick.
        """
        if captured:
            reported = self._world.get_vehicles_light_states()
            self._lights = {self._instance_of[i]: int(bits) for i, bits in reported.items() if i in self._instance_of}
        ids = table[:, 0].astype(np.int64)
        return TickMotion(
            instance_id=ids,
            ue_pose=table[:, 1:7].astype(np.float32),  # as sent
            control=np.array([self._control(i) for i in ids.tolist()], dtype=np.float64).reshape(-1, CONTROLS),
            lights=np.array([self._lights.get(i, 0) for i in ids.tolist()], dtype=np.int64),
            is_held=np.array([self._is_held(i) for i in ids.tolist()], dtype=np.bool_),
            signal_id=tuple(self._signals),
            signals=np.array([int(light.state) for light in self._signals.values()], dtype=np.int64),
        )

    def _is_held(self, instance_id: int) -> bool:
        if instance_id not in self._actors or instance_id in self._stands or instance_id in self._walks:
            return False
        vehicle = cast("carla.Vehicle", self._actors[instance_id])
        return vehicle.is_at_traffic_light() and vehicle.get_traffic_light_state() in _HOLDS

    def _control(self, instance_id: int) -> tuple[float, ...]:
        actor = self._actors.get(instance_id)
        if actor is None or instance_id in self._stands:
            return (0.0,) * CONTROLS
        if instance_id in self._walks:
            return (cast("carla.Walker", actor).get_control().speed, 0.0, 0.0, 0.0, 0.0)
        control = cast("carla.Vehicle", actor).get_control()
        gear = -abs(control.gear) if control.reverse else control.gear
        return (control.throttle, control.steer, control.brake, float(control.hand_brake), float(gear))
