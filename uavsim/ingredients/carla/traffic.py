"""Vehicles under CARLA's Traffic Manager, walkers under its controllers, and a town's parked vehicles."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import carla
import numpy as np

from uavsim.errors import SimulatorError
from uavsim.geometry import quaternion, unreal
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.traffic import (
    BlueprintFacts,
    ParkedPlan,
    TrafficPlan,
    WalkersPlan,
    choose_blueprints,
    order_vehicles,
    thin_out,
)
from uavsim.records.classes import VEHICLE_OF_TAG
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate.carla.read import NOTHING_PARKED, Parked
from uavsim.simulate.carla.spawning import SpawnContext, Spawned
from uavsim.typing import FloatArray

_VEHICLE_GAP_M: Final = 8.0  # between spawn places: a bus is 10 m long, and the Traffic Manager needs room to start
_DRAWS: Final = 500  # draws of a place to walk: a large map has 330 km of roads
_LABELS: Final = tuple(getattr(carla.CityObjectLabel, label.capitalize()) for label in VEHICLE_OF_TAG.values())


def spawn_vehicles(context: SpawnContext, record: TrafficPlan) -> Spawned:
    """Spawn a scene's vehicles, none near reserved places, and let a tick pass.

    Raises:
        SimulatorError: the simulator lacks a blueprint, or no vehicle could be spawned.
    """
    manager = context.traffic_manager()
    _steer(manager, context, record)
    library = context.world.get_blueprint_library()
    known = [_facts(b) for b in library.filter("vehicle.*")]
    choices = choose_blueprints(record.blueprints, known)
    rng = context.rng(1)
    places = _spawn_poses(context, record, rng)
    commands, port = [], manager.get_port()
    for order in order_vehicles(count=record.vehicles, choices=choices, places=len(places), rng=rng):
        blueprint = library.find(order.blueprint)
        for name, value in order.attributes.items():
            if blueprint.has_attribute(name):
                blueprint.set_attribute(name, value)
        command = carla.command.SpawnActor(blueprint, places[order.spawn_index])
        commands.append(command.then(carla.command.SetAutopilot(carla.command.FutureActor, True, port)))
    ids = [int(r.actor_id) for r in context.client.apply_batch_sync(commands, False) if not r.error]
    context.pass_a_tick()
    if record.vehicles and not ids:
        raise SimulatorError(f"none of {record.vehicles} vehicles could be spawned in {context.map_name}")
    return Spawned("vehicle", ids, counts={"vehicles": (record.vehicles, len(ids))})


def _steer(manager: carla.TrafficManager, context: SpawnContext, record: TrafficPlan) -> None:
    """Apply a scene's settings to the Traffic Manager; its seed also restarts the traffic lights' phases."""
    manager.set_hybrid_physics_mode(record.hybrid_physics)
    if record.hybrid_physics:
        manager.set_hybrid_physics_radius(0.0)
    manager.set_global_distance_to_leading_vehicle(record.following_distance_m)
    manager.global_percentage_speed_difference(record.speed_difference_percent)
    manager.set_random_device_seed(context.plan.traffic_seed % 2**31)


def _spawn_poses(context: SpawnContext, record: TrafficPlan, rng: np.random.Generator) -> list[carla.Transform]:
    """Return recommended spawn points, then lane waypoints if the map has too few; none near reserved places."""
    town, kept_free = context.world.get_map(), context.kept_free
    places = [p for p in town.get_spawn_points() if context.is_near(p.location) and _is_clear(p, kept_free)]
    if len(places) >= record.vehicles or not record.spawn_on_waypoints:
        return places
    more = [w.transform for w in town.generate_waypoints(_VEHICLE_GAP_M) if not w.is_junction]
    more = [pose for pose in more if context.is_near(pose.location) and _is_clear(pose, kept_free)]
    more = [more[i] for i in rng.permutation(len(more))]
    for pose in more:
        pose.location.z += 0.5
    rows = thin_out(_locations(more), taken_m=_locations(places), gap_m=_VEHICLE_GAP_M)
    return places + [more[i] for i in rows]


def _is_clear(pose: carla.Transform, kept_free: Sequence[tuple[carla.Location, float]]) -> bool:
    return all(pose.location.distance(location) > away_m for location, away_m in kept_free)


def _facts(blueprint: carla.ActorBlueprint) -> BlueprintFacts:
    """Describe one vehicle blueprint."""
    recommended = {
        name: tuple(str(v) for v in blueprint.get_attribute(name).recommended_values)
        for name in ("color", "driver_id")
        if blueprint.has_attribute(name)
    }
    wheels = int(blueprint.get_attribute("number_of_wheels"))
    base = str(blueprint.get_attribute("base_type")) if blueprint.has_attribute("base_type") else ""
    return BlueprintFacts(str(blueprint.id), wheels, base, recommended)


def _locations(poses: Sequence[carla.Transform]) -> FloatArray:
    """Return (N, 3) locations of transforms in the simulator's frame, metres."""
    return np.array([(p.location.x, p.location.y, p.location.z) for p in poses], dtype=np.float64).reshape(-1, 3)


