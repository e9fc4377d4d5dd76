"""Calls about scene objects: names, poses, segmentation ids, spawning, lines of sight."""

# ruff: noqa: PLR0917, ARG001  (the wire sends anything, in AirSim's own names and order)

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from headless_simulator.airsim import geo
from headless_simulator.airsim.host import Pose6
from headless_simulator.airsim.imaging import DEPTH_PLANAR, ImageRequest
from headless_simulator.airsim.methods.table import Table, entry, finite_pose, text, whole
from headless_simulator.airsim.ned import (
    NAN_POSE,
    Vec3,
    add,
    flip_z,
    ned_pose,
    pose_of,
    quat_unit,
    ue_pose,
    vector_of,
)
from headless_simulator.airsim.objects import compile_pattern
from headless_simulator.airsim.settings import Capture
from headless_simulator.airsim.simulation import Simulation

CALLS: Final[Table] = {}
MAX_SPAWNED: Final = 10_000
MAX_NAME: Final = 200
STAND_INS: Final = {"1M_Cube_Chamfer": "static.prop.creasedbox01", "Cube": "static.prop.creasedbox01"}
RAY: Final = Capture(9, 9, 1.0)
UNIT: Final = {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0}
ZERO: Final = {"x_val": 0.0, "y_val": 0.0, "z_val": 0.0}


@entry(CALLS)
def simListSceneObjects(sim: Simulation, name_regex: Any = ".*") -> list[str]:
    """Name the objects that match."""
    pattern = compile_pattern(text(name_regex, "name_regex"))
    with sim.object_lock:
        return [name for name in sim.objects.names() if pattern.fullmatch(name)]


@entry(CALLS)
def simGetObjectPose(sim: Simulation, object_name: Any, ned: Any = True) -> dict[str, Any]:
    """Give a pose in global NED; NaN when there is no such object."""
    name = text(object_name, "object_name")
    with sim.fleet.lock, sim.object_lock:
        drone = sim.fleet.drones.get(name)
        pose = sim.ue_pose_of(drone) if drone else sim.objects.pose(name)
    return sim.global_pose_map(pose) if pose else NAN_POSE


@entry(CALLS)
def simSetObjectPose(sim: Simulation, object_name: Any, pose: Any, teleport: Any = True) -> bool:
    """Move an object to a pose in global NED, NaN parts stay; False for what is not there or cannot be moved."""
    position, quat = pose_of(pose)
    name = text(object_name, "object_name")
    with sim.fleet.lock, sim.object_lock:
        drone = sim.fleet.drones.get(name)
        if drone:
            start = drone.spawn_ue_m
            ue = add(sim.player_start_m, flip_z(position))
            drone.place((ue[0] - start[0], ue[1] - start[1], start[2] - ue[2]), quat)
            return True
        now = sim.objects.pose(name)
        if now is None:
            return False
        old_position, old_quat = ned_pose(now, origin_ue_m=sim.player_start_m)
        kept = position if all(map(math.isfinite, position)) else old_position
        return sim.objects.place(name, _ue(sim, kept, quat if all(map(math.isfinite, quat)) else old_quat))


def _ue(sim: Simulation, position: Vec3, quat: Any) -> Pose6:
    return ue_pose(position, quat_unit(quat), origin_ue_m=sim.player_start_m)


@entry(CALLS)
def simGetObjectScale(sim: Simulation, object_name: Any) -> dict[str, float]:
    """Give an object's scale, which is 1; 0 when there is no such object."""
    with sim.object_lock:
        return UNIT if sim.objects.pose(text(object_name, "object_name")) else ZERO


@entry(CALLS)
def simSetObjectScale(sim: Simulation, object_name: Any, scale: Any) -> bool:
    """Accept a scale of 1; other sizes are not drawn."""
    with sim.object_lock:
        known = sim.objects.pose(text(object_name, "object_name")) is not None
    return known and all(math.isclose(part, 1.0) for part in vector_of(scale))


@entry(CALLS)
def simListAssets(sim: Simulation) -> list[str]:
    """Name what can be spawned: the blueprint ids of the models, and AirSim's own cube."""
    known = list(getattr(sim.host.models, "blueprints", ()))
    return known + [name for name, model in STAND_INS.items() if model in known]


