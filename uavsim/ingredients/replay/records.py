"""A plan's records of a replay."""

from dataclasses import dataclass, field

from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.motion import MotionLog
from uavsim.records.recording import AgentState

__all__ = ["ReplayPlan"]


@dataclass(frozen=True, slots=True, eq=False)
class ReplayPlan:
    """Recorded motion in place of traffic: each actor is put where it was, at each tick.

    Attributes:
        motion: of the recorded scene.
        actors: of the recorded scene, by instance id, parked vehicles of the town among them.
        states: of the recorded scene, one a capture.
        hidden: instance ids that are not shown.
        drones: the drones are where they were; else they fly this plan.
        counts: of the recorded scene: (asked for, spawned) by ``vehicles`` and ``walkers``.
        agents: beside the drones, at the first capture of the recorded scene.
    """

    motion: MotionLog
    actors: tuple[ActorInfo, ...]
    states: tuple[ActorStates, ...]
    hidden: tuple[int, ...] = ()
    drones: bool = True
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    agents: tuple[AgentState, ...] = ()
