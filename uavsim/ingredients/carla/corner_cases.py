"""Spawn corner cases in a CARLA world: find places on its map and spawn the actors.

Cases do not move: their actors have no physics and no driver, as in a replay.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias, cast

import carla
import numpy as np

from uavsim.errors import SimulatorError
from uavsim.geometry import unreal
from uavsim.ingredients.corner_cases.case_places import CasePlace, Eye, Lanes, eyes_of_plan, find_place
from uavsim.ingredients.corner_cases.case_plans import (
    SITE_REACH_M,
    CasePart,
    CornerCasePlan,
    CornerCasesPlan,
    Light,
    Site,
    part_of_role,
    part_poses,
    role_of_part,
)
from uavsim.maps.build import map_of_opendrive
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo
from uavsim.records.road_map import SITES, RoadMap
from uavsim.registry import nearest
from uavsim.simulate.carla.spawning import SpawnContext, Spawned
from uavsim.typing import FloatArray

__all__ = ["CASES_CLEAR_M", "PlacedCases", "WorldGround", "finish", "rows_on", "spawn"]

CASES_CLEAR_M: Final = 30.0
"""Least distance of a vehicle's start from a case: the traffic manager does not see props."""
_WAYPOINT_SPACING_M: Final = 2.0
_SPAWN_ABOVE_M: Final = 200.0  # free space; then the actor is moved to its place
_LOOK_ABOVE_M: Final = 14.0
_LOOK_BELOW_M: Final = 4.0
_LEVEL_M: Final = 0.08  # lower than a kerb
_BEFORE_M: Final = 1.0  # before the object: a nearer hit hides it
_DOOR_REACH_M: Final = 0.9
_MOST_REFUSALS: Final = 25
_MOST_LANES_RIGHT: Final = 6
_GROUND: Final = frozenset({0, 1, 2, 10, 24, 25})  # CARLA's tags: none, roads, sidewalks, terrain, road lines, ground
_LIGHTS: Final[dict[Light, int]] = {
    "position": 1,
    "low_beam": 2,
    "high_beam": 4,
    "brake": 8,
    "hazard": 16 | 32,
    "reverse": 64,
}


Row: TypeAlias = tuple[float, float, float, float, float]
"""x, y, z, yaw, width in the simulator's frame."""


