"""Order of a batch's commands, and equivalence of grouped and single controls."""

import math
from typing import Any

import numpy as np
import pytest
from headless_simulator.carla.methods import vehicles
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


def same_state(one: World, other: World) -> bool:
    columns: list[tuple[np.ndarray, np.ndarray]] = list(zip(one.table.c, other.table.c, strict=True))
    return all(np.array_equal(a, b) for a, b in columns)


def test_batch_of_controls_equals_single_calls() -> None:
    (together, ids), (single, _) = three_cars(), three_cars()

    answers = batch(together, *(control(i, sent) for i, sent in zip(ids, CONTROLS, strict=True)))
    for i, sent in zip(ids, CONTROLS, strict=True):
        vehicles.apply_control_to_vehicle(single, i, tuple(sent))  # type: ignore[arg-type]

    assert answers == [[[1, i]] for i in ids]
    assert same_state(together, single)


def test_last_control_wins_and_gear_stays() -> None:
    (together, ids), (single, _) = three_cars(), three_cars()

    batch(together, control(ids[0], CONTROLS[1]), control(ids[0], CONTROLS[0]))
    for sent in (CONTROLS[1], CONTROLS[0]):
        vehicles.apply_control_to_vehicle(single, ids[0], tuple(sent))  # type: ignore[arg-type]

    assert same_state(together, single)
    assert together.table.c.gear[together.actor(ids[0]).row] == 3


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


def test_integer_control_and_unknown_actor() -> None:
    town, ids = three_cars()

    answers = batch(town, control(ids[0], [1, 0, 0, 0, 1, 0, 0]), control(10**6, CONTROLS[0]))

    assert answers == [[[1, ids[0]]], [[0, ["actor not found"]]]]
    assert town.table.c.reverse[town.actor(ids[0]).row] == 1
