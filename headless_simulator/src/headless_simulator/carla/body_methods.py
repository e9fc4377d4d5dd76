"""RPC methods about the parts of an actor: sockets and components of vehicles, bones of walkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from headless_simulator.carla import values
from headless_simulator.carla.registry import method
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import compose
from headless_simulator.world.table import WALKER

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

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


def _relative(server: CarlaServer, actor_id: int) -> list[Any]:
    return [values.pose_wire(pose) for pose in _parts(server.world.actor(values.actor_id(actor_id))).values()]


def _world(server: CarlaServer, actor_id: int) -> list[Any]:
    actor = server.world.actor(values.actor_id(actor_id))
    own = server.world.table.c.pose[actor.row]
    return [values.pose_wire(compose(own, np.array(pose)).tolist()) for pose in _parts(actor).values()]


def _names(server: CarlaServer, actor_id: int) -> list[str]:
    return list(_parts(server.world.actor(values.actor_id(actor_id))))


for _what in ("bone", "socket"):
    method(f"get_actor_{_what}_names")(_names)
    method(f"get_actor_{_what}_world_transforms")(_world)
    method(f"get_actor_{_what}_relative_transforms")(_relative)
method("get_actor_component_names")(_names)
method("get_vehicle_bone_world_transforms")(_world)


@method("get_actor_component_world_transform")
def get_actor_component_world_transform(server: CarlaServer, actor_id: int, _name: str) -> list[Any]:
    """Pose of a part; a part that is not modelled is where the actor is."""
    actor = server.world.actor(values.actor_id(actor_id))
    own = server.world.table.c.pose[actor.row]
    part = _parts(actor).get(values.text(_name), [0.0] * 6)
    return values.pose_wire(compose(own, np.array(part)).tolist())


@method("get_actor_component_relative_transform")
def get_actor_component_relative_transform(server: CarlaServer, actor_id: int, name: str) -> list[Any]:
    """Pose of a part in the actor's frame."""
    return values.pose_wire(_parts(server.world.actor(values.actor_id(actor_id))).get(values.text(name), [0.0] * 6))


@method("get_bones_transform")
def get_bones_transform(server: CarlaServer, actor_id: int) -> list[Any]:
    """[[name, world, component, relative]] of a walker's bones."""
    names, world, own = _names(server, actor_id), _world(server, actor_id), _relative(server, actor_id)
    return [[[name, w, r, r] for name, w, r in zip(names, world, own, strict=True)]]