class PlacedCases:
    """The cases of one scene in one world."""

    def __init__(self, client: carla.Client, world: carla.World, plan: ScenePlan, cases: CornerCasesPlan) -> None:
        """Store the plan's cases; place nothing yet."""
        self._client, self._world, self._plan = client, world, cases
        self._eyes: list[Eye] = eyes_of_plan(plan)
        self._lanes: dict[tuple[str, Site | None], Lanes] = {}
        self.places: list[CasePlace] = []

    def spawn(self) -> list[int]:
        """Place every case and spawn its parts; return the actors' ids in the order of cases and parts.

        Raises:
            SceneVoid: a case has no place.
            SimulatorError: the simulator lacks a blueprint, or refuses every place.
        """
        ids: list[int] = []
        for number, case in enumerate(self._plan.cases):
            ids += self._spawn_case(number, case)
        return ids

    def _spawn_case(self, number: int, case: CornerCasePlan) -> list[int]:
        refused_rows: frozenset[int] = frozenset()
        error = ""
        for _ in range(_MOST_REFUSALS):
            row, case_place = find_place(
                case,
                self.lanes_for(case.on, case.at),
                self._eyes,
                ground=WorldGround(self._world),
                taken=self.places,
                rng=np.random.default_rng([self._plan.seed, number]),
                refused=refused_rows,
            )
            ids, error = self._spawn_parts(number, case, case_place)
            if not error:
                self.places.append(case_place)
                return ids
            refused_rows |= {row}
        raise SimulatorError(f"corner case {case.name!r}: the simulator refused {_MOST_REFUSALS} places: {error}")

    def _spawn_parts(self, number: int, case: CornerCasePlan, case_place: CasePlace) -> tuple[list[int], str]:
        poses = part_poses(case.parts, case_place.map_SE3_case)
        ue_m = unreal.ue_vector_from_map(poses.translation_m)
        ue_deg = unreal.ue_euler_from_map_q_flu(poses.quat_wxyz)
        commands = []
        for k, part in enumerate(case.parts):
            x, y, z = ue_m[k].tolist()
            roll, pitch, yaw = ue_deg[k].tolist()
            rotation = carla.Rotation(pitch=pitch, yaw=yaw, roll=roll)
            spawn_pose = carla.Transform(carla.Location(x, y, z + _SPAWN_ABOVE_M), rotation)
            spawn = carla.command.SpawnActor(self._blueprint(part, role_of_part(number, k)), spawn_pose)
            spawn = spawn.then(carla.command.SetSimulatePhysics(carla.command.FutureActor, False))
            final_pose = carla.Transform(carla.Location(x, y, z), rotation)
            spawn = spawn.then(carla.command.ApplyTransform(carla.command.FutureActor, final_pose))
            if part.lights:
                bits = sum(_LIGHTS[light] for light in part.lights)
                spawn = spawn.then(carla.command.SetVehicleLightState(carla.command.FutureActor, bits))
            commands.append(spawn)
        replies = self._client.apply_batch_sync(commands, False)
        failed = [str(reply.error) for reply in replies if reply.error]
        ids = [int(reply.actor_id) for reply in replies if not reply.error]
        if failed:
            self._client.apply_batch_sync([carla.command.DestroyActor(i) for i in ids], False)
            return [], failed[0]
        return ids, ""

    def _blueprint(self, part: CasePart, role: str) -> carla.ActorBlueprint:
        library = self._world.get_blueprint_library()
        try:
            blueprint = library.find(part.blueprint)
        except (IndexError, RuntimeError) as error:
            guess = nearest(part.blueprint, [str(b.id) for b in library])
            hint = f"; the nearest it has is {guess!r}" if guess else ""
            raise SimulatorError(f"the simulator has no blueprint {part.blueprint!r}{hint}") from error
        for name, value in (*part.attributes.items(), ("role_name", role)):
            if blueprint.has_attribute(name):
                blueprint.set_attribute(name, value)
        return blueprint

    def lanes_for(self, on: str, at: Site | None) -> Lanes:
        """Return the places that the rule ``on`` of a case allows."""
        if (on, at) not in self._lanes:
            ways = self._world.get_map().generate_waypoints(_WAYPOINT_SPACING_M)
            rows = [row for way in ways if at is not None or not way.is_junction for row in rows_on(way, on)]
            table = np.array(sorted(set(rows)), dtype=np.float64).reshape(-1, 5)
            places_m = unreal.map_vector_from_ue(table[:, :3])
            if at is not None:
                roads = _roads(self._world.get_map().to_opendrive().encode())
                layer, having = SITES[at]
                near = roads.distance_m(places_m, layer, having=having) <= SITE_REACH_M
                places_m, table = places_m[near], table[near]
            self._lanes[on, at] = Lanes(
                places_m, np.radians(-table[:, 3]), np.asarray(table[:, 4] / 2), at_right_edge=on == "shoulder"
            )
        return self._lanes[on, at]


@lru_cache(maxsize=1)
def _roads(opendrive: bytes) -> RoadMap:
    """Return the vector map of a town, cached for all of its scenes."""
    return map_of_opendrive(opendrive, name="the simulator's town")


def rows_on(waypoint: carla.Waypoint, on: str) -> list[Row]:
    """Return (x, y, z, yaw, width) of the places of a rule beside or on a driving lane, in the simulator's frame.

    For ``shoulder``: the lane with the shoulder beside it (objects may reach into the lane), then the lane alone.
    """
    if on == "lane":
        return [_row(waypoint)]
    strips = _right_of(waypoint)
    if on == "sidewalk":
        return [_row(lane) for lane in strips if lane.lane_type == carla.LaneType.Sidewalk][:1]
    if any(lane.lane_type == carla.LaneType.Driving for lane in strips):
        return []
    beside = [lane for lane in strips[:1] if lane.lane_type in {carla.LaneType.Shoulder, carla.LaneType.Parking}]
    wider_m = sum(float(lane.lane_width) for lane in beside)
    x, y, z, yaw, width_m = _row(waypoint)
    across = np.radians(yaw + 90.0)
    x_m, y_m = x + wider_m / 2 * float(np.cos(across)), y + wider_m / 2 * float(np.sin(across))
    return [(x_m, y_m, z, yaw, width_m + wider_m), (x, y, z, yaw, width_m)]


