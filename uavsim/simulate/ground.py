"""Poses of ground agents in a tick: static ones, and those that actors carry."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.errors import MissedTick, SceneVoid
from uavsim.geometry import cuboid
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates, AgentState, DroneState
from uavsim.records.sensors import Agent
from uavsim.simulate.ports import SceneTraffic, TickState
from uavsim.typing import FloatArray

_UPRIGHT: Final = 0.5  # cosine of 60 degrees, steeper than any road
_FALLING_MPS: Final = 12.0  # faster than any road descends
_BEYOND_M: Final = 20.0  # margin of the town's bounds, which its file rounds
_STILL_MPS: Final = 0.1
_DEEP_M: Final = 0.2  # boxes exceed bodies: those of vehicles that stand close overlap
_NEAR_M: Final = 20.0
_LEVEL_M: Final = 2.0  # a larger height difference means a bridge


class GroundAgents:
    """The ground agents of a scene.

    Attributes:
        standing: the static ones.
    """

    def __init__(self, traffic: SceneTraffic, plan: ScenePlan) -> None:
        """Prepare for the spawned actors of a plan."""
        still = np.zeros(3)
        agents = traffic.agents.items()
        self.standing = tuple(AgentState(agent, pose, still) for agent, pose in agents if isinstance(pose, SE3))
        self._carriers: dict[Agent, ActorInfo] = {a: actor for a, actor in agents if isinstance(actor, ActorInfo)}
        self._infos = {info.instance_id: info for info in traffic.actors}
        self._bounds_m = np.array(plan.town.map_bounds_m).reshape(2, 2) + [[-_BEYOND_M], [_BEYOND_M]]
        self._farthest_m = {agent: group.farthest_m for group in plan.ground for agent in group.agents}
        self._stuck: set[Agent] = set()  # at the capture before

    def carried(self, state: TickState, drones: Sequence[DroneState]) -> tuple[AgentState, ...]:
        """Return the agents that actors carry, with the poses of the tick's snapshot.

        Raises:
            MissedTick: an actor has disappeared.
            SceneVoid: a vehicle has turned over, left the map or the drones, or stands inside another one since the previous
                capture.
        """
        carried = tuple(self._at(state, agent, actor) for agent, actor in self._carriers.items())
        stuck = set()
        for agent in carried:
            self._check_place(state.frame, agent, drones)
            if float(np.linalg.norm(agent.velocity_map_mps)) < _STILL_MPS and (
                other := self._overlapping_actor(state.actors, agent)
            ):
                stuck.add(agent.agent)
                if agent.agent in self._stuck:
                    raise self._void(state.frame, agent, f"collided with {other.blueprint} and stands")
        self._stuck = stuck
        return carried

    def _at(self, state: TickState, agent: Agent, actor: ActorInfo) -> AgentState:
        rows = np.flatnonzero(state.actors.instance_id == actor.instance_id)
        if not len(rows):
            raise MissedTick(f"tick {state.frame}: the vehicle of agent {agent.id} ({actor.blueprint}) is gone")
        row = int(rows[0])
        return AgentState(agent, state.actors.map_SE3_actor[row], state.actors.velocity_map_mps[row], actor.instance_id)

    def _check_place(self, frame: int, agent: AgentState, drones: Sequence[DroneState]) -> None:
        pose, position_m = agent.map_SE3_flu, agent.map_SE3_flu.translation_m
        if pose.rotation[2, 2] < _UPRIGHT:
            raise self._void(frame, agent, "has turned over")
        low_m, high_m = self._bounds_m
        inside = (position_m[:2] >= low_m).all() and (position_m[:2] <= high_m).all()
        if not inside or agent.velocity_map_mps[2] < -_FALLING_MPS:
            where = " ".join(f"{axis}={value:.1f}" for axis, value in zip("xyz", position_m, strict=True))
            raise self._void(frame, agent, f"has left the map at {where}")
        if (farthest_m := self._farthest_m.get(agent.agent)) and drones:
            away_m = min(float(np.linalg.norm(position_m[:2] - d.map_SE3_flu.translation_m[:2])) for d in drones)
            if away_m > farthest_m:
                raise self._void(frame, agent, f"is {away_m:.0f} m from the nearest drone, not within {farthest_m:g} m")

    def _void(self, frame: int, agent: AgentState, what: str) -> SceneVoid:
        blueprint = self._carriers[agent.agent].blueprint
        return SceneVoid(f"tick {frame}: the vehicle of agent {agent.agent.id} ({blueprint}) {what}")

    def _overlapping_actor(self, actors: ActorStates, agent: AgentState) -> ActorInfo | None:
        """Return an actor with a box that overlaps an agent's box, or None."""
        off_m = actors.map_SE3_actor.translation_m - agent.map_SE3_flu.translation_m
        reach_m = np.array([_NEAR_M, _NEAR_M, _LEVEL_M])
        near = np.flatnonzero((np.abs(off_m) < reach_m).all(axis=1) & (actors.instance_id != agent.instance_id))
        others = [(row, self._infos[i]) for row in near if (i := int(actors.instance_id[row])) in self._infos]
        if not others:
            return None
        outline = _outline(self._carriers[agent.agent], agent.map_SE3_flu)
        outlines = np.stack([_outline(info, actors.map_SE3_actor[int(row)]) for row, info in others])
        deep_m = np.nan_to_num(cuboid.overlap_m(outline, outlines))
        worst = int(deep_m.argmax())
        return others[worst][1] if deep_m[worst] > _DEEP_M else None


def _outline(info: ActorInfo, map_SE3_actor: SE3) -> FloatArray:
    """Return the (4, 2) corners of the floor of an actor's box, x, y in the map frame, metres."""
    corners_m = cuboid.corners(map_SE3_actor @ info.actor_SE3_box, size_lwh_m=2 * np.array(info.half_extent_m))
    return corners_m[[2, 3, 7, 6], :2]  # of the floor