def spawn_walkers(context: SpawnContext, record: WalkersPlan) -> Spawned:
    """Spawn a scene's walkers and their controllers, let a tick pass, and let them walk."""
    client, world, rng = context.client, context.world, context.rng(1)
    world.set_pedestrians_seed(context.plan.traffic_seed % 2**31)
    library = world.get_blueprint_library()
    kinds = sorted(library.filter("walker.pedestrian.*"), key=lambda b: str(b.id))
    commands = []
    for _ in range(record.walkers):
        location = _walking_location(context)
        blueprint = kinds[int(rng.integers(0, len(kinds)))]
        if location is not None:
            commands.append(carla.command.SpawnActor(blueprint, carla.Transform(location)))
    walkers = _spawned(client, commands)
    of_controllers = library.find("controller.ai.walker")
    controllers = _spawned(client, [carla.command.SpawnActor(of_controllers, carla.Transform(), w) for w in walkers])
    context.pass_a_tick()
    for controller in cast("carla.ActorList[carla.WalkerAIController]", world.get_actors(controllers)):
        controller.start()
        controller.go_to_location(world.get_random_location_from_navigation())
        controller.set_max_speed(float(rng.uniform(0.8, 1.8)))
    counts = {"walkers": (record.walkers, len(walkers))}
    return _Walkers("walker", walkers, controllers, counts=counts, world=world)


def _walking_location(context: SpawnContext) -> carla.Location | None:
    """Return a place on the walker navigation mesh, near the swarm on a large map; None if none is found."""
    for _ in range(_DRAWS):
        location: carla.Location | None = context.world.get_random_location_from_navigation()
        if location is None or context.is_near(location):
            return location
    return None


def _spawned(client: carla.Client, commands: Sequence[carla.command.SpawnActor]) -> list[int]:
    return [int(reply.actor_id) for reply in client.apply_batch_sync(commands, False) if not reply.error]


@dataclass(slots=True, eq=False, kw_only=True)
class _Walkers(Spawned):
    world: carla.World

    def clear(self) -> None:
        """See ``Spawned``; stops the controllers before the walkers are destroyed."""
        for controller in self.world.get_actors(list(self.helpers)) if self.helpers else ():
            cast("carla.WalkerAIController", controller).stop()


def read_parked(context: SpawnContext, record: ParkedPlan) -> Spawned:
    """Read the town's parked vehicles; they need no spawning."""
    del record
    return _Parked(world=context.world)


def parked_objects(world: carla.World) -> list[carla.EnvironmentObject]:
    """Return the town's parked vehicles in the order of their names, then of their ids."""
    objects = [o for label in _LABELS for o in world.get_environment_objects(label)]
    return sorted(objects, key=lambda o: (str(o.name), int(o.id)))


@dataclass(slots=True, eq=False, kw_only=True)
class _Parked(Spawned):
    world: carla.World

    def scenery(self, first_instance_id: int) -> Parked:
        """See ``Spawned``."""
        return parked_vehicles(parked_objects(self.world), first_instance_id=first_instance_id)


def parked_vehicles(objects: Sequence[Any], *, first_instance_id: int) -> Parked:
    """Describe environment objects as standing vehicles.

    The origin of an environment object is arbitrary, so the middle of its box's bottom replaces it. CARLA gives the box in
    world coordinates.
    """
    if not objects:
        return NOTHING_PARKED
    boxes = [o.bounding_box for o in objects]
    half = np.array([(b.extent.x, b.extent.y, b.extent.z) for b in boxes], dtype=np.float64)
    ue_euler_deg = np.array([(b.rotation.roll, b.rotation.pitch, b.rotation.yaw) for b in boxes], dtype=np.float64)
    centres_ue_m = np.array([(b.location.x, b.location.y, b.location.z) for b in boxes], dtype=np.float64)
    map_SE3_box = unreal.map_SE3_flu_from_ue(centres_ue_m, ue_euler_deg=ue_euler_deg)
    bottom_m = half * (0.0, 0.0, -1.0)
    ids = np.arange(first_instance_id, first_instance_id + len(objects), dtype=np.int64)
    infos = tuple(
        ActorInfo(
            instance_id=int(ids[row]),
            simulator_actor_id=0,
            kind="environment",
            blueprint=f"environment.{parked_object.name}",
            base_type=VEHICLE_OF_TAG.get(int(parked_object.type), ""),
            half_extent_m=(float(half[row, 0]), float(half[row, 1]), float(half[row, 2])),
            actor_SE3_box=SE3(quaternion.IDENTITY, half[row] * (0.0, 0.0, 1.0)),
            semantic_tag=int(parked_object.type),
            attributes={"role_name": "parked"},
        )
        for row, parked_object in enumerate(objects)
    )
    still = np.zeros((len(objects), 3))
    map_SE3_actor = SE3(map_SE3_box.quat_wxyz, map_SE3_box.apply(bottom_m))
    states = ActorStates(ids, map_SE3_actor, ue_euler_deg, still, still, still)
    return Parked(infos, states)
