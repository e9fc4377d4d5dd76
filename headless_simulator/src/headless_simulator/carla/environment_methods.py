"""RPC methods about the town itself: its objects, its boxes, rays through it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headless_simulator.carla import values
from headless_simulator.carla.registry import method
from headless_simulator.scene import StaticObject
from headless_simulator.world.scenery import MapLayer
from headless_simulator.world.table import VEHICLE, WALKER

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

ANY: Final = 255
_MOST_HITS: Final = 32
_PAST_M: Final = 0.01
_FARTHEST_M: Final = 10_000.0


def _box(thing: StaticObject) -> list[Any]:
    pitch, yaw, roll = thing.pose[3:]
    return [list(thing.box_centre_m), list(thing.box_half_m), [pitch, yaw, roll], 0]


@method("get_environment_objects")
def get_environment_objects(server: CarlaServer, tag: int) -> list[Any]:
    """Every static object of a tag (255: all): [transform, world box, id, name, tag]."""
    wanted = values.integer(tag)
    return [
        [values.pose_wire(thing.pose), _box(thing), thing.object_id, thing.name, thing.tag]
        for thing in server.world.scenery.listed
        if wanted in (ANY, thing.tag)
    ]


@method("get_all_level_BBs")
def get_all_level_BBs(server: CarlaServer, tag: int) -> list[Any]:  # the wire's own name
    """World boxes of everything of a tag: static objects, vehicles and walkers."""
    wanted = values.integer(tag)
    world = server.world
    boxes = [_box(thing) for thing in world.scenery.present if wanted in (ANY, thing.tag)]
    for actor in world.actors.values():
        if actor.kind in (VEHICLE, WALKER) and wanted in (ANY, actor.tag):
            pose = world.table.c.pose[actor.row].tolist()
            centre = [a + b for a, b in zip(pose[:3], (0.0, 0.0, actor.offset_m[2]), strict=True)]
            boxes.append([centre, list(actor.half_m), pose[3:6], actor.actor_id])
    return boxes


@method("get_names_of_all_objects")
def get_names_of_all_objects(server: CarlaServer) -> list[str]:
    """Names of all static objects."""
    return [thing.name for thing in server.world.scenery.listed]


@method("enable_environment_objects", void=True)
def enable_environment_objects(server: CarlaServer, object_ids: list[int], on: bool) -> None:
    """Show or hide static objects."""
    numbers = [values.integer(number) for number in object_ids]
    (server.world.scenery.show if values.flag(on) else server.world.scenery.hide)(numbers)


@method("load_map_layer", void=True)
def load_map_layer(server: CarlaServer, layers: int) -> None:
    """Bring back what ``unload_map_layer`` took."""
    server.world.scenery.load(_layers(layers))


@method("unload_map_layer", void=True)
def unload_map_layer(server: CarlaServer, layers: int) -> None:
    """Take out all static objects of some layers."""
    server.world.scenery.unload(_layers(layers))


def _layers(layers: int) -> MapLayer:
    return MapLayer(values.integer(layers) & MapLayer.ALL)


def _first_hit(server: CarlaServer, origin: Any, direction: Any, reach_m: float) -> tuple[float, int] | None:
    world = server.world
    distance_m, _, tag, _ = world.renderer.cast(origin, direction[None], reach_m, world.movers())
    return (float(distance_m[0]), int(tag[0])) if np.isfinite(distance_m[0]) else None


@method("cast_ray")
def cast_ray(server: CarlaServer, start: list[float], end: list[float]) -> list[Any]:
    """Everything between two points, from near to far: [[location, tag]]."""
    origin, target = np.array(values.vector(start)), np.array(values.vector(end))
    reach_m = float(np.linalg.norm(target - origin))
    hits: list[Any] = []
    if reach_m == 0:
        return hits
    direction, gone_m = (target - origin) / reach_m, 0.0
    while len(hits) < _MOST_HITS and gone_m < reach_m:
        found = _first_hit(server, origin + direction * gone_m, direction, reach_m - gone_m)
        if found is None:
            break
        gone_m += found[0]
        hits.append([(origin + direction * gone_m).tolist(), found[1]])
        gone_m += _PAST_M
    return hits


@method("project_point")
def project_point(server: CarlaServer, start: list[float], direction: list[float], reach_m: float) -> list[Any]:
    """What is first met from a point in a direction: [found, [location, tag]]."""
    origin, along = np.array(values.vector(start)), np.array(values.vector(direction))
    length, reach = float(np.linalg.norm(along)), min(values.number(reach_m), _FARTHEST_M)
    found = _first_hit(server, origin, along / length, reach) if length > 0 and reach > 0 else None
    if found is None:
        return [False, [[0.0, 0.0, 0.0], 0]]
    return [True, [(origin + along / length * found[0]).tolist(), found[1]]]
