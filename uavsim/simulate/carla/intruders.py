"""Intruders in a CARLA world: props without physics, put at their place of the plan before each tick. Imports ``carla``.

A stock CARLA has no aeroplane. The headless simulator has all five kinds; for another server the encounters' YAML names the
blueprints of a build that has them, or static meshes of its content, which CARLA's own ``static.prop.mesh`` shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import carla
import numpy as np

from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.actors import ActorInfo
from uavsim.records.corner_cases import PROP_MESH
from uavsim.records.intruders import INTRUDER_ROLE
from uavsim.records.plan import IntruderPlan
from uavsim.typing import FloatArray

__all__ = ["CarlaIntruders", "left_behind"]

_SPAWN_ABOVE_M: Final = 300.0  # of the highest place of the path: nothing is there


class CarlaIntruders:
    """The intruders of one scene."""

    def __init__(self, client: Any, world: Any, intruders: Sequence[IntruderPlan]) -> None:
        """Remember the paths; nothing is spawned yet."""
        self._client, self._world, self._intruders = client, world, tuple(intruders)
        self._actor_ids: list[int] = []
        self._ue_pose: list[FloatArray] = []

    def spawn(self, instance_of: dict[int, int]) -> list[int]:
        """Spawn every intruder high above its path; returns the actor ids in the plan's order.

        Args:
            instance_of: instance ids of the scene's actors; theirs are added, the next ones.

        Raises:
            SimulatorError: the server has no such blueprint, or cannot spawn it.
        """
        library = self._world.get_blueprint_library()
        for number, intruder in enumerate(self._intruders):
            blueprint = _blueprint(library, intruder)
            place = intruder.map_SE3_flu[0].translation_m
            top_m = float(intruder.map_SE3_flu.translation_m[:, 2].max()) + _SPAWN_ABOVE_M * (1 + number)
            pose = carla.Transform(carla.Location(float(place[0]), -float(place[1]), top_m))
            actor = self._world.spawn_actor(blueprint, pose)
            actor.set_simulate_physics(False)
            self._actor_ids.append(int(actor.id))
            instance_of[int(actor.id)] = 1 + len(instance_of)
        return self._actor_ids

    def know(self, infos: tuple[ActorInfo, ...]) -> tuple[ActorInfo, ...]:
        """Take the boxes of the spawned actors, and return them: an intruder's path is that of its box's middle.

        Args:
            infos: of all actors of the scene.

        Raises:
            SimulatorError: an intruder has no body.
        """
        info_of = {info.simulator_actor_id: info for info in infos}
        self._ue_pose = []
        for actor_id, intruder in zip(self._actor_ids, self._intruders, strict=True):
            info = info_of[actor_id]
            if not np.any(info.half_extent_m):
                raise SimulatorError(
                    f"the simulator shows nothing for the intruder {intruder.name}: its content has no static mesh "
                    f"{intruder.blueprint!r}; name another in the encounters' YAML, blueprints: {{{intruder.kind}: ...}}"
                )
            self._ue_pose.append(_ue_poses(intruder.map_SE3_flu @ info.actor_SE3_box.inverse()))
        return infos

    def show(self, step: int) -> None:
        """Put every intruder where the plan has it at a step; takes effect in the next tick.

        Raises:
            MissedTick: the server refused.
        """
        commands = []
        for actor_id, path in zip(self._actor_ids, self._ue_pose, strict=True):
            x, y, z, roll, pitch, yaw = path[min(step, len(path) - 1)].tolist()
            turn = carla.Rotation(pitch=pitch, yaw=yaw, roll=roll)
            commands.append(carla.command.ApplyTransform(actor_id, carla.Transform(carla.Location(x, y, z), turn)))
        failed = [reply.error for reply in self._client.apply_batch_sync(commands, False) if reply.error]
        if failed:
            raise MissedTick(f"step {step}: {len(failed)} intruders could not be placed: {failed[0]}")


def _ue_poses(map_SE3_actor: SE3) -> FloatArray:
    """Return (K, 6) x, y, z, roll, pitch, yaw of a path in the simulator's frame, degrees."""
    ue_m = unreal.ue_vector_from_map(map_SE3_actor.translation_m)
    return np.concatenate([ue_m, unreal.ue_euler_from_map_q_flu(map_SE3_actor.quat_wxyz)], axis=1)


def _blueprint(library: Any, intruder: IntruderPlan) -> Any:
    """Return what an intruder is spawned of.

    Raises:
        SimulatorError: the server has no such blueprint.
    """
    mesh = intruder.blueprint.startswith("/")
    try:
        blueprint = library.find(PROP_MESH if mesh else intruder.blueprint)
    except (IndexError, RuntimeError) as error:
        raise SimulatorError(
            f"the simulator has no blueprint {PROP_MESH if mesh else intruder.blueprint!r} for the intruder {intruder.name}: "
            "a stock CARLA has nothing that flies; name a blueprint or a static mesh of yours in the encounters' YAML, "
            f"blueprints: {{{intruder.kind}: ...}}"
        ) from error
    own = {"role_name": INTRUDER_ROLE} | ({"mesh_path": intruder.blueprint} if mesh else {})
    for name, value in own.items():
        if blueprint.has_attribute(name):
            blueprint.set_attribute(name, value)
    return blueprint


def left_behind(world: Any) -> list[int]:
    """Return the ids of intruders that a client which is gone left; other people's props stay."""
    return [a.id for a in world.get_actors().filter("static.prop.*") if a.attributes.get("role_name") == INTRUDER_ROLE]
