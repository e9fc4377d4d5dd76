"""Recorded actors in a stub world, with the real client's commands and without a server."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import carla
import numpy as np
import pytest

from tools.common.plans import scene_plan
from uavsim.errors import MissedTick, SceneVoid
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.carla.replay import RecordedTraffic, spawn
from uavsim.ingredients.replay import ReplayPlan
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.motion import SceneMotion, TickMotion
from uavsim.simulate.carla.spawning import SpawnContext

CAR, WALKER = "vehicle.audi.tt", "walker.pedestrian.0001"
STEPS = 11


class Blueprint:
    def __init__(self, name: str) -> None:
        self.id = name

    def has_attribute(self, _name: str) -> bool:
        return False


class Server:
    """A stub client and world; ``refuse`` is a blueprint that cannot be spawned."""

    def __init__(self, *, known: tuple[str, ...] = (CAR, WALKER), refuse: str = "") -> None:
        self.known, self.refuse = known, refuse
        self.batches: list[list[Any]] = []
        self.set: list[tuple[str, Any]] = []
        self.frozen = False

    def reset_all_traffic_lights(self) -> None:
        pass

    def freeze_all_traffic_lights(self, on: bool) -> None:
        self.frozen = on

    def get_actors(self, ids: list[int] | None = None) -> Any:
        if ids is not None:
            return [SimpleNamespace(set_collisions=lambda _on: None) for _ in ids]
        lights = [
            SimpleNamespace(get_opendrive_id=lambda n=n: n, set_state=lambda state, n=n: self.set.append((n, state)))
            for n in ("7", "3")
        ]
        return SimpleNamespace(filter=lambda _kind: lights)

    def get_blueprint_library(self) -> Any:
        def find(name: str) -> Blueprint:
            if name not in self.known:
                raise IndexError(f"blueprint {name} not found")
            return Blueprint(name)

        return SimpleNamespace(find=find)

    def apply_batch_sync(self, commands: list[Any], _tick: bool) -> list[Any]:
        self.batches.append(commands)
        return [SimpleNamespace(actor_id=100 + n, error="") for n, _ in enumerate(commands)]


@pytest.fixture(autouse=True)
def commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace spawn commands, because the real ones need a server's blueprints."""

    def spawn(blueprint: Blueprint, pose: Any) -> Any:
        command = SimpleNamespace(blueprint=blueprint.id, pose=pose)
        command.then = lambda _after: command
        return command

    monkeypatch.setattr(carla.command, "SpawnActor", spawn)


def no_manager() -> Any:
    raise AssertionError("nothing drives here")


def info(instance_id: int, blueprint: str) -> ActorInfo:
    kind = "walker" if blueprint.startswith("walker") else "vehicle"
    return ActorInfo(instance_id, 0, kind, blueprint, "", (1, 1, 1), SE3.identity(), 14)


def states() -> ActorStates:
    three = np.arange(9.0).reshape(3, 3)
    return ActorStates(np.array([1, 2, 3]), SE3.identity((3,)), three, three, three, three)


def plan(**changes: Any) -> ReplayPlan:
    ue_pose = np.zeros((STEPS, 3, 6), np.float32)
    ue_pose[:, 0, 0] = np.arange(STEPS)  # the first car drives, the second vanishes, the walker stands
    ue_pose[:, 1, 1] = 20.0
    ue_pose[4:, 1] = np.nan
    ue_pose[:, 2, 1] = -20.0
    control = np.zeros((STEPS, 3, 5), np.float32)
    control[6:, 0] = (0.0, 0.25, 1.0, 1.0, -1.0)
    motion = SceneMotion(
        step=np.arange(STEPS),
        instance_id=np.array([1, 2, 3]),
        ue_pose=ue_pose,
        control=control,
        lights=np.zeros((STEPS, 3), np.uint32),
        signal_id=("3", "7"),
        signals=np.array([[0, 2]] * 5 + [[2, 2]] * 6, np.uint8),
        drone_id=(),
        map_SE3_flu=SE3.identity((STEPS, 0)),
        velocity_map_mps=np.zeros((STEPS, 0, 3)),
    )
    actors = (info(1, CAR), info(2, CAR), info(3, WALKER))
    recorded = ReplayPlan(motion.packed(), actors, (states(), states()))
    return replace(recorded, **changes)


