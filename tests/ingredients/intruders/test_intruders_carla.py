"""Intruders in CARLA: poses, and the error for a missing blueprint."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.encounter_factory import HALF_M, encounter_plan, place_of
from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.carla.intruders import spawn
from uavsim.ingredients.intruders.intruder_plans import IntrudersPlan, intruders_of
from uavsim.records.recording import ActorInfo
from uavsim.simulate.carla.spawning import SpawnContext, Spawned


class PaperServer:
    """A world and client that record spawned actors and requests."""

    def __init__(self, *, blueprints: tuple[str, ...] = ("static.prop.aeroplane",), error: str = "") -> None:
        self.blueprints, self.error = blueprints, error
        self.spawned: list[Any] = []
        self.attributes: list[tuple[str, str]] = []
        self.batches: list[list[Any]] = []

    def get_blueprint_library(self) -> PaperServer:
        return self

    def find(self, name: str) -> Any:
        if name not in self.blueprints:
            raise IndexError(f"blueprint '{name}' not found")
        return SimpleNamespace(
            id=name, has_attribute=lambda _: True, set_attribute=lambda *pair: self.attributes.append(pair)
        )

    def spawn_actor(self, blueprint: str, pose: Any) -> Any:
        self.spawned.append(pose)
        return SimpleNamespace(id=40 + len(self.spawned), set_simulate_physics=lambda _: None, type_id=blueprint)

    def apply_batch_sync(self, commands: list[Any], _: bool) -> list[Any]:
        self.batches.append(commands)
        return [SimpleNamespace(error=self.error) for _ in commands]


def no_manager() -> Any:
    raise AssertionError("nothing drives here")


def info(*, box_above_m: float, half_m: tuple[float, float, float] = HALF_M) -> ActorInfo:
    actor_SE3_box = SE3(np.array([1.0, 0, 0, 0]), np.array([0.0, 0.0, box_above_m]))
    return ActorInfo(3, 41, "intruder", "static.prop.aeroplane", "", half_m, actor_SE3_box, 21, {})


def spawned(server: Any, **changes: Any) -> Spawned:
    plan = encounter_plan()
    intruders = tuple(replace(one, **changes) for one in intruders_of(plan))
    context = SpawnContext(server, server, plan, "Town10HD", lambda: None, no_manager)
    return spawn(context, IntrudersPlan(intruders))


def test_the_middle_of_its_box_is_put_where_the_plan_has_it() -> None:
    server = PaperServer()
    flown = spawned(server)

    assert flown.actor_ids == [41]
    assert server.spawned[0].location.z > 400.0  # high above its path
    flown.set_actor_infos({41: info(box_above_m=1.35)})
    assert server.attributes == [("role_name", "intruder")]  # identifies it after its client has ended
    flown.before_tick(10)

    (command,) = server.batches[-1]
    x, y, z = place_of(10, above_m=30.0)
    assert command.actor_id == 41
    pose = command.transform
    assert (pose.location.x, pose.location.y, pose.location.z) == pytest.approx((x, -y, z - 1.35), abs=1e-4)
    assert abs(pose.rotation.yaw) == pytest.approx(180.0)


def test_after_its_path_it_stays_at_the_end() -> None:
    server = PaperServer()
    flown = spawned(server)
    flown.set_actor_infos({41: info(box_above_m=0.0)})
    flown.before_tick(59)
    flown.before_tick(1000)
    assert server.batches[0][0].transform.location.x == server.batches[1][0].transform.location.x


def test_a_server_without_the_body_is_reported_in_one_line() -> None:
    server = PaperServer(blueprints=("static.prop.box01",))
    with pytest.raises(
        SimulatorError, match=r"no blueprint 'static.prop.aeroplane' .* blueprints: \{aeroplane: \.\.\.\}"
    ):
        spawned(server)


def test_a_static_mesh_of_the_servers_content_is_shown_by_its_path() -> None:
    server = PaperServer(blueprints=("static.prop.mesh",))
    flown = spawned(server, blueprint="/Game/Mine/cessna.cessna")

    assert server.attributes == [("role_name", "intruder"), ("mesh_path", "/Game/Mine/cessna.cessna")]
    with pytest.raises(SimulatorError, match=r"no static mesh '/Game/Mine/cessna.cessna'; .* blueprints: \{aeroplane"):
        flown.set_actor_infos({41: info(box_above_m=0.0, half_m=(0.0, 0.0, 0.0))})


def test_a_refused_place_is_a_missed_tick() -> None:
    server = PaperServer(error="no such actor")
    flown = spawned(server)
    flown.set_actor_infos({41: info(box_above_m=0.0)})
    with pytest.raises(MissedTick, match="step 4: 1 intruders could not be moved: no such actor"):
        flown.before_tick(4)