@entry(CALLS)
def simSpawnObject(
    sim: Simulation, object_name: Any, asset_name: Any, pose: Any, scale: Any,
    physics_enabled: Any = False, is_blueprint: Any = False,
) -> str:  # fmt: skip
    """Put a model into AirSim's images; gives the name it got."""
    position, quat = finite_pose(pose)
    name, asset = text(object_name, "object_name")[:MAX_NAME], text(asset_name, "asset_name")
    asset = STAND_INS.get(asset, asset)
    sim.host.models.number(asset)  # raises for an unknown one, naming the nearest
    with sim.object_lock:
        if len(sim.objects.spawned) >= MAX_SPAWNED:
            raise ValueError(f"{MAX_SPAWNED} objects are spawned already: destroy some")
        return sim.objects.spawn(name, asset, _ue(sim, position, quat), vector_of(scale))


@entry(CALLS)
def simDestroyObject(sim: Simulation, object_name: Any) -> bool:
    """Remove what was spawned here."""
    with sim.object_lock:
        return sim.objects.destroy(text(object_name, "object_name"))


@entry(CALLS)
def simSetSegmentationObjectID(sim: Simulation, mesh_name: Any, object_id: Any, is_name_regex: Any = False) -> bool:
    """Give a segmentation id to one object or to all that match."""
    name, number = text(mesh_name, "mesh_name"), whole(object_id, "object_id")
    with sim.object_lock:
        return sim.objects.set_segmentation(name, number, is_regex=bool(is_name_regex))


@entry(CALLS)
def simGetSegmentationObjectID(sim: Simulation, mesh_name: Any) -> int:
    """Give an object's segmentation id; -1 when it is hidden or not there."""
    name = text(mesh_name, "mesh_name")
    with sim.object_lock:
        return sim.objects.segmentation_id(name) if name in sim.objects.names() else -1


# ---- lines of sight --------------------------------------------------------------------------------------------------


def _geo(value: Any) -> geo.Geo:
    if not isinstance(value, dict):
        raise ValueError("expected a GeoPoint: a map with latitude, longitude, altitude")
    parts = tuple(value.get(key) for key in ("latitude", "longitude", "altitude"))
    if not all(isinstance(part, int | float) and math.isfinite(part) for part in parts):
        raise ValueError("expected a GeoPoint: latitude, longitude and altitude must be finite numbers")
    return float(parts[0]), float(parts[1]), float(parts[2])  # type: ignore[arg-type]


def _visible(sim: Simulation, eye: Vec3, target: Vec3, *, without: int = 0) -> bool:
    """Say whether nothing of the world stands between two points (Unreal's axes)."""
    way = np.array(target) - np.array(eye)
    distance = float(np.linalg.norm(way))
    if distance < 1e-3:
        return True
    yaw, pitch = math.degrees(math.atan2(way[1], way[0])), math.degrees(math.asin(way[2] / distance))
    request = ImageRequest((*eye, pitch, yaw, 0.0), RAY, DEPTH_PLANAR, as_float=True, compress=False, without=without)
    with sim.fleet.lock:
        drones = sim.drone_movers()
    image, _ = sim.image_capture.render(request, drones)
    return bool(image.depth_m[RAY.height_px // 2, RAY.width_px // 2] >= distance - 0.05)


def _place(sim: Simulation, value: Any) -> Vec3:
    return add(sim.player_start_m, flip_z(geo.ned_from_geo(_geo(value), sim.settings.origin_geo)))


@entry(CALLS)
def simTestLineOfSightToPoint(sim: Simulation, point: Any, vehicle: Any = "") -> bool:
    """Say whether the vehicle sees a place."""
    target = _place(sim, point)
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle)
        eye, without = add(drone.spawn_ue_m, flip_z(drone.position_m)), sim.number_of(drone)
    return _visible(sim, eye, target, without=without)


@entry(CALLS)
def simTestLineOfSightBetweenPoints(sim: Simulation, point1: Any, point2: Any) -> bool:
    """Say whether two places see each other."""
    return _visible(sim, _place(sim, point1), _place(sim, point2))


@entry(CALLS)
def simGetWorldExtents(sim: Simulation) -> list[dict[str, float]]:
    """Give the town's lowest and highest corner."""
    vertices = sim.host.town.mesh.vertices_m
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    corners = [sim.geo_of((float(x), float(y), float(z))) for x, y, z in (low, high)]
    return [geo.geo_map(corner) for corner in corners]
