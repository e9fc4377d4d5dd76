"""Formations: one description, one number for each drone, keyframes in order."""

import pytest
from pydantic import ValidationError

from uavsim.config.formation import Formation


def formation(**values):
    return Formation.model_validate(values, strict=False)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({}, "give either shape or keyframes"),
        ({"shape": "vee", "keyframes": [{"time_s": 0, "shape": "line"}]}, "give either shape or keyframes"),
        ({"shape": "free"}, "shape free needs it"),
        ({"shape": "vee", "offsets_m": [[0, 0, 0]]}, "offsets_m belongs to shape free"),
        ({"shape": "vee", "columns": 2}, "columns belongs to shape grid"),
        ({"shape": "vee", "drones": 3, "altitude_offsets_m": [1, 2]}, "altitude_offsets_m has 2 numbers for 3 drones"),
        ({"shape": "vee", "drones": 3, "yaw_offsets_deg": [0] * 4}, "yaw_offsets_deg has 4 numbers for 3 drones"),
        ({"shape": "free", "drones": 2, "offsets_m": [[0, 0, 0]]}, "drones"),
        ({"shape": "vee", "drones": 33}, "less than or equal to 32"),
    ],
)
def test_a_formation_that_cannot_be(values, why):
    with pytest.raises(ValidationError, match=why):
        formation(**values)


def test_keyframes_come_in_order_and_with_time_to_glide():
    good = formation(keyframes=[{"time_s": 0, "shape": "line"}, {"time_s": 4, "shape": "vee"}])
    assert [shape.shape for shape in good.shapes] == ["line", "vee"]
    with pytest.raises(ValidationError, match=r"0\.1 s or more after the one before"):
        formation(keyframes=[{"time_s": 4, "shape": "line"}, {"time_s": 4.05, "shape": "vee"}])


def test_a_still_formation_has_one_shape_with_its_own_numbers():
    (shape,) = formation(shape="grid", columns=3, spacing_m=7).shapes
    assert (shape.shape, shape.columns, shape.spacing_m) == ("grid", 3, 7)
