"""Replay of a recorded scene: each actor is moved to its recorded pose at each tick, in place of all other ingredients."""

from dataclasses import dataclass, field
from typing import Final

from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.ingredients import Ingredient
from uavsim.records.motion import MotionLog, SceneMotion
from uavsim.records.recording import AgentState
from uavsim.registry import Named

__all__ = ["INGREDIENT", "ReplayPlan", "flight"]

INGREDIENT: Final = Ingredient(
    key="replay",  # not in datasets' YAML: ``uavsim replay`` requests it
    order=120,
    records=(Named(f"{__name__}:ReplayPlan"),),
    spawn=Named("uavsim.ingredients.carla.replay:spawn"),
    replays=Named(f"{__name__}:flight"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ReplayPlan:
    """Recorded motion in place of traffic: each actor is moved to its recorded pose at each tick.

    Attributes:
        motion: motion of the recorded scene.
        actors: actors of the recorded scene by instance id, including the town's parked vehicles.
        states: recorded actor states of each capture.
        hidden: instance ids of hidden actors.
        drones: whether the drones have their recorded poses; else they fly this plan.
        counts: recorded (requested, spawned) counts of ``vehicles`` and ``walkers``, and counts of moving traffic.
        agents: agents other than drones at the first recorded capture.
    """

    motion: MotionLog
    actors: tuple[ActorInfo, ...]
    states: tuple[ActorStates, ...]
    hidden: tuple[int, ...] = ()
    drones: bool = True
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    agents: tuple[AgentState, ...] = ()


def flight(record: ReplayPlan) -> SceneMotion | None:
    """Return the recorded flight of a replay; None if the drones fly the plan."""
    return record.motion.open() if record.drones else None
