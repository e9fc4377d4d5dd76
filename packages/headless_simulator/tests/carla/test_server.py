"""Answers of calls: results, clients' mistakes, and simulator bugs, which are reported as such."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from headless_simulator.behaviours import IDEAL
from headless_simulator.carla.connection import Answer
from headless_simulator.carla.context import build_context
from headless_simulator.carla.method_table import method_table
from headless_simulator.carla.server import CarlaServer
from headless_simulator.carla.versions import CARLA_0_9_16
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.rpc.messages import Request
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.world import World

from tests.world.paper_town import world

Call = Callable[..., Answer]


@pytest.fixture
def server() -> CarlaServer:
    return CarlaServer(world(), towns=TownLibrary(seed=0), faults=Faults(), rendering=Rendering(flat=True))


@pytest.fixture
def call(server: CarlaServer) -> Call:
    return lambda name, *arguments: server.call(Request(1, name, [[False], *arguments]))


def test_every_method_is_in_the_table_once() -> None:
    context = build_context(
        world(),
        towns=TownLibrary(seed=0),
        faults=Faults(),
        rendering=Rendering(flat=True),
        behaviours=IDEAL,
        version=CARLA_0_9_16,
    )
    table = method_table(context)

    assert len(table) > 110
    assert {"tick_cue", "apply_batch", "freeze_all_traffic_lights", "get_all_level_BBs", "cast_ray"} <= table.keys()
    assert all(bound.method.name == name for name, bound in table.items())


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("set_actor_transform", [1], "set_actor_transform: expected 2 arguments, got 1"),
        ("set_actor_transform", [1, [[0, 0, 0], [0, 0, 0]], 3], "expected 2 arguments, got 3"),
        ("set_actor_transform", ["1", [[0, 0, 0], [0, 0, 0]]], "actor_id must be an integer, not '1'"),
        ("set_actor_transform", [1, [[0, 0, "up"], [0, 0, 0]]], "location must be a number, not 'up'"),
        ("apply_control_to_vehicle", [1, [0.5, 0, 0]], "control must be an array of 7 or more"),
        ("set_actor_simulate_physics", [1, "yes"], "on must be true or false"),
        ("set_actor_collisions", [10**6, True], "Actor Not Found"),
        ("load_new_episode", ["Town99"], "Map 'Town99' not found; the nearest is"),
    ],
)
def test_client_mistake_is_answered_without_traceback(
    server: CarlaServer, call: Call, capsys: pytest.CaptureFixture[str], name: str, arguments: list[Any], problem: str
) -> None:
    error, result = call(name, *arguments)

    assert error is None
    assert result[0][0] is True
    assert problem in result[0][1][0]
    assert capsys.readouterr().err == ""
    assert not server.context.counts.internal_errors


def test_internal_error_is_logged_with_traceback(
    server: CarlaServer, call: Call, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(_world: World, _actor_id: int) -> None:
        raise TypeError("a planted bug")

    monkeypatch.setattr(World, "actor", planted)
    error, result = call("set_actor_simulate_physics", 1, True)

    text = "internal error of the headless simulator in set_actor_simulate_physics: TypeError: a planted bug"
    assert (error, result) == (None, [[True, [text]]])
    log = capsys.readouterr().err
    assert "headless-simulator: internal error in set_actor_simulate_physics\nTraceback" in log
    assert "in planted" in log
    assert server.report() == "internal errors in RPCs: set_actor_simulate_physics x1"


def test_internal_error_in_batch_affects_only_its_command(
    call: Call, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pose = [[0.0, 0.0, 0.3], [0.0, 0.0, 0.0]]
    spawn = [[0, [[1, "vehicle.audi.tt", []], pose, [False], 0, "", []]]]
    monkeypatch.setattr(World, "teleport", lambda *_: 1 / 0)
    error, answers = call("apply_batch", [spawn, [[6, [1, pose]]], [[99, [1]]], [[6, [1]]], "nothing"])

    assert error is None
    assert [answer[0][0] for answer in answers] == [1, 0, 0, 0, 0]
    texts = [answer[0][1][0] for answer in answers[1:]]
    assert texts[0].startswith("internal error of the headless simulator in apply_batch: ZeroDivisionError")
    assert texts[1].startswith("unknown command number 99; use ")
    assert texts[2] == "expected 2 arguments, got 1"
    assert texts[3].startswith("command must be an array")
    assert capsys.readouterr().err.count("Traceback") == 1


@pytest.mark.parametrize("synchronous", [True, False])
def test_batch_ticks_only_in_synchronous_mode(server: CarlaServer, call: Call, synchronous: bool) -> None:
    episode, town = server.context.episode, server.context.world
    episode.settings = replace(episode.settings, synchronous=synchronous)
    before = town.frame

    assert call("apply_batch", [], False) == call("apply_batch", [], True) == (None, [])
    assert town.frame - before == synchronous
    advances = server.methods["apply_batch"].traits.advances
    assert [advances([[False], [], ticks]) for ticks in (False, True)] == [False, True]
