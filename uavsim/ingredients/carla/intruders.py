"""Intruders in a CARLA world: props without physics, moved along the plan at each tick.

A stock CARLA has no aeroplane. The headless simulator has all five kinds; for another server the encounters' YAML names the
blueprints of a build that has them, or static meshes of its content, which CARLA's own ``static.prop.mesh`` shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import carla
import numpy as np

from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry import unreal
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders.intruder_plans import INTRUDER_ROLE, IntruderPlan, IntrudersPlan
from uavsim.records.actors import ActorInfo
from uavsim.simulate.carla.spawning import SpawnContext, Spawned, flying_prop
from uavsim.typing import FloatArray

_SPAWN_ABOVE_M: Final = 300.0  # above the highest point of the path: free space


def spawn(context: SpawnContext, record: IntrudersPlan) -> Spawned:
    """Spawn every intruder high above its path, and let a tick pass.

    Raises:
        SimulatorError: the server has no such blueprint, or cannot spawn it.
    """
    ids: list[int] = []
    for number, intruder in enumerate(record.intruders, start=1):
        x, y, _ = intruder.map_SE3_flu[0].translation_m.tolist()
        top_m = float(intruder.map_SE3_flu.translation_m[:, 2].max()) + _SPAWN_ABOVE_M * number
        pose = carla.Transform(carla.Location(x, -y, top_m))
        blueprint = flying_prop(
            context.world,
            intruder.blueprint,
            role=INTRUDER_ROLE,
            what=f"the intruder {intruder.name}",
            where=f"the encounters' YAML, blueprints: {{{intruder.kind}: ...}}",
        )
        actor = context.world.spawn_actor(blueprint, pose)
        actor.set_simulate_physics(False)
        ids.append(int(actor.id))
    context.pass_a_tick()
    return CarlaIntruders("intruder", ids, client=context.client, intruders=record.intruders)


@dataclass(slots=True, eq=False, kw_only=True)
class CarlaIntruders(Spawned):
    """The intruders of one scene."""

    client: carla.Client
    intruders: Sequence[IntruderPlan]
    _ue_pose: list[FloatArray] = field(default_factory=list)

    def set_actor_infos(self, infos: Mapping[int, ActorInfo]) -> None:
        """Store the boxes of the spawned actors: the planned path is the path of an intruder's box centre.

        Raises:
            SimulatorError: an intruder has no body.
        """
        for actor_id, intruder in zip(self.actor_ids, self.intruders, strict=True):
            info = infos[actor_id]
            if not np.any(info.half_extent_m):
                raise SimulatorError(
                    f"intruder {intruder.name} has no body: the simulator has no static mesh {intruder.blueprint!r}; "
                    f"choose another in the encounters' YAML, blueprints: {{{intruder.kind}: ...}}"
                )
            self._ue_pose.append(_ue_poses(intruder.map_SE3_flu @ info.actor_SE3_box.inverse()))

    def before_tick(self, step: int) -> None:
        """Move every intruder to its planned pose at a step.

        Raises:
            MissedTick: the server refused.
        """
        commands = []
        for actor_id, path in zip(self.actor_ids, self._ue_pose, strict=True):
            x, y, z, roll, pitch, yaw = path[min(step, len(path) - 1)].tolist()
            turn = carla.Rotation(pitch=pitch, yaw=yaw, roll=roll)
            commands.append(carla.command.ApplyTransform(actor_id, carla.Transform(carla.Location(x, y, z), turn)))
        failed = [reply.error for reply in self.client.apply_batch_sync(commands, False) if reply.error]
        if failed:
            raise MissedTick(f"step {step}: {len(failed)} intruders could not be moved: {failed[0]}")


def _ue_poses(map_SE3_actor: SE3) -> FloatArray:
    """Return (K, 6) x, y, z, roll, pitch, yaw of a path in the simulator's frame, degrees."""
    ue_m = unreal.ue_vector_from_map(map_SE3_actor.translation_m)
    return np.concatenate([ue_m, unreal.ue_euler_from_map_q_flu(map_SE3_actor.quat_wxyz)], axis=1)
