"""A town has room to fly in, and its obstacles have an inside."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from uavsim.config.load import load
from uavsim.config.town import Obstacle, TownConfig

FLAT = {"name": "Flat", "carla_map": "Flat", "short_name": "flat", "x_m": [-50, 50], "y_m": [-40, 40]}
TOWNS = sorted((Path(__file__).parents[2] / "town_configs").glob("*.yaml"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"x_m": [50, -50]}, "from smaller than to"),
        ({"margin_m": 40}, "margin_m=40 leaves nothing of a town 80 m across"),
        ({"margin_m": -1}, "greater than or equal to 0"),
        ({"streaming": {"actor_active_distance_m": 3001}}, "do not increase"),
        ({"spawn_points": -3}, "greater than or equal to 0"),
        ({"obstacles": [{"name": "tower", "x_m": [5, 5], "y_m": [0, 1], "top_m": 9}]}, "from smaller than to"),
        ({"obstacles": [{"name": "hole", "x_m": [5, 6], "y_m": [0, 1], "top_m": 0}]}, "greater than 0"),
    ],
)
def test_a_town_that_cannot_be(change, why):
    with pytest.raises(ValidationError, match=why):
        TownConfig.model_validate(FLAT | change, strict=False)


@pytest.mark.parametrize("path", TOWNS, ids=lambda path: path.stem)
def test_the_obstacles_of_our_towns_do_not_hold_one_another(path):
    town = load(path, TownConfig).model
    assert town.name.lower() == path.stem
    for one in town.obstacles:
        assert not any(_holds(other, one) for other in town.obstacles if other is not one), one.name


def _holds(outer: Obstacle, inner: Obstacle) -> bool:
    return (
        outer.x_m[0] <= inner.x_m[0]
        and inner.x_m[1] <= outer.x_m[1]
        and outer.y_m[0] <= inner.y_m[0]
        and inner.y_m[1] <= outer.y_m[1]
        and outer.top_m >= inner.top_m
    )
