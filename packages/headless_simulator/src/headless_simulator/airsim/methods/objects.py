"""Methods about scene objects: names, poses, segmentation ids, spawning, lines of sight."""

import math
from typing import Any, Final

import numpy as np

from headless_simulator.airsim import geo
from headless_simulator.airsim.host import Pose6
from headless_simulator.airsim.imaging import DEPTH_PLANAR, ImageRequest
from headless_simulator.airsim.method import AirSimMethod, declared
from headless_simulator.airsim.ned import (
    NAN_POSE,
    Vec3,
    add,
    flip_z,
    ned_pose,
    quat_unit,
    ue_pose,
    vector_map,
)
from headless_simulator.airsim.objects import UNIT
from headless_simulator.airsim.patterns import Pattern
from headless_simulator.airsim.settings import Capture
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.airsim.values import FinitePose, GeoPoint, Pose, Vector3r
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Anything, Flag, Integer, Text

MAX_SPAWNED: Final = 10_000
MAX_NAME: Final = 200
STAND_INS: Final = {"1M_Cube_Chamfer": "static.prop.creasedbox01", "Cube": "static.prop.creasedbox01"}
RAY: Final = Capture(9, 9, 1.0)


def simListSceneObjects(sim: Simulation, name_regex: Text = ".*") -> list[str]:
    """List the names of matching objects."""
    pattern = Pattern(name_regex)
    with sim.object_lock:
        names = sim.objects.names()
    return [name for name in names if pattern.fits(name)]


def simGetObjectPose(sim: Simulation, object_name: Text, _ned: Anything = True) -> dict[str, Any]:
    """Return an object's pose in global NED; NaN if it does not exist."""
    with sim.fleet.lock, sim.object_lock:
        drone = sim.fleet.drones.get(object_name)
        pose = sim.ue_pose_of(drone) if drone else sim.objects.pose(object_name)
    return sim.global_pose_map(pose) if pose else NAN_POSE


def simSetObjectPose(sim: Simulation, object_name: Text, pose: Pose, _teleport: Anything = True) -> bool:
    """Move an object to a pose in global NED; NaN parts stay. False if the object is absent or static."""
    position, quat = pose
    with sim.fleet.lock, sim.object_lock:
        drone = sim.fleet.drones.get(object_name)
        if drone:
            start = drone.spawn_ue_m
            ue = add(sim.player_start_m, flip_z(position))
            drone.teleport((ue[0] - start[0], ue[1] - start[1], start[2] - ue[2]), quat)
            return True
        now = sim.objects.pose(object_name)
        if now is None:
            return False
        old_position, old_quat = ned_pose(now, origin_ue_m=sim.player_start_m)
        new_position = position if all(map(math.isfinite, position)) else old_position
        return sim.objects.set_pose(
            object_name, _ue(sim, new_position, quat if all(map(math.isfinite, quat)) else old_quat)
        )


def _ue(sim: Simulation, position: Vec3, quat: Any) -> Pose6:
    return ue_pose(position, quat_unit(quat), origin_ue_m=sim.player_start_m)


def simGetObjectScale(sim: Simulation, object_name: Text) -> dict[str, float]:
    """Return an object's scale; 0 if it does not exist."""
    with sim.object_lock:
        return vector_map(sim.objects.scale(object_name) or (0.0, 0.0, 0.0))


def simSetObjectScale(sim: Simulation, object_name: Text, scale: Vector3r) -> bool:
    """Scale an object that AirSim spawned; for any other object, False unless the scale is its own."""
    with sim.object_lock:
        return sim.objects.resize(object_name, scale)


def simListAssets(sim: Simulation) -> list[str]:
    """List spawnable assets: the models' blueprint ids and AirSim's cube."""
    known = list(getattr(sim.host.models, "blueprints", ()))
    return known + [name for name, model in STAND_INS.items() if model in known]


def simSpawnObject(  # noqa: PLR0917  (in the wire's order)
    sim: Simulation,
    object_name: Text,
    asset_name: Text,
    pose: FinitePose,
    scale: Vector3r,
    _physics_enabled: Anything = False,
    is_blueprint: Flag = False,
) -> str:
    """Spawn a model in AirSim's images; returns its name. As in AirSim, a blueprint has scale 1 only."""
    position, quat = pose
    asset = STAND_INS.get(asset_name, asset_name)
    with sim.object_lock:
        if len(sim.objects.spawned) >= MAX_SPAWNED:
            raise CallRefused(f"{MAX_SPAWNED} objects are spawned already: destroy some")
        return sim.objects.spawn(
            object_name[:MAX_NAME], asset, _ue(sim, position, quat), UNIT if is_blueprint else scale
        )


def simDestroyObject(sim: Simulation, object_name: Text) -> bool:
    """Remove an object spawned through this port."""
    with sim.object_lock:
        return sim.objects.destroy(object_name)


def simSetSegmentationObjectID(
    sim: Simulation, mesh_name: Text, object_id: Integer, is_name_regex: Flag = False
) -> bool:
    """Set the segmentation id of one object or of all that match."""
    with sim.object_lock:
        return sim.objects.set_segmentation(mesh_name, object_id, is_regex=is_name_regex)


def simGetSegmentationObjectID(sim: Simulation, mesh_name: Text) -> int:
    """Return an object's segmentation id; -1 if it is hidden or does not exist."""
    with sim.object_lock:
        return sim.objects.segmentation_id(mesh_name) if mesh_name in sim.objects.names() else -1


# ---- lines of sight --------------------------------------------------------------------------------------------------


def _visible(sim: Simulation, eye: Vec3, target: Vec3, *, without: int = 0) -> bool:
    """Check the line of sight between two points (Unreal's axes, metres)."""
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


def _ue_point(sim: Simulation, point: geo.Geo) -> Vec3:
    return add(sim.player_start_m, flip_z(geo.ned_from_geo(point, sim.settings.origin_geo)))


def simTestLineOfSightToPoint(sim: Simulation, point: GeoPoint, vehicle_name: Text = "") -> bool:
    """Check the line of sight from the vehicle to a geographic point."""
    target = _ue_point(sim, point)
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        eye, without = add(drone.spawn_ue_m, flip_z(drone.position_m)), sim.number_of(drone)
    return _visible(sim, eye, target, without=without)


def simTestLineOfSightBetweenPoints(sim: Simulation, point1: GeoPoint, point2: GeoPoint) -> bool:
    """Check the line of sight between two geographic points."""
    return _visible(sim, _ue_point(sim, point1), _ue_point(sim, point2))


def simGetWorldExtents(sim: Simulation) -> list[dict[str, float]]:
    """Return the geographic positions of the town's lowest and highest corner."""
    vertices = sim.host.town.mesh.vertices_m
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    corners = [sim.geo_of((float(x), float(y), float(z))) for x, y, z in (low, high)]
    return [geo.geo_map(corner) for corner in corners]


METHODS: Final[tuple[AirSimMethod, ...]] = declared(__name__)
