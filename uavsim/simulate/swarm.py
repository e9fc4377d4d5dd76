"""The swarm that follows the plan exactly (topology ``carla``)."""

import numpy as np

from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.ingredients import ingredients_of
from uavsim.records.motion import SceneMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.simulate.ports import Heartbeat
from uavsim.typing import FloatArray

_GRID = 1024.0  # 1/1024 m and degree are exact in the float32 of CARLA's transforms, so nothing is rounded twice


def on_grid(values: FloatArray) -> FloatArray:
    """Round (...) values to multiples of 1/1024, which are exact in float32 up to 16384."""
    return np.asarray(np.round(values * _GRID) / _GRID, dtype=np.float64)


class PlannedSwarm:
    """Drones at their planned poses, within a millimetre and a thousandth of a degree; in a replay at the recorded ones."""

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """See ``SwarmPort``."""
        heartbeat("swarm", 0)
        self._plan = plan
        self._recorded = recorded_flight(plan)
        swarm = plan.swarm
        ue_euler_deg = on_grid(unreal.ue_euler_from_map_q_flu(swarm.map_SE3_flu.quat_wxyz))
        position_m = on_grid(swarm.map_SE3_flu.translation_m)
        self._map_SE3_flu = SE3(unreal.map_q_flu_from_ue_euler(ue_euler_deg), position_m)

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """See ``SwarmPort``."""
        swarm = self._plan.swarm
        if self._recorded is not None:
            tick = self._recorded.row_of(step)
            map_SE3_flu, velocity = self._recorded.map_SE3_flu[tick], self._recorded.velocity_map_mps[tick]
        else:
            map_SE3_flu, velocity = self._map_SE3_flu[step], planned_velocity_mps(self._plan, step)
        return tuple(
            DroneState(
                drone_id=drone_id,
                map_SE3_flu=map_SE3_flu[row],
                velocity_map_mps=velocity[row],
                planned_map_SE3_flu=swarm.map_SE3_flu[step, row],
            )
            for row, drone_id in enumerate(swarm.drone_ids)
        )

    def close(self) -> None:
        """See ``SwarmPort``; there is nothing to release."""


def recorded_flight(plan: ScenePlan) -> SceneMotion | None:
    """Return the flight that a replay repeats; None if the drones follow the plan."""
    flights = (
        used.ingredient.replays.load()(used.record)
        for used in ingredients_of(plan.ingredients)
        if used.ingredient.replays is not None
    )
    return next((flight for flight in flights if flight is not None), None)


def planned_velocity_mps(plan: ScenePlan, step: int) -> FloatArray:
    """Return (D, 3) velocities of the drones at a step, map frame, m/s: central differences of the planned trajectory."""
    t_m = plan.swarm.map_SE3_flu.translation_m
    before, after = max(step - 1, 0), min(step + 1, len(t_m) - 1)
    if before == after:
        return np.zeros_like(t_m[0])
    return np.asarray((t_m[after] - t_m[before]) / ((after - before) * plan.step_us / 1e6), dtype=np.float64)
