"""Find places for roadside units on a CARLA map."""

from typing import Final

import carla
import numpy as np

from uavsim.geometry import unreal
from uavsim.ingredients.roadside import Junction, RoadsidePlan, poles_at_junctions, standing
from uavsim.simulate.carla.spawning import SpawnContext, Spawned
from uavsim.typing import FloatArray

_WAYPOINT_SPACING_M: Final = 4.0
_BEFORE_M: Final = 2.0  # before the begin of a junction
_KERB_M: Final = 1.0
_MOST_LANES_RIGHT: Final = 10


def spawn(context: SpawnContext, record: RoadsidePlan) -> Spawned:
    """Find the places of the units; their sensors are spawned later, like the drones'.

    Raises:
        SceneVoid: the junctions on the swarm's path have no room for all units.
    """
    town, count = context.world.get_map(), len(record.agents) - len(record.at)
    poses = []
    for x, y, yaw_deg in record.at:
        z = town.get_waypoint(carla.Location(x, -y, 0.0)).transform.location.z
        poses.append(standing(np.array([x, y, z]), float(np.radians(yaw_deg)), pole_m=record.pole_m))
    if count:
        way_m = context.plan.swarm.map_SE3_flu.translation_m[:, 0]
        poses += poles_at_junctions(
            _junctions(town), way_m, count=count, pole_m=record.pole_m, within_m=record.within_m
        )
    return Spawned(agents=dict(zip(record.agents, poses, strict=True)))


def _junctions(town: carla.Map) -> list[Junction]:
    inside: dict[int, list[carla.Waypoint]] = {}
    for waypoint in town.generate_waypoints(_WAYPOINT_SPACING_M):
        if waypoint.is_junction:
            inside.setdefault(waypoint.junction_id, []).append(waypoint)
    found = []
    for _, waypoints in sorted(inside.items()):
        middle_m = np.mean([_position_m(w) for w in waypoints], axis=0)
        entries = [begin for begin, _ in waypoints[0].get_junction().get_waypoints(carla.LaneType.Driving)]
        beside = sorted({tuple(_beside(w).tolist()) for entry in entries for w in entry.previous(_BEFORE_M)})
        found.append(Junction(middle_m, np.array(beside, dtype=np.float64).reshape(-1, 3)))
    return found


def _beside(lane: carla.Waypoint) -> FloatArray:
    """Return (3,) the middle of the sidewalk right of a lane, or a place beyond the outermost lane's edge, map, metres."""
    right = lane
    for _ in range(_MOST_LANES_RIGHT):
        following = right.get_right_lane()
        if following is None:
            break
        right = following
        if right.lane_type == carla.LaneType.Sidewalk:
            return _position_m(right)
    across = np.radians(-right.transform.rotation.yaw - 90.0)  # the map's y is flipped
    off_m = right.lane_width / 2 + _KERB_M
    return np.round(_position_m(right) + off_m * np.array([np.cos(across), np.sin(across), 0.0]), 3)


def _position_m(waypoint: carla.Waypoint) -> FloatArray:
    origin = waypoint.transform.location
    return np.round(unreal.map_vector_from_ue(np.array([origin.x, origin.y, origin.z])), 3)
