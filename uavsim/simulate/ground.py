"""Places of the agents beside the drones in a tick: what stands, and what an actor of the scene carries."""

from __future__ import annotations

import numpy as np

from uavsim.errors import MissedTick
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorInfo, AgentState
from uavsim.records.sensors import Agent
from uavsim.simulate.ports import SceneTraffic, TickState

__all__ = ["GroundAgents"]


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
        """
        return tuple(self._at(state, agent, actor) for agent, actor in self._carriers.items())

    def _at(self, state: TickState, agent: Agent, actor: ActorInfo) -> AgentState:
        found = np.flatnonzero(state.actors.instance_id == actor.instance_id)
        if not len(found):
            raise MissedTick(f"tick {state.frame}: the vehicle of agent {agent.id} ({actor.blueprint}) is gone")
        row = int(found[0])
        return AgentState(agent, state.actors.map_SE3_actor[row], state.actors.velocity_map_mps[row], actor.instance_id)
