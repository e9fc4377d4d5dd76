"""The context in which an ingredient spawns its actors in a CARLA world, and the result."""

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
    """A scene that is being populated.

    Attributes:
        client: of CARLA.
        world: world of that client.
        plan: plan of the scene.
        map_name: map name of the loaded town.
        pass_a_tick: passes a tick, after which the client knows the spawned actors.
        traffic_manager: returns the Traffic Manager and starts it if needed.
        kept_free: locations with a radius, metres, in which no vehicle may start.
    """

    client: carla.Client
    world: carla.World
    plan: ScenePlan
    map_name: str
    pass_a_tick: Callable[[], object]
    traffic_manager: Callable[[], carla.TrafficManager]
    kept_free: list[tuple[carla.Location, float]] = field(default_factory=list)
    _rngs: dict[int, np.random.Generator] = field(default_factory=dict)

    def is_near(self, location: carla.Location) -> bool:
        """Return whether an actor may start at a location: in a large map, only near the swarm."""
        streaming = self.plan.town.streaming
        if streaming is None:
            return True
        x, y, _ = unreal.ue_vector_from_map(self.plan.swarm.map_SE3_flu.translation_m[0].mean(axis=0)).tolist()
        return bool(np.hypot(location.x - x, location.y - y) <= streaming.traffic_within_m)

    def rng(self, stream: int) -> np.random.Generator:
        """Return the traffic's random generator of a stream; each caller gets the same one."""
        return self._rngs.setdefault(stream, np.random.default_rng([self.plan.traffic_seed, stream]))


@dataclass(slots=True, eq=False)
class Spawned:
    """The actors of an ingredient in the world; subclasses override methods for behaviour.

    Attributes:
        kind: kind of the actors.
        actor_ids: ids of the simulator, in the order of their instance ids.
        helpers: further actors without labels, such as walker controllers.
        counts: (requested, spawned) by ``vehicles`` or ``walkers``.
        instance_of: actor id -> instance id if prescribed; else actors are numbered.
        marks_town: whether it changes the town until the next load.
        agents: sensing agents: the id of the actor that carries the agent, of any ingredient, or a static pose.
    """

    proves: ClassVar[bool] = False
    """Whether ``proven`` compares the simulator's state with a recording."""

    kind: str = ""
    actor_ids: Sequence[int] = ()
    helpers: Sequence[int] = ()
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    instance_of: Mapping[int, int] | None = None
    agents: Mapping[Agent, int | SE3] = field(default_factory=dict)
    marks_town: bool = False

    def agents_in(self, infos: Mapping[int, ActorInfo]) -> list[tuple[Agent, ActorInfo | SE3]]:
        """Return ``agents`` with the descriptions (by actor id) of the actors that carry them."""
        return [(a, infos[where] if isinstance(where, int) else where) for a, where in self.agents.items()]

    def kind_of(self, actor: carla.Actor) -> str:
        """Return the kind of an actor."""
        del actor
        return self.kind

    def set_actor_infos(self, infos: Mapping[int, ActorInfo]) -> None:
        """Receive the descriptions of all actors, by actor id."""

    def scenery(self, first_instance_id: int) -> Parked:
        """Return town objects that are labelled as actors, numbered from ``first_instance_id``."""
        del first_instance_id
        return NOTHING_PARKED

    def moved(self, scenery: Parked) -> Parked:
        """Return all scenery, with this ingredient's moving parts at their poses of this tick."""
        return scenery

    def before_tick(self, step: int) -> None:
        """Set the poses of a step before its tick."""

    def on_drone_poses(self, drones: Sequence[DroneState]) -> None:
        """Receive the drones' states of the next tick, () before they fly; called before ``before_tick``."""

    def proven(self, states: ActorStates, motion: TickMotion) -> ActorStates:
        """Check the states of a tick against the expected ones and return them.

        Raises:
            MissedTick: they differ.
        """
        del motion
        return states

    def clear(self) -> None:
        """Undo changes other than spawned actors, which the world destroys."""


def flying_prop(world: carla.World, name: str, *, role: str, what: str, where: str) -> carla.ActorBlueprint:
    """Return the blueprint of a flying object.

    Args:
        world: world of the server.
        name: name of a blueprint, or the path of a static mesh, which begins with a slash.
        role: for the ``role_name``.
        what: the object's name in messages.
        where: the key that names another blueprint, for messages.

    Raises:
        SimulatorError: the server has no such blueprint.
    """
    mesh = name.startswith("/")
    try:
        blueprint = world.get_blueprint_library().find(PROP_MESH if mesh else name)
    except (IndexError, RuntimeError) as error:
        raise SimulatorError(
            f"the simulator has no blueprint {PROP_MESH if mesh else name!r} for {what}: a stock CARLA has no aircraft "
            f"or birds; name a blueprint or a static mesh of your build in {where}"
        ) from error
    for key, value in ({"role_name": role} | ({"mesh_path": name} if mesh else {})).items():
        if blueprint.has_attribute(key):
            blueprint.set_attribute(key, value)
    return blueprint
