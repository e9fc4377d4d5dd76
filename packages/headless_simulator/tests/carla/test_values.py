"""Validation of arguments: shapes, ranges and types, with the argument's name in each refusal."""

from typing import Any

import pytest
from headless_simulator.carla.values import description, mean_colour, optional, pose_wire, transform, vector
from headless_simulator.errors import BadArgument


def test_transform_round_trip() -> None:
    wire = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    assert transform(wire, "transform") == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert pose_wire(transform(wire, "transform")) == wire


@pytest.mark.parametrize(
    "value",
    [None, 3, "xyz", [1, 2], [1, 2, "3"], [1, 2, None], [float("nan"), 0, 0], [float("inf"), 0, 0], [0, 0, 2e7]],
)
def test_invalid_vector_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument, match="impulse"):
        vector(value, "impulse")


@pytest.mark.parametrize("value", [[], [[0, 0, 0]], [[0, 0, 0], [0, 0]], [[0, 0], [0, 0, 0]], {}])
def test_invalid_transform_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument):
        transform(value, "transform")


@pytest.mark.parametrize(("value", "expected"), [([False], None), ([True, 7], 7), ([False, 7], None), ([True], None)])
def test_optional_value(value: list[Any], expected: Any) -> None:
    assert optional(value, "parent") == expected


def test_description_round_trip() -> None:
    wire = [7, "vehicle.tesla.model3", [["color", 5, "10,20,30"], ["role_name", 4, "hero"]]]
    read = description(wire, "description")
    assert read.attributes == {"color": "10,20,30", "role_name": "hero"}
    assert read.wire() == wire


@pytest.mark.parametrize("value", [[7, "a"], [7, 8, []], ["7", "a", []], [7, "a", [["x"]]], [7, "a", [[1, 2, 3]]]])
def test_invalid_description_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument):
        description(value, "description")


def test_texture_is_read_as_mean_colour() -> None:
    assert mean_colour([2, 1, [[10, 0, 255, 255], [13, 0, 255, 0]]], "texture") == (12, 0, 255)


@pytest.mark.parametrize(
    "value",
    [
        None, [], [1, 1], [0, 0, []], [1, 1, []], [2, 1, [[1, 2, 3, 4]]], [-1, -1, [[1, 2, 3, 4]]], [1, 1, [[1, 2, 3]]],
        [1, 1, [[1, 2, 3, 256]]], [1, 1, [[1, 2, 3, -1]]], [1, 1, [["a", 2, 3, 4]]], [2, 1, [[1, 2, 3, 4], [1]]], [1, 1, [7]],
        [1, 1, [None]], [1, 1, [[[1, 2, 3, 4]]]], ["1", 1, [[1, 2, 3, 4]]],
    ],
)  # fmt: skip
def test_invalid_texture_is_refused(value: Any) -> None:
    with pytest.raises(BadArgument):
        mean_colour(value, "texture")
