"""Vehicles under CARLA's Traffic Manager. Imports ``carla``."""

from collections.abc import Sequence

import carla
import numpy as np

from uavsim.errors import SimulatorError
from uavsim.ingredients import traffic_orders as traffic
from uavsim.ingredients.traffic import TrafficPlan
from uavsim.simulate.carla.spawning import SpawnContext, Spawned
from uavsim.typing import FloatArray

_VEHICLE_GAP_M = 8.0  # between spawn places: a bus is 10 m long, and the Traffic Manager wants room to start


def spawn(context: SpawnContext, record: TrafficPlan) -> Spawned:
    """Spawn a scene's vehicles, none near the places kept free, and let a tick pass.

    Raises:
        SimulatorError: the simulator lacks a blueprint, or no vehicle could be spawned.
    """
    manager = context.traffic_manager()
    _steer(manager, context, record)
    library = context.world.get_blueprint_library()
    known = [_facts(b) for b in library.filter("vehicle.*")]
    choices = traffic.choose_blueprints(record.blueprints, known)
    rng = context.rng(1)
    places = _places(context, record, rng)
    commands, port = [], manager.get_port()
    for order in traffic.order_vehicles(count=record.vehicles, choices=choices, places=len(places), rng=rng):
        blueprint = library.find(order.blueprint)
        for name, value in order.attributes.items():
            if blueprint.has_attribute(name):
                blueprint.set_attribute(name, value)
        command = carla.command.SpawnActor(blueprint, places[order.place])
        commands.append(command.then(carla.command.SetAutopilot(carla.command.FutureActor, True, port)))
    ids = [int(r.actor_id) for r in context.client.apply_batch_sync(commands, False) if not r.error]
    context.pass_a_tick()
    if record.vehicles and not ids:
        raise SimulatorError(f"none of {record.vehicles} vehicles could be spawned in {context.map_name}")
    return Spawned("vehicle", ids, counts={"vehicles": (record.vehicles, len(ids))})


def _steer(manager: carla.TrafficManager, context: SpawnContext, record: TrafficPlan) -> None:
    """Give the Traffic Manager a scene's settings; its seed also restarts the traffic lights' phases."""
    manager.set_hybrid_physics_mode(record.hybrid_physics)
    if record.hybrid_physics:
        manager.set_hybrid_physics_radius(0.0)
    manager.set_global_distance_to_leading_vehicle(record.following_distance_m)
    manager.global_percentage_speed_difference(record.speed_difference_percent)
    manager.set_random_device_seed(context.plan.traffic_seed % 2**31)


def _places(context: SpawnContext, record: TrafficPlan, rng: np.random.Generator) -> list[carla.Transform]:
    """Recommended spawn points, then lane waypoints where the map has too few; none near the places kept free."""
    town, kept_free = context.world.get_map(), context.kept_free
    places = [p for p in town.get_spawn_points() if context.is_near(p.location) and _is_clear(p, kept_free)]
    if len(places) >= record.vehicles or not record.spawn_on_waypoints:
        return places
    more = [w.transform for w in town.generate_waypoints(_VEHICLE_GAP_M) if not w.is_junction]
    more = [pose for pose in more if context.is_near(pose.location) and _is_clear(pose, kept_free)]
    more = [more[i] for i in rng.permutation(len(more))]
    for pose in more:
        pose.location.z += 0.5
    kept = traffic.thin_out(_locations(more), taken_m=_locations(places), gap_m=_VEHICLE_GAP_M)
    return places + [more[i] for i in kept]


def _is_clear(pose: carla.Transform, kept_free: Sequence[tuple[carla.Location, float]]) -> bool:
    return all(pose.location.distance(place) > away_m for place, away_m in kept_free)


def _facts(blueprint: carla.ActorBlueprint) -> traffic.BlueprintFacts:
    """Describe one vehicle blueprint."""
    recommended = {
        name: tuple(str(v) for v in blueprint.get_attribute(name).recommended_values)
        for name in ("color", "driver_id")
        if blueprint.has_attribute(name)
    }
    wheels = int(blueprint.get_attribute("number_of_wheels"))
    base = str(blueprint.get_attribute("base_type")) if blueprint.has_attribute("base_type") else ""
    return traffic.BlueprintFacts(str(blueprint.id), wheels, base, recommended)


def _locations(poses: Sequence[carla.Transform]) -> FloatArray:
    """Return (N, 3) locations of transforms, the simulator's frame."""
    return np.array([(p.location.x, p.location.y, p.location.z) for p in poses], dtype=np.float64).reshape(-1, 3)
