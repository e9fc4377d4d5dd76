"""A recorded scene shown again: each actor is put where it was, at each tick, in place of everything else."""

from dataclasses import dataclass, field
from typing import Final

from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.ingredients import Ingredient
from uavsim.records.motion import MotionLog, SceneMotion
from uavsim.records.recording import AgentState
from uavsim.registry import Named

__all__ = ["INGREDIENT", "ReplayPlan", "flight"]

INGREDIENT: Final = Ingredient(
    key="replay",  # of no dataset's YAML: ``uavsim replay`` asks for it
    order=120,
    records=(Named(f"{__name__}:ReplayPlan"),),
    spawn=Named("uavsim.ingredients.carla.replay:spawn"),
    stands_in=True,
    flight=Named(f"{__name__}:flight"),
)


@dataclass(frozen=True, slots=True, eq=False)
class ReplayPlan:
    """Recorded motion in place of traffic: each actor is put where it was, at each tick.

    Attributes:
        motion: of the recorded scene.
        actors: of the recorded scene, by instance id, parked vehicles of the town among them.
        states: of the recorded scene, one a capture.
        hidden: instance ids that are not shown.
        drones: the drones are where they were; else they fly this plan.
        counts: of the recorded scene: (asked for, spawned) by ``vehicles`` and ``walkers``, and what of the traffic moved.
        agents: beside the drones, at the first capture of the recorded scene.
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
