"""An actor's components, bones and sockets; the sockets are the bones.

Unreal's blueprints have more components than these; an unlisted name is refused, as in CARLA.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from headless_simulator.carla.method import CarlaMethod, call
from headless_simulator.carla.values import ActorId, pose_wire
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Text
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import HOME, Pose6, compose
from headless_simulator.world.table import VEHICLE, WALKER
from headless_simulator.world.world import World

Parts: TypeAlias = dict[str, Pose6]  # poses in the actor's own frame
_WHEEL_M: Final = 0.35  # height of an axle
_NARROW_M: Final = 0.5  # half width below which a vehicle has two wheels
# share of the half extents (x, y, z) at which a walker's joint is
_BONES: Final[dict[str, tuple[float, float, float]]] = {
    "crl_root": (0.0, 0.0, -1.0), "crl_hips__C": (0.0, 0.0, 0.05), "crl_spine__C": (0.0, 0.0, 0.2),
    "crl_spine01__C": (0.0, 0.0, 0.4), "crl_neck__C": (0.0, 0.0, 0.65), "crl_Head__C": (0.0, 0.0, 0.75),
    "crl_eye__L": (0.3, -0.1, 0.85), "crl_eye__R": (0.3, 0.1, 0.85),
    "crl_shoulder__L": (0.0, -0.4, 0.6), "crl_shoulder__R": (0.0, 0.4, 0.6),
    "crl_arm__L": (0.0, -0.7, 0.58), "crl_arm__R": (0.0, 0.7, 0.58),
    "crl_foreArm__L": (0.0, -0.8, 0.28), "crl_foreArm__R": (0.0, 0.8, 0.28),
    "crl_hand__L": (0.1, -0.85, 0.0), "crl_hand__R": (0.1, 0.85, 0.0),
    "crl_thigh__L": (0.0, -0.35, 0.0), "crl_thigh__R": (0.0, 0.35, 0.0),
    "crl_leg__L": (0.0, -0.35, -0.45), "crl_leg__R": (0.0, 0.35, -0.45),
    "crl_foot__L": (0.0, -0.35, -0.9), "crl_foot__R": (0.0, 0.35, -0.9),
    "crl_toe__L": (0.4, -0.35, -0.98), "crl_toe__R": (0.4, 0.35, -0.98),
}  # fmt: skip


def _components(_world: World, actor: Actor) -> Parts:
    if actor.kind == VEHICLE:
        return {"VehicleMesh": HOME, "VehicleBounds": (*actor.offset_m, 0.0, 0.0, 0.0)}
    if actor.kind == WALKER:  # Unreal's characters look along y, and stand below the middle of their capsule
        return {"CollisionCylinder": HOME, "CharacterMesh0": (0.0, 0.0, -actor.half_m[2], 0.0, -90.0, 0.0)}
    return {"DefaultSceneRoot": HOME}


def _bones(world: World, actor: Actor) -> Parts:
    if actor.kind == WALKER:
        x, y, z = actor.half_m
        return {name: (a * x, b * y, c * z, 0.0, 0.0, 0.0) for name, (a, b, c) in _BONES.items()}
    if actor.kind == VEHICLE:
        return {"Vehicle_Base": HOME, **_wheels(world, actor)}
    return {}


def _wheels(world: World, actor: Actor) -> Parts:
    c = world.table.c
    reach_m, steer_deg = 0.5 * float(c.wheelbase[actor.row]), math.degrees(float(c.steer[actor.row]))
    side_m, height_m = 0.8 * actor.half_m[1], _WHEEL_M
    if actor.half_m[1] < _NARROW_M:
        return {
            "Wheel_Front": (reach_m, 0.0, height_m, 0.0, steer_deg, 0.0),
            "Wheel_Rear": (-reach_m, 0.0, height_m, 0.0, 0.0, 0.0),
        }
    return {
        "Wheel_Front_Left": (reach_m, -side_m, height_m, 0.0, steer_deg, 0.0),
        "Wheel_Front_Right": (reach_m, side_m, height_m, 0.0, steer_deg, 0.0),
        "Wheel_Rear_Left": (-reach_m, -side_m, height_m, 0.0, 0.0, 0.0),
        "Wheel_Rear_Right": (-reach_m, side_m, height_m, 0.0, 0.0, 0.0),
    }


def _in_world(world: World, actor: Actor, part: Pose6) -> list[list[float]]:
    return pose_wire(compose(world.table.c.pose[actor.row], np.array(part)).tolist())


def _component(world: World, actor: Actor, name: str) -> Pose6:
    parts = _components(world, actor)
    if name not in parts:
        raise CallRefused(f"Component Not Found. Component Name: {name}; {actor.blueprint} has {', '.join(parts)}")
    return parts[name]


def get_actor_component_names(world: World, actor_id: ActorId) -> list[str]:
    """Return the names of an actor's components."""
    return list(_components(world, world.actor(actor_id)))


def get_actor_component_world_transform(world: World, actor_id: ActorId, name: Text) -> list[Any]:
    """Return a component's pose in the world (Unreal's axes, metres, degrees)."""
    actor = world.actor(actor_id)
    return _in_world(world, actor, _component(world, actor, name))


def get_actor_component_relative_transform(world: World, actor_id: ActorId, name: Text) -> list[Any]:
    """Return a component's pose in the actor's frame (metres, degrees)."""
    return pose_wire(_component(world, world.actor(actor_id), name))


def _bone_names(world: World, actor_id: ActorId) -> list[str]:
    return list(_bones(world, world.actor(actor_id)))


def _bones_in_world(world: World, actor_id: ActorId) -> list[Any]:
    actor = world.actor(actor_id)
    return [_in_world(world, actor, part) for part in _bones(world, actor).values()]


def _bones_in_actor(world: World, actor_id: ActorId) -> list[Any]:
    return [pose_wire(part) for part in _bones(world, world.actor(actor_id)).values()]


def get_bones_transform(world: World, actor_id: ActorId) -> list[Any]:
    """Return [[name, world, component, relative]] of a walker's bones."""
    columns: list[Callable[[World, ActorId], list[Any]]] = [_bone_names, _bones_in_world, _bones_in_actor]
    names, in_world, in_actor = (column(world, actor_id) for column in columns)
    return [[[name, w, r, r] for name, w, r in zip(names, in_world, in_actor, strict=True)]]


def _methods() -> Iterator[CarlaMethod[World]]:
    for part in ("bone", "socket"):
        yield call(_bone_names, name=f"get_actor_{part}_names")
        yield call(_bones_in_world, name=f"get_actor_{part}_world_transforms")
        yield call(_bones_in_actor, name=f"get_actor_{part}_relative_transforms")
    yield call(_bones_in_world, name="get_vehicle_bone_world_transforms")
    yield call(get_actor_component_names)
    yield call(get_actor_component_world_transform)
    yield call(get_actor_component_relative_transform)
    yield call(get_bones_transform)


METHODS: Final[tuple[CarlaMethod[World], ...]] = tuple(_methods())