def _right_of(waypoint: carla.Waypoint) -> list[carla.Waypoint]:
    """Return the lanes right of a lane, from the inside outward."""
    strips: list[carla.Waypoint] = []
    lane = waypoint.get_right_lane()
    while lane is not None and len(strips) < _MOST_LANES_RIGHT:
        strips.append(lane)
        lane = lane.get_right_lane()
    return strips


def _row(lane: carla.Waypoint) -> Row:
    origin, yaw = lane.transform.location, lane.transform.rotation.yaw
    x, y, z, yaw, width = (round(float(n), 3) for n in (origin.x, origin.y, origin.z, yaw, lane.lane_width))
    return x, y, z, yaw, width


class WorldGround:
    """The ground by CARLA's ray casts; implements ``SolidGround``."""

    def __init__(self, world: carla.World) -> None:
        """Store the world for ray casts."""
        self._world = world

    def level(self, points_m: FloatArray) -> float | None:
        """See ``SolidGround``."""
        heights_m = []
        for x, y, z in unreal.ue_vector_from_map(points_m).tolist():
            hits = self._world.cast_ray(
                carla.Location(x, y, z + _LOOK_ABOVE_M), carla.Location(x, y, z - _LOOK_BELOW_M)
            )
            if not hits or int(hits[0].label) not in _GROUND:
                return None
            heights_m.append(float(hits[0].location.z))
        if max(heights_m) - min(heights_m) > _LEVEL_M:
            return None
        return float(np.median(heights_m))

    def sees(self, eye_m: FloatArray, target_m: FloatArray) -> bool:
        """See ``SolidGround``."""
        start, end = unreal.ue_vector_from_map(np.stack([eye_m, target_m])).tolist()
        hits = self._world.cast_ray(carla.Location(*start), carla.Location(*end))
        away_m = float(np.linalg.norm(np.subtract(end, start)))
        return not hits or hits[0].location.distance(carla.Location(*start)) > away_m - _BEFORE_M


def spawn(context: SpawnContext, record: CornerCasesPlan) -> Spawned:
    """Spawn a scene's corner cases, and keep starting vehicles away from them.

    Raises:
        SceneVoid: a case has no place.
        SimulatorError: the simulator lacks a blueprint, or refuses every place.
    """
    cases = PlacedCases(context.client, context.world, context.plan, record)
    ids = cases.spawn()
    centres_ue_m = unreal.ue_vector_from_map(np.array([p.map_SE3_case.translation_m for p in cases.places]))
    context.kept_free += [(carla.Location(*centre), CASES_CLEAR_M) for centre in centres_ue_m.tolist()]
    return _Cases(actor_ids=ids)


@dataclass(slots=True, eq=False)
class _Cases(Spawned):
    def kind_of(self, actor: carla.Actor) -> str:
        """See ``Spawned``."""
        return "prop" if str(actor.type_id).startswith("static.") else "case_vehicle"


def finish(record: CornerCasesPlan, actor: carla.Actor, info: ActorInfo) -> ActorInfo:
    """Open the doors of a part with ``doors_open``, and extend its box: simulators report the closed vehicle's box."""
    part = _part(info.attributes.get("role_name", ""), record)
    if part is None or not part.doors_open:
        return info
    cast("carla.Vehicle", actor).open_door(carla.VehicleDoor.All)
    length, width, height = info.half_extent_m
    return replace(info, half_extent_m=(length, width + _DOOR_REACH_M, height))


def _part(role_name: str, plan: CornerCasesPlan) -> CasePart | None:
    """Return the part with this ``role_name``; None for actors of no case."""
    indices = part_of_role(role_name)
    if indices is None or indices[0] >= len(plan.cases) or indices[1] >= len(plan.cases[indices[0]].parts):
        return None
    return plan.cases[indices[0]].parts[indices[1]]
