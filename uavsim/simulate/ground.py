"""Places of the agents beside the drones in a tick: what stands, and what an actor of the scene carries."""

from __future__ import annotations

from typing import Final

import numpy as np

from uavsim.errors import MissedTick, SceneVoid
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorInfo, AgentState
from uavsim.records.sensors import Agent
from uavsim.simulate.ports import SceneTraffic, TickState

__all__ = ["GroundAgents"]

_UPRIGHT: Final = 0.5  # cosine of 60 degrees: no road is so steep


class GroundAgents:
    """The agents beside the drones in one scene.

    Attributes:
        standing: those that never move.
    """

    def __init__(self, traffic: SceneTraffic) -> None:
        """Take what spawned for the scene."""
        still = np.zeros(3)
        places = traffic.agents.items()
        self.standing = tuple(AgentState(agent, pose, still) for agent, pose in places if isinstance(pose, SE3))
        self._carriers: dict[Agent, ActorInfo] = {a: actor for a, actor in places if isinstance(actor, ActorInfo)}

    def carried(self, state: TickState) -> tuple[AgentState, ...]:
        """Return those that actors carry, as the snapshot of a tick has these actors.

        Raises:
            MissedTick: an actor is no longer there.
            SceneVoid: a vehicle has turned over.
        """
        return tuple(self._at(state, agent, actor) for agent, actor in self._carriers.items())

    def _at(self, state: TickState, agent: Agent, actor: ActorInfo) -> AgentState:
        found = np.flatnonzero(state.actors.instance_id == actor.instance_id)
        if not len(found):
            raise MissedTick(f"tick {state.frame}: the vehicle of agent {agent.id} ({actor.blueprint}) is gone")
        row = int(found[0])
        map_SE3_flu = state.actors.map_SE3_actor[row]
        if map_SE3_flu.rotation[2, 2] < _UPRIGHT:
            raise SceneVoid(f"tick {state.frame}: the vehicle of agent {agent.id} ({actor.blueprint}) has turned over")
        return AgentState(agent, map_SE3_flu, state.actors.velocity_map_mps[row], actor.instance_id)
