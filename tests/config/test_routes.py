"""Routes: short forms of waypoints, and paths that lead nowhere."""

import pytest
from pydantic import ValidationError

from uavsim.config.routes import PathItem, Route


def route(*path, **values):
    return Route.model_validate({"path": list(path), **values}, strict=False)


def test_a_pair_is_a_waypoint():
    assert PathItem.model_validate([3, 4], strict=False).at == (3, 4)
    assert route([0, 0], {"at": [5, 0], "hover_s": 2}).path[1].hover_s == 2


@pytest.mark.parametrize(
    ("path", "values", "why"),
    [
        (({},), {}, "either a waypoint"),
        (({"at": [0, 0], "orbit": {"centre": [0, 0], "radius_m": 5}},), {}, "either a waypoint"),
        (([0, 0], [0.05, 0.05]), {}, r"waypoint \[0(\.0)?, 0(\.0)?\] follows itself; use hover_s to stay"),
        (([0, 0], [5, 0]), {"closed": True}, "three waypoints or more"),
        (([0, 0], {"orbit": {"centre": [9, 9], "radius_m": 5}}, [5, 0]), {"closed": True}, "and no orbit"),
        (({"orbit": {"centre": [0, 0], "radius_m": 1}},), {}, "greater than 1"),
        ((), {}, "a route has either a path or trajectories"),
    ],
)
def test_a_path_that_leads_nowhere(path, values, why):
    with pytest.raises(ValidationError, match=why):
        route(*path, **values)


def test_one_may_come_back_to_a_place_later():
    assert len(route([0, 0], [5, 0], [0, 0], closed=False).path) == 3
    assert route([0, 0], [5, 0], [0, 5], closed=True).closed
