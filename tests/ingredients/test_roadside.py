"""Roadside units stand beside roads of passed junctions, and look at the junction's centre."""

import numpy as np
import pytest

from uavsim.errors import SceneVoid
from uavsim.ingredients.roadside import Junction, poles_at_junctions

WAY_M = np.array([[0.0, 0.0, 60.0], [50.0, 0.0, 60.0]])
NEAR = Junction(np.array([52.0, 8.0, 1.0]), np.array([[60.0, 8.0, 1.0], [60.5, 8.0, 1.0], [52.0, 20.0, 1.0]]))
FARTHER = Junction(np.array([-30.0, 0.0, 0.0]), np.array([[-30.0, -9.0, 0.0]]))
ELSEWHERE = Junction(np.array([400.0, 0.0, 0.0]), np.array([[410.0, 0.0, 0.0]]))
TOWN = [ELSEWHERE, FARTHER, NEAR]


def test_each_junction_gets_one_before_any_gets_two() -> None:
    poles = poles_at_junctions(TOWN, WAY_M, count=3, pole_m=5.0)
    assert [pole.translation_m.tolist() for pole in poles] == [[60, 8, 6], [-30, -9, 5], [52, 20, 6]]


def test_poles_look_at_the_middle() -> None:
    for pole, junction in zip(poles_at_junctions(TOWN, WAY_M, count=2, pole_m=5.0), (NEAR, FARTHER), strict=True):
        middle_flu_m = pole.apply_inverse(junction.middle_m)
        assert middle_flu_m[0] > 5
        assert abs(middle_flu_m[1]) < 1e-9


def test_too_many_are_refused_with_the_possible_number() -> None:
    with pytest.raises(SceneVoid, match=r"4 roadside units need places at junctions, but only 3 are within 100 m"):
        poles_at_junctions(TOWN, WAY_M, count=4, pole_m=5.0)
