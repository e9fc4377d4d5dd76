"""The parts of an actor: sockets and components of vehicles, bones of walkers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from headless_simulator.carla.method import CarlaMethod, value
from headless_simulator.carla.values import ActorId, pose_wire
from headless_simulator.rpc.arguments import Text
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import compose
from headless_simulator.world.table import WALKER
from headless_simulator.world.world import World

_ROOT: Final = "root"
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


def _parts(actor: Actor) -> dict[str, list[float]]:
    """Poses of an actor's parts in its own frame."""
    if actor.kind != WALKER:
        return {_ROOT: [0.0] * 6}
    return {
        name: [s * h for s, h in zip(share, actor.half_m, strict=True)] + [0.0] * 3 for name, share in _BONES.items()
    }


def _relative(world: World, actor_id: ActorId) -> list[Any]:
    return [pose_wire(pose) for pose in _parts(world.actor(actor_id)).values()]


def _world(world: World, actor_id: ActorId) -> list[Any]:
    actor = world.actor(actor_id)
    own = world.table.c.pose[actor.row]
    return [pose_wire(compose(own, np.array(pose)).tolist()) for pose in _parts(actor).values()]


def _names(world: World, actor_id: ActorId) -> list[str]:
    return list(_parts(world.actor(actor_id)))


def get_actor_component_world_transform(world: World, actor_id: ActorId, name: Text) -> list[Any]:
    """Pose of a part; a part that is not modelled is where the actor is."""
    actor = world.actor(actor_id)
    own = world.table.c.pose[actor.row]
    part = _parts(actor).get(name, [0.0] * 6)
    return pose_wire(compose(own, np.array(part)).tolist())


def get_actor_component_relative_transform(world: World, actor_id: ActorId, name: Text) -> list[Any]:
    """Pose of a part in the actor's frame."""
    return pose_wire(_parts(world.actor(actor_id)).get(name, [0.0] * 6))


def get_bones_transform(world: World, actor_id: ActorId) -> list[Any]:
    """[[name, world, component, relative]] of a walker's bones."""
    names, in_world, own = _names(world, actor_id), _world(world, actor_id), _relative(world, actor_id)
    return [[[name, w, r, r] for name, w, r in zip(names, in_world, own, strict=True)]]


def _methods() -> Iterator[CarlaMethod[World]]:
    for part in ("bone", "socket"):
        yield value(_names, name=f"get_actor_{part}_names")
        yield value(_world, name=f"get_actor_{part}_world_transforms")
        yield value(_relative, name=f"get_actor_{part}_relative_transforms")
    yield value(_names, name="get_actor_component_names")
    yield value(_world, name="get_vehicle_bone_world_transforms")
    yield value(get_actor_component_world_transform)
    yield value(get_actor_component_relative_transform)
    yield value(get_bones_transform)


METHODS: Final[tuple[CarlaMethod[World], ...]] = tuple(_methods())
