"""Meshes of flyers: they fill their boxes around the origin, closed and facing outwards."""

import numpy as np
import pytest
from headless_simulator.models import ModelLibrary
from headless_simulator.models.flyers import FLYERS

MODELS = ModelLibrary()


@pytest.mark.parametrize("blueprint", FLYERS)
def test_flyer_has_its_origin_in_the_middle(blueprint: str) -> None:
    assert MODELS.box_offset(blueprint) == (0.0, 0.0, 0.0)
    assert (MODELS.mesh(MODELS.number(blueprint)).tag == 21).all()


@pytest.mark.parametrize("blueprint", FLYERS)
def test_flyer_is_roughly_symmetric(blueprint: str) -> None:
    if blueprint.endswith("flock"):
        return
    points = MODELS.mesh(MODELS.number(blueprint)).vertices_m
    assert abs(float(points[:, 1].mean())) < 0.15 * MODELS.half_extent(blueprint)[1]


def test_only_flyers_have_a_radius() -> None:
    radius_m = MODELS.flying_radius_m
    assert radius_m[MODELS.number("static.prop.aeroplane")] == pytest.approx(np.sqrt(4.15**2 + 5.5**2 + 1.35**2))
    assert radius_m[MODELS.number("vehicle.tesla.model3")] == 0.0
    assert np.count_nonzero(radius_m) == len(FLYERS)


def test_every_model_number_has_a_radius() -> None:
    """Renderers look it up by number; a car with a door open is a model of its own."""
    assert len(MODELS.flying_radius_m) == len(MODELS)
    assert MODELS.flying_radius_m[MODELS.number("vehicle.lincoln.mkz_2020", doors=1)] == 0.0
