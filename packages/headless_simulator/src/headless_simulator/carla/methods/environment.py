"""Methods about the town: objects, boxes, ray casts."""

import math
from typing import Any, Final

import numpy as np

from headless_simulator.carla.method import CarlaMethod, declared
from headless_simulator.carla.values import MeanColour, Vector, static_box_wire
from headless_simulator.rpc.arguments import Flag, Integer, Integers, Names, Number
from headless_simulator.scene import TAG, Town
from headless_simulator.world.scenery import MapLayer
from headless_simulator.world.table import VEHICLE, WALKER
from headless_simulator.world.world import World

ANY: Final = 255
DIFFUSE: Final = 2  # of carla.MaterialParameter
_MOST_HITS: Final = 32
_PAST_M: Final = 0.01
_PIECE_M: Final = 50.0
_FARTHEST_M: Final = 1e7
_AROUND_M: Final = 200.0


def get_all_level_BBs(world: World, tag: Integer) -> list[Any]:  # the wire's own name
    """Return world boxes of a tag: static objects, pieces of ground surfaces, vehicles and walkers."""
    boxes = [static_box_wire(item) for item in world.scenery.present if tag in (ANY, item.tag)]
    for low, high in _surface_pieces(world.town, tag):
        boxes.append([((low + high) / 2).tolist(), ((high - low) / 2).tolist(), [0.0, 0.0, 0.0], 0])
    for actor in world.actors.values():
        if actor.kind in (VEHICLE, WALKER) and tag in (ANY, actor.tag):
            pose = world.table.c.pose[actor.row].tolist()
            centre = [a + b for a, b in zip(pose[:3], (0.0, 0.0, actor.offset_m[2]), strict=True)]
            boxes.append([centre, list(actor.half_m), pose[3:6], actor.actor_id])
    return boxes


def _surface_pieces(town: Town, tag: int) -> list[tuple[Any, Any]]:
    """Return lowest and highest corners of ground surfaces with a tag, in squares of ``_PIECE_M``; without terrain."""
    mesh = town.mesh
    is_selected = (mesh.object_id == 0) & (mesh.tag != TAG["terrain"]) & ((mesh.tag == tag) | (tag == ANY))
    corners = mesh.vertices_m[mesh.triangles[is_selected]].astype(np.float64)
    squares = np.floor(corners[:, :, :2].mean(axis=1) / _PIECE_M).astype(np.int64)
    key = np.column_stack([mesh.tag[is_selected].astype(np.int64), squares])
    _, piece = np.unique(key, axis=0, return_inverse=True)
    low, high = np.full((piece.max(initial=-1) + 1, 3), np.inf), np.full((piece.max(initial=-1) + 1, 3), -np.inf)
    np.minimum.at(low, piece, corners.min(axis=1))
    np.maximum.at(high, piece, corners.max(axis=1))
    return list(zip(low, high, strict=True))


def get_names_of_all_objects(world: World) -> list[str]:
    """Return the names of all static objects."""
    return [item.name for item in world.scenery.listed]


def enable_environment_objects(world: World, object_ids: Integers, on: Flag) -> None:
    """Show or hide static objects."""
    (world.scenery.show if on else world.scenery.hide)(object_ids)


def apply_color_texture_to_objects(world: World, names: Names, parameter: Integer, texture: MeanColour) -> None:
    """Paint static objects in the mean colour of a diffuse texture, because surfaces have a single colour here."""
    if parameter == DIFFUSE:
        world.scenery.paint(names, texture)


def load_map_layer(world: World, layers: Integer) -> None:
    """Restore the objects that ``unload_map_layer`` removed."""
    world.scenery.load(_layers(layers))


def unload_map_layer(world: World, layers: Integer) -> None:
    """Remove all static objects of the given layers."""
    world.scenery.unload(_layers(layers))


def _layers(layers: int) -> MapLayer:
    return MapLayer(layers & MapLayer.ALL)


def _first_hit(world: World, origin: Any, direction: Any, reach_m: float) -> tuple[float, int] | None:
    """Return distance, metres, and tag of a ray's first hit; a distant ray starts where it approaches the town."""
    skipped_m = _distance_before_town(world, origin, direction) if np.abs(origin).max() > _AROUND_M else 0.0
    if skipped_m >= reach_m:
        return None
    start = origin + direction * skipped_m
    distance_m, _, tag, _ = world.renderer.cast(start, direction[None], reach_m - skipped_m, world.movers())
    return (skipped_m + float(distance_m[0]), int(tag[0])) if np.isfinite(distance_m[0]) else None


def _distance_before_town(world: World, origin: Any, direction: Any) -> float:
    """Return a ray's distance, metres, before it comes within ``_AROUND_M`` of the town; infinite if it never does."""
    point_sets = [points for points in (world.town.mesh.vertices_m, world.movers().pose[:, :3]) if len(points)]
    if not point_sets:
        return math.inf
    low = np.min([points.min(axis=0) for points in point_sets], axis=0) - _AROUND_M
    high = np.max([points.max(axis=0) for points in point_sets], axis=0) + _AROUND_M
    along = np.where(direction == 0.0, 1e-300, direction)
    to_low, to_high = (low - origin) / along, (high - origin) / along
    enter, leave = float(np.minimum(to_low, to_high).max()), float(np.maximum(to_low, to_high).min())
    return max(enter, 0.0) if leave >= max(enter, 0.0) else math.inf


def cast_ray(world: World, start: Vector, end: Vector) -> list[Any]:
    """Return all hits between two points, metres, near to far: [[location, tag]]."""
    origin, target = np.array(start), np.array(end)
    reach_m = float(np.linalg.norm(target - origin))
    hits: list[Any] = []
    if reach_m == 0:
        return hits
    direction, passed_m = (target - origin) / reach_m, 0.0
    while len(hits) < _MOST_HITS and passed_m < reach_m:
        found = _first_hit(world, origin + direction * passed_m, direction, reach_m - passed_m)
        if found is None:
            break
        passed_m += found[0]
        hits.append([(origin + direction * passed_m).tolist(), found[1]])
        passed_m += _PAST_M
    return hits


def project_point(world: World, start: Vector, direction: Vector, reach_m: Number) -> list[Any]:
    """Return the first hit from a point in a direction: [found, [location, tag]]."""
    origin, along = np.array(start), np.array(direction)
    length, reach = float(np.linalg.norm(along)), min(reach_m, _FARTHEST_M)
    found = _first_hit(world, origin, along / length, reach) if length > 0 and reach > 0 else None
    if found is None:
        return [False, [[0.0, 0.0, 0.0], 0]]
    return [True, [(origin + along / length * found[0]).tolist(), found[1]]]


METHODS: Final[tuple[CarlaMethod[World], ...]] = declared(__name__)
