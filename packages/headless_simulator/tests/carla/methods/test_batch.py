"""Order of a batch's commands, and answers to invalid ones."""

import math
from typing import Any

import pytest
from headless_simulator.carla.methods.batch import BatchContext, apply_batch
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.world import World

from tests.world.paper_town import world

CONTROLS = (
    [0.5, -0.25, 0.0, False, False, False, 0],
    [1.0, 0.0, 0.0, True, True, True, 3],
    [0.0, 0.125, 1.0, False, False, True, -7],
)


def three_cars() -> tuple[World, list[int]]:
    town = world()
    poses = ((0.0, 0.0), (20.0, 0.0), (40.0, 0.0))
    cars = [town.spawn(SpawnOrder("vehicle.tesla.model3", pose=(x, y, 0.0, 0.0, 0.0, 0.0))) for x, y in poses]
    return town, [car.actor_id for car in cars]


def batch(town: World, *commands: Any) -> list[Any]:
    answers = apply_batch(BatchContext(town, None, None, None), list(commands))  # type: ignore[arg-type]
    assert isinstance(answers, list)
    return answers


def control(actor_id: int, sent: list[Any]) -> list[Any]:
    return [[2, [actor_id, sent]]]


def test_commands_are_executed_in_order() -> None:
    town, ids = three_cars()
    row = town.actor(ids[0]).row

    batch(
        town,
        control(ids[0], CONTROLS[0]),
        [[3, [ids[0], [0.0, 0.0, -5.0, 0.0, 0.0]]]],  # backwards, by Ackermann's control
        control(ids[1], CONTROLS[0]),
    )

    town.step(0.05)  # in which Ackermann's controller drives
    assert town.table.c.reverse[row] == 1
    assert town.table.c.control[row][0] > 0.0


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        (["fast", 0.0, 0.0, False, False, False, 0], "throttle must be a number"),
        ([math.nan, 0.0, 0.0, False, False, False, 0], "throttle must be finite"),
        ([0.5, 0.0, 0.0, 0.5, False, False, 0], "hand_brake must be true or false"),
        ([0.5, 0.0, 0.0], "control must be an array of 7 or more"),
        (7, "control must be an array of 7 or more"),
    ],
)
def test_invalid_control_affects_only_itself(sent: Any, message: str) -> None:
    town, ids = three_cars()

    answers = batch(town, control(ids[0], CONTROLS[0]), control(ids[1], sent), control(ids[2], CONTROLS[2]))

    assert [answers[0], answers[2]] == [[[1, ids[0]]], [[1, ids[2]]]]
    assert message in answers[1][0][1][0]
    assert town.table.c.control[town.actor(ids[2]).row].tolist() == [0.0, 0.125, 1.0]


def test_last_control_wins_and_gear_needs_manual_mode() -> None:
    town, ids = three_cars()
    c, row = town.table.c, town.actor(ids[0]).row

    for sent, gear in (([0.5, 0.0, 0.0, False, False, True, 2**40], 10), (CONTROLS[2], -1), (CONTROLS[1], 3)):
        batch(town, control(ids[0], sent))
        assert c.gear[row] == gear
    assert batch(town, control(ids[0], CONTROLS[2]), control(ids[0], CONTROLS[0])) == [[[1, ids[0]]]] * 2

    assert c.gear[row] == -1  # of the last manual control
    assert c.control[row].tolist() == [0.5, -0.25, 0.0]
    assert [int(column[row]) for column in (c.hand_brake, c.reverse, c.manual)] == [0, 0, 0]


def test_integer_control_and_unknown_actor() -> None:
    town, ids = three_cars()

    answers = batch(town, control(ids[0], [1, 0, 0, 0, 1, 0, 0]), control(10**6, CONTROLS[0]))

    assert answers == [[[1, ids[0]]], [[0, ["actor not found"]]]]
    assert town.table.c.reverse[town.actor(ids[0]).row] == 1
