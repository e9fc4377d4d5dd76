"""The context in which an ingredient spawns its actors in a CARLA world, and its result. Imports no vendor."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import carla
import numpy as np

from uavsim.errors import SimulatorError
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.motion import TickMotion
from uavsim.records.plan import ScenePlan
from uavsim.records.props import PROP_MESH
from uavsim.records.recording import ActorInfo, ActorStates, DroneState
from uavsim.records.sensors import Agent
from uavsim.simulate.carla.read import NOTHING_PARKED, Parked


@dataclass(slots=True, eq=False)
class SpawnContext:
    """One scene that is being populated.

    Attributes:
        client: of CARLA.
        world: of that client.
        plan: of the scene.
        map_name: of the loaded town.
        pass_a_tick: after it the client knows what was spawned.
        traffic_manager: starts the Traffic Manager where there is none, and returns it.
        kept_free: locations, and the metres around each in which no vehicle may start.
    """

    client: carla.Client
    world: carla.World
    plan: ScenePlan
    map_name: str
    pass_a_tick: Callable[[], object]
    traffic_manager: Callable[[], carla.TrafficManager]
    kept_free: list[tuple[carla.Location, float]] = field(default_factory=list)
    _rngs: dict[int, np.random.Generator] = field(default_factory=dict)

    def is_near(self, place: carla.Location) -> bool:
        """Return whether an actor may start there: in a large map, near the swarm alone."""
        streaming = self.plan.town.streaming
        if streaming is None:
            return True
        x, y, _ = unreal.ue_vector_from_map(self.plan.swarm.map_SE3_flu.translation_m[0].mean(axis=0)).tolist()
        return bool(np.hypot(place.x - x, place.y - y) <= streaming.traffic_within_m)

    def rng(self, stream: int) -> np.random.Generator:
        """Return the traffic's generator of a stream, the same one for each caller."""
        return self._rngs.setdefault(stream, np.random.default_rng([self.plan.traffic_seed, stream]))


@dataclass(slots=True, eq=False)
class Spawned:
    """One ingredient's actors in the world; one that does more than stand or drive by itself overrides a method.

    Attributes:
        kind: of its actors.
        actor_ids: of the simulator, in the order in which they are numbered.
        helpers: further actors that get no labels, as walkers' controllers.
        counts: what is reported of the scene: (asked for, spawned) by ``vehicles`` or ``walkers``.
        instance_of: actor id -> instance id where they are given; else they are numbered.
        marks_town: what it did to the town stays until that is loaded anew.
        agents: who senses there: the id of the actor that carries the agent, any ingredient's, or where it stands.
    """

    proves: ClassVar[bool] = False
    """``proven`` compares what the simulator shows with what was recorded."""

    kind: str = ""
    actor_ids: Sequence[int] = ()
    helpers: Sequence[int] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    instance_of: Mapping[int, int] | None = None
    agents: Mapping[Agent, int | SE3] = field(default_factory=dict)
    marks_town: bool = False

    def agents_in(self, infos: Mapping[int, ActorInfo]) -> list[tuple[Agent, ActorInfo | SE3]]:
        """Return ``agents`` with the description of the actors that carry them, which is given by actor id."""
        return [(a, infos[where] if isinstance(where, int) else where) for a, where in self.agents.items()]

    def kind_of(self, actor: carla.Actor) -> str:
        """Return the kind of one of its actors."""
        del actor
        return self.kind

    def set_actor_infos(self, infos: Mapping[int, ActorInfo]) -> None:
        """Take what the simulator says of all actors, by actor id."""

    def scenery(self, first_instance_id: int) -> Parked:
        """Return parts of the town that are labelled as actors; theirs are the next instance ids."""
        del first_instance_id
        return NOTHING_PARKED

    def moved(self, scenery: Parked) -> Parked:
        """Return the scenery of all, with what moves of one's own where it is in this tick."""
        return scenery

    def before_tick(self, step: int) -> None:
        """Put things where they are at a step, in the next tick."""

    def on_drone_poses(self, drones: Sequence[DroneState]) -> None:
        """Know where the swarm's drones are in the next tick, () before they fly; called before ``before_tick``."""

    def proven(self, states: ActorStates, motion: TickMotion) -> ActorStates:
        """Return the states of a tick, compared with what they must be.

        Raises:
            MissedTick: they are others.
        """
        del motion
        return states

    def clear(self) -> None:
        """Give back what is not an actor of the scene; its actors are destroyed by the world."""


def flying_prop(world: carla.World, name: str, *, role: str, what: str, where: str) -> carla.ActorBlueprint:
    """Return the blueprint of something that flies.

    Args:
        world: of the server.
        name: of a blueprint, or the path of a static mesh, which begins with a slash.
        role: for the ``role_name``.
        what: the thing, for messages.
        where: another can be named.

    Raises:
        SimulatorError: the server has no such blueprint.
    """
    mesh = name.startswith("/")
    try:
        blueprint = world.get_blueprint_library().find(PROP_MESH if mesh else name)
    except (IndexError, RuntimeError) as error:
        raise SimulatorError(
            f"the simulator has no blueprint {PROP_MESH if mesh else name!r} for {what}: a stock CARLA has nothing that "
            f"flies; name a blueprint or a static mesh of yours in {where}"
        ) from error
    for key, value in ({"role_name": role} | ({"mesh_path": name} if mesh else {})).items():
        if blueprint.has_attribute(key):
            blueprint.set_attribute(key, value)
    return blueprint
