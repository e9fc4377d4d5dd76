"""Traffic that drives itself: vehicles under CARLA's Traffic Manager, walkers under its controllers. Imports ``carla``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import carla
import numpy as np

from uavsim.records.plan import ScenePlan
from uavsim.simulate import traffic
from uavsim.simulate.carla import read as carla_read
from uavsim.simulate.carla.cases import CASES_CLEAR_M

__all__ = ["spawn_vehicles", "spawn_walkers", "steer_traffic"]

_VEHICLE_GAP_M = 8.0  # between spawn places: a bus is 10 m long, and the Traffic Manager wants room to start


def steer_traffic(manager: Any, world: Any, plan: ScenePlan) -> None:
    """Give the Traffic Manager a scene's settings; its seed also restarts the traffic lights' phases."""
    wanted = plan.traffic
    manager.set_hybrid_physics_mode(wanted.hybrid_physics)
    if wanted.hybrid_physics:
        manager.set_hybrid_physics_radius(0.0)
    manager.set_global_distance_to_leading_vehicle(wanted.following_distance_m)
    manager.global_percentage_speed_difference(wanted.speed_difference_percent)
    manager.set_random_device_seed(plan.seed % 2**31)
    world.set_pedestrians_seed(plan.seed % 2**31)


def _places(world: Any, plan: ScenePlan, rng: np.random.Generator, *, clear_of: Sequence[Any]) -> list[Any]:
    """Recommended spawn points, then lane waypoints where the map has too few; none near a corner case."""
    town = world.get_map()
    places = [p for p in town.get_spawn_points() if _is_clear(p, clear_of)]
    if len(places) >= plan.traffic.vehicles or not plan.traffic.spawn_on_waypoints:
        return places
    more = [w.transform for w in town.generate_waypoints(_VEHICLE_GAP_M) if not w.is_junction]
    more = [pose for pose in more if _is_clear(pose, clear_of)]
    more = [more[i] for i in rng.permutation(len(more))]
    for pose in more:
        pose.location.z += 0.5
    kept = traffic.thin_out(carla_read.locations(more), taken_m=carla_read.locations(places), gap_m=_VEHICLE_GAP_M)
    return places + [more[i] for i in kept]


def _is_clear(pose: Any, clear_of: Sequence[Any]) -> bool:
    return all(pose.location.distance(place) > CASES_CLEAR_M for place in clear_of)


def spawn_vehicles(
    client: Any, world: Any, plan: ScenePlan, rng: np.random.Generator, *, port: int, clear_of: Sequence[Any] = ()
) -> list[int]:
    """Spawn a scene's vehicles, driven by the Traffic Manager at ``port``; returns their ids.

    Args:
        client: of the server.
        world: of it.
        plan: says how many.
        rng: the scene's own.
        port: of the Traffic Manager.
        clear_of: locations near which none starts.
    """
    library = world.get_blueprint_library()
    known = [carla_read.blueprint_facts(b) for b in library.filter("vehicle.*")]
    choices = traffic.choose_blueprints(plan.traffic.blueprints, known)
    places = _places(world, plan, rng, clear_of=clear_of)
    orders = traffic.order_vehicles(count=plan.traffic.vehicles, choices=choices, places=len(places), rng=rng)
    commands = []
    for order in orders:
        blueprint = library.find(order.blueprint)
        for name, value in order.attributes.items():
            if blueprint.has_attribute(name):
                blueprint.set_attribute(name, value)
        spawn = carla.command.SpawnActor(blueprint, places[order.place])
        commands.append(spawn.then(carla.command.SetAutopilot(carla.command.FutureActor, True, port)))
    return [int(r.actor_id) for r in client.apply_batch_sync(commands, False) if not r.error]


def spawn_walkers(
    client: Any, world: Any, plan: ScenePlan, rng: np.random.Generator, *, pass_a_tick: Callable[[], object]
) -> tuple[list[int], list[int]]:
    """Spawn a scene's walkers and let them walk; returns the ids of walkers and of their controllers."""
    library = world.get_blueprint_library()
    kinds = sorted(library.filter("walker.pedestrian.*"), key=lambda b: str(b.id))
    commands = []
    for _ in range(plan.traffic.walkers):
        place = world.get_random_location_from_navigation()
        blueprint = kinds[int(rng.integers(0, len(kinds)))]
        if place is not None:
            commands.append(carla.command.SpawnActor(blueprint, carla.Transform(place)))
    walkers = [int(r.actor_id) for r in client.apply_batch_sync(commands, False) if not r.error]
    brain = library.find("controller.ai.walker")
    commands = [carla.command.SpawnActor(brain, carla.Transform(), w) for w in walkers]
    controllers = [int(r.actor_id) for r in client.apply_batch_sync(commands, False) if not r.error]
    pass_a_tick()
    for controller in world.get_actors(controllers):
        controller.start()
        controller.go_to_location(world.get_random_location_from_navigation())
        controller.set_max_speed(float(rng.uniform(0.8, 1.8)))
    return walkers, controllers
