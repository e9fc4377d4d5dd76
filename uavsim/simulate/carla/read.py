"""Convert objects of CARLA's client to our records."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import carla
import numpy as np

from uavsim.errors import MissedTick
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.typing import FloatArray

_LOCATION, _TURN = attrgetter("x", "y", "z"), attrgetter("roll", "pitch", "yaw")


def snapshot_rows(snapshot: Iterable[carla.ActorSnapshot], instance_of: Mapping[int, int]) -> FloatArray:
    """Convert a snapshot to a table.

    Args:
        snapshot: snapshot of a tick.
        instance_of: actor id -> instance id; other actors are left out.

    Returns:
        (N, 16) float64 rows sorted by instance id, in CARLA's frame: instance id, x y z (m), roll pitch yaw (degrees),
        velocity (m/s), angular velocity (degrees/s), acceleration (m/s2).
    """
    rows: list[tuple[float, ...]] = []
    for actor in snapshot:
        instance = instance_of.get(actor.id)
        if instance is None:
            continue
        pose = actor.get_transform()
        v, w, a = actor.get_velocity(), actor.get_angular_velocity(), actor.get_acceleration()
        rows.append((
            instance, *_LOCATION(pose.location), *_TURN(pose.rotation), *_LOCATION(v), *_LOCATION(w), *_LOCATION(a)
        ))  # fmt: skip
    return np.array(sorted(rows), dtype=np.float64).reshape(-1, 16)


def rows_of(snapshot: carla.WorldSnapshot, instance_of: Mapping[int, int], *, captured: bool) -> FloatArray:
    """Return the (N, 16) ``snapshot_rows`` of a tick.

    Raises:
        MissedTick: a pose, or a velocity of a captured tick, is not a number.
    """
    table = snapshot_rows(snapshot, instance_of)
    is_finite = np.isfinite(table[:, : None if captured else 7]).all(axis=1)
    if not is_finite.all():
        bad = int(table[~is_finite][0, 0])
        raise MissedTick(f"tick {snapshot.frame}: the pose of actor {bad} is not a number")
    return table


def states_from_table(table: FloatArray) -> ActorStates:
    """Convert the (N, 16) rows of ``snapshot_rows`` to actor states in the map frame."""
    ue_euler_deg = table[:, 4:7]
    return ActorStates(
        instance_id=table[:, 0].astype(np.int64),
        map_SE3_actor=unreal.map_SE3_flu_from_ue(table[:, 1:4], ue_euler_deg=ue_euler_deg),
        ue_euler_deg=ue_euler_deg,
        velocity_map_mps=unreal.map_vector_from_ue(table[:, 7:10]),
        angular_velocity_map_radps=unreal.map_axial_from_ue(np.radians(table[:, 10:13])),
        acceleration_map_mps2=unreal.map_vector_from_ue(table[:, 13:16]),
    )


def lazy_states(
    table: FloatArray, parked: Parked, *, proven: Sequence[Callable[[ActorStates], ActorStates]] = ()
) -> Callable[[], ActorStates]:
    """Return a function that computes the states of a tick at first use; most ticks need none.

    Args:
        table: (N, 16) of ``snapshot_rows``.
        parked: appended to the others.
        proven: checks that may correct the states; with any, the states are computed at once.
    """

    @functools.cache
    def states() -> ActorStates:
        movers = states_from_table(table)
        for check in proven:
            movers = check(movers)
        return with_parked(movers, parked)

    if proven:
        states()
    return states


def set_up(
    blueprint: carla.ActorBlueprint, attributes: Mapping[str, float], optional: Mapping[str, str]
) -> carla.ActorBlueprint:
    """Set a blueprint's attributes, and those of the optional ones that it has."""
    for name, value in attributes.items():
        blueprint.set_attribute(name, str(value))
    for name, text in optional.items():
        if blueprint.has_attribute(name):
            blueprint.set_attribute(name, text)
    return blueprint


def actor_info(actor: carla.Actor, instance_id: int, *, kind: str) -> ActorInfo:
    """Describe an actor; its bounding box is queried from the server.

    Some servers report boxes of two-wheelers at a non-finite position: such a box gets the size NaN and the actor's origin.
    """
    box = actor.bounding_box
    half_extent_m = (float(box.extent.x), float(box.extent.y), float(box.extent.z))
    centre_m = np.array([box.location.x, box.location.y, box.location.z], dtype=np.float64)
    if not np.isfinite(centre_m).all():
        half_extent_m, centre_m = (np.nan, np.nan, np.nan), np.zeros(3)
    turn_deg = np.array([box.rotation.roll, box.rotation.pitch, box.rotation.yaw], dtype=np.float64)
    return ActorInfo(
        instance_id=instance_id,
        simulator_actor_id=int(actor.id),
        kind=kind,
        blueprint=str(actor.type_id),
        base_type=str(actor.attributes.get("base_type", "")),
        half_extent_m=half_extent_m,
        actor_SE3_box=unreal.map_SE3_flu_from_ue(centre_m, ue_euler_deg=turn_deg),
        semantic_tag=int(actor.semantic_tags[0]) if actor.semantic_tags else 0,
        attributes={str(k): str(v) for k, v in sorted(actor.attributes.items())},
    )


def lane_quads(waypoints: Iterable[carla.Waypoint], *, length_m: float) -> FloatArray:
    """Return (N, 4, 2) quadrilaterals in the map frame, metres: each covers a waypoint's lane, a little over ``length_m``."""
    rows = []
    for waypoint in waypoints:
        location, yaw = waypoint.transform.location, waypoint.transform.rotation.yaw
        rows.append((location.x, location.y, yaw, waypoint.lane_width))
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
    """Vehicles that are part of the town, sorted by instance id."""

    infos: tuple[ActorInfo, ...]
    states: ActorStates


_NONE = np.zeros((0, 3))
NOTHING_PARKED = Parked((), ActorStates(np.zeros(0, np.int64), SE3.identity((0,)), _NONE, _NONE, _NONE, _NONE))


def with_parked(movers: ActorStates, parked: Parked) -> ActorStates:
    """Append the parked vehicles to the moving ones; their instance ids are larger."""
    if not parked.infos:
        return movers
    return _stacked(movers, parked.states)


def joined(first: Parked, second: Parked) -> Parked:
    """Concatenate two groups of parked vehicles."""
    if not first.infos or not second.infos:
        return first if first.infos else second
    return Parked(first.infos + second.infos, _stacked(first.states, second.states))


def _stacked(first: ActorStates, second: ActorStates) -> ActorStates:
    columns = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ActorStates.__dataclass_fields__
        if name != "map_SE3_actor"
    }
    return ActorStates(map_SE3_actor=SE3.concatenate([first.map_SE3_actor, second.map_SE3_actor]), **columns)


def to_leave_behind(found: carla.WorldSettings) -> carla.WorldSettings:
    """Return the settings to restore when a borrowed server is given back.

    A world in synchronous mode without a client was left by a killed client of ours without rendering: it gets asynchronous
    mode and rendering again.
    """
    if found.synchronous_mode:
        found.synchronous_mode, found.fixed_delta_seconds, found.no_rendering_mode = False, None, False
    return found
