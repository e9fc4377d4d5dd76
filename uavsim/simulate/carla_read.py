"""Read what CARLA's client hands out: its objects come in, our records go out. Imports no vendor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uavsim.geometry import quaternion, unreal
from uavsim.records.classes import VEHICLE_OF_TAG
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.simulate import traffic
from uavsim.typing import FloatArray

__all__ = [
    "NOTHING_PARKED",
    "Parked",
    "actor_info",
    "blueprint_facts",
    "lane_quads",
    "locations",
    "parked_vehicles",
    "snapshot_rows",
    "states_from_table",
    "with_parked",
]


def snapshot_rows(snapshot: Iterable[Any], instance_of: Mapping[int, int]) -> list[tuple[float, ...]]:
    """Return one row an actor that has an instance id: (instance, xyz, roll pitch yaw, v, w in deg/s, a), as sent."""
    rows: list[tuple[float, ...]] = []
    for actor in snapshot:
        instance = instance_of.get(actor.id)
        if instance is None:
            continue
        pose, v, w, a = (
            actor.get_transform(),
            actor.get_velocity(),
            actor.get_angular_velocity(),
            actor.get_acceleration(),
        )
        p, r = pose.location, pose.rotation
        rows.append((instance, p.x, p.y, p.z, r.roll, r.pitch, r.yaw, v.x, v.y, v.z, w.x, w.y, w.z, a.x, a.y, a.z))
    return rows


def states_from_table(table: FloatArray) -> ActorStates:
    """Convert rows (instance, xyz, roll pitch yaw, v, w in deg/s, a) of the simulator's frame."""
    euler_deg = table[:, 4:7]
    return ActorStates(
        instance_id=table[:, 0].astype(np.int64),
        map_t_actor_m=unreal.map_vector_from_ue(table[:, 1:4]),
        map_q_actor_wxyz=unreal.map_q_flu_from_ue_euler(euler_deg),
        map_euler_deg=euler_deg,
        velocity_map_mps=unreal.map_vector_from_ue(table[:, 7:10]),
        angular_velocity_map_radps=unreal.map_axial_from_ue(np.radians(table[:, 10:13])),
        acceleration_map_mps2=unreal.map_vector_from_ue(table[:, 13:16]),
    )


def actor_info(actor: Any, instance_id: int) -> ActorInfo:
    """Describe one actor; its bounding box is asked of the server."""
    box, kind = actor.bounding_box, str(actor.type_id).split(".")[0]
    offset = unreal.map_vector_from_ue(np.array([[box.location.x, box.location.y, box.location.z]]))[0]
    turn = unreal.map_q_flu_from_ue_euler(np.array([[box.rotation.roll, box.rotation.pitch, box.rotation.yaw]]))[0]
    return ActorInfo(
        instance_id=instance_id,
        simulator_actor_id=int(actor.id),
        kind="walker" if kind == "walker" else "vehicle",
        blueprint=str(actor.type_id),
        base_type=str(actor.attributes.get("base_type", "")),
        half_extent_m=(box.extent.x, box.extent.y, box.extent.z),
        actor_t_box_m=(float(offset[0]), float(offset[1]), float(offset[2])),
        actor_q_box_wxyz=(float(turn[0]), float(turn[1]), float(turn[2]), float(turn[3])),
        semantic_tag=int(actor.semantic_tags[0]) if actor.semantic_tags else 0,
        attributes={str(k): str(v) for k, v in sorted(actor.attributes.items())},
    )


def blueprint_facts(blueprint: Any) -> traffic.BlueprintFacts:
    """Describe one vehicle blueprint."""
    recommended = {
        name: tuple(str(v) for v in blueprint.get_attribute(name).recommended_values)
        for name in ("color", "driver_id")
        if blueprint.has_attribute(name)
    }
    wheels = int(blueprint.get_attribute("number_of_wheels"))
    base = str(blueprint.get_attribute("base_type")) if blueprint.has_attribute("base_type") else ""
    return traffic.BlueprintFacts(str(blueprint.id), wheels, base, recommended)