def spawned(server: Server, **changes: Any) -> RecordedTraffic:
    fake: Any = server
    traffic = spawn(
        SpawnContext(fake, fake, scene_plan(samples=2), "Town10HD", lambda: None, no_manager), plan(**changes)
    )
    assert isinstance(traffic, RecordedTraffic)
    server.batches.clear()
    return traffic


def test_only_changes_are_reported() -> None:
    server = Server()
    traffic = spawned(server)
    assert server.frozen
    counts = []
    for step in (0, 0, 1, 4, 5, 6):
        server.batches.clear()
        traffic.before_tick(step)
        counts.append(sorted(type(c).__name__ for batch in server.batches for c in batch))
    placed, reported = ["ApplyTransform"], ["ApplyVehicleControl"]
    assert counts[0] == placed * 3 + reported * 2 + ["ApplyWalkerControl"]
    assert counts[1] == []  # the warm-up: nothing is reported twice
    assert counts[2] == placed
    assert counts[3] == [*placed, "DestroyActor"]
    assert counts[4] == placed
    assert counts[5] == placed + reported
    assert [(name, int(state)) for name, state in server.set] == [("3", 0), ("7", 2), ("3", 2)]
    traffic.clear()
    assert not server.frozen


def test_hidden_actors_are_not_spawned() -> None:
    server = Server()
    traffic = spawned(server, hidden=(1, 3))
    assert traffic.instance_of == {traffic.actor_ids[0]: 2}  # as it was: hidden actors keep their numbers


def test_an_actor_that_cannot_be_spawned_is_named_in_one_line() -> None:
    server = Server(known=(CAR,))
    with pytest.raises(SceneVoid, match=r"actor 3 of the recording cannot be spawned: .*no blueprint 'walker"):
        spawned(server)
    replies = [SimpleNamespace(actor_id=0, error="Spawn failed because of collision")]
    server = Server()
    server.apply_batch_sync = lambda commands, _tick: replies * len(commands)  # type: ignore[method-assign]
    with pytest.raises(SceneVoid, match=r"actor 1 .* cannot be spawned: Spawn failed because of collision"):
        spawned(server)


def measured(*, off_m: float = 0.0, turned_deg: float = 0.0, light: int = 0) -> TickMotion:
    ue_pose = np.zeros((3, 6))
    ue_pose[:, 1] = (0.0, 20.0, -20.0)
    ue_pose[0, 0] += off_m
    ue_pose[2, 5] += turned_deg
    ids = np.array([1, 2, 3])
    return TickMotion(
        ids, ue_pose, np.zeros((3, 5)), np.zeros(3, np.int64), np.zeros(3, np.bool_), ("3", "7"), np.array([light, 2])
    )


def test_proven_returns_recorded_states_or_refuses_differences() -> None:
    traffic = spawned(Server())
    traffic.before_tick(0)
    proven_states = traffic.proven(states(), measured(turned_deg=360.0))
    np.testing.assert_array_equal(proven_states.velocity_map_mps, states().velocity_map_mps)
    for wrong, reason in (
        (measured(off_m=0.01), "0.010 m"),
        (measured(turned_deg=1.0), "1.00 degrees"),
        (measured(light=1), "traffic light 3 shows 1"),
    ):
        with pytest.raises(MissedTick, match=reason):
            traffic.proven(states(), wrong)


def test_a_town_without_the_traffic_lights_is_refused() -> None:
    server = Server()
    recorded = plan()
    motion = replace(recorded.motion.open(), signal_id=("3", "9"))
    with pytest.raises(SceneVoid, match="no traffic light '9'"):
        spawned(server, motion=motion.packed())