def locations(poses: Sequence[Any]) -> FloatArray:
    """Return (N, 3) locations of transforms, the simulator's frame."""
    return np.array([(p.location.x, p.location.y, p.location.z) for p in poses], dtype=np.float64).reshape(-1, 3)


def lane_quads(waypoints: Iterable[Any], *, length_m: float) -> FloatArray:
    """Return (N, 4, 2) map quadrilaterals, one a waypoint: its lane's width across, a little over ``length_m`` along."""
    rows = []
    for waypoint in waypoints:
        place, yaw = waypoint.transform.location, waypoint.transform.rotation.yaw
        rows.append((place.x, place.y, yaw, waypoint.lane_width))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    yaw_rad = np.radians(-table[:, 2])  # the map's y is flipped
    ahead = np.stack([np.cos(yaw_rad), np.sin(yaw_rad)], axis=1) * (0.6 * length_m)
    left = np.stack([-np.sin(yaw_rad), np.cos(yaw_rad)], axis=1) * table[:, 3:4] / 2
    centre = table[:, :2] * (1.0, -1.0)
    return np.stack(
        [centre + ahead + left, centre - ahead + left, centre - ahead - left, centre + ahead - left], axis=1
    )


@dataclass(frozen=True, slots=True, eq=False)
class Parked:
    """Vehicles that are part of the town: what they are and where they stand, rows sorted by instance id."""

    infos: tuple[ActorInfo, ...]
    states: ActorStates


_NONE = np.zeros((0, 3))
NOTHING_PARKED = Parked((), ActorStates(np.zeros(0, np.int64), _NONE, np.zeros((0, 4)), _NONE, _NONE, _NONE, _NONE))


def parked_vehicles(objects: Iterable[Any], *, first_instance_id: int) -> Parked:
    """Describe environment objects as standing vehicles, in the order of their names.

    A town's object has no origin that means anything, so the middle of its box's bottom stands for it. CARLA gives the
    box in world coordinates.
    """
    found = sorted(objects, key=lambda o: (str(o.name), int(o.id)))
    if not found:
        return NOTHING_PARKED
    boxes = [o.bounding_box for o in found]
    half = np.array([(b.extent.x, b.extent.y, b.extent.z) for b in boxes], dtype=np.float64)
    euler = np.array([(b.rotation.roll, b.rotation.pitch, b.rotation.yaw) for b in boxes], dtype=np.float64)
    centre = unreal.map_vector_from_ue(np.array([(b.location.x, b.location.y, b.location.z) for b in boxes]))
    q = unreal.map_q_flu_from_ue_euler(euler)
    below = np.zeros_like(half)
    below[:, 2] = half[:, 2]
    ids = np.arange(first_instance_id, first_instance_id + len(found), dtype=np.int64)
    infos = tuple(
        ActorInfo(
            instance_id=int(ids[row]),
            simulator_actor_id=0,
            kind="environment",
            blueprint=f"environment.{thing.name}",
            base_type=VEHICLE_OF_TAG.get(int(thing.type), ""),
            half_extent_m=(float(half[row, 0]), float(half[row, 1]), float(half[row, 2])),
            actor_t_box_m=(0.0, 0.0, float(half[row, 2])),
            actor_q_box_wxyz=(1.0, 0.0, 0.0, 0.0),
            semantic_tag=int(thing.type),
            attributes={"role_name": "parked"},
        )
        for row, thing in enumerate(found)
    )
    still = np.zeros((len(found), 3))
    states = ActorStates(ids, centre - quaternion.rotate(q, below), q, euler, still, still, still)
    return Parked(infos, states)


def with_parked(movers: ActorStates, parked: Parked) -> ActorStates:
    """Put the standing vehicles behind the moving ones; their instance ids are larger."""
    if not parked.infos:
        return movers
    columns = {
        name: np.concatenate([getattr(movers, name), getattr(parked.states, name)])
        for name in ActorStates.__dataclass_fields__
    }
    return ActorStates(**columns)
