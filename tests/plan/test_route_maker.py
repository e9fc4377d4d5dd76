import numpy as np
import pytest

from uavsim.config.library import Library
from uavsim.config.load import load
from uavsim.config.routes import RoutesConfig
from uavsim.config.town import TownConfig
from uavsim.errors import InputError
from uavsim.plan.path import fly_route
from uavsim.plan.route_maker import make_routes

TOWNS = (*(f"Town0{number}" for number in range(1, 8)), "Town10HD")


@pytest.mark.parametrize("name", TOWNS)
def test_the_committed_routes(name):
    library = Library.of()
    town, routes = library.town(name).model, library.routes(name).model.routes
    assert list(routes) == [f"{town.short_name}_row{r}_col{c}" for r in range(1, 6) for c in range(1, 6)]
    for route in routes.values():
        path = fly_route(route, altitude_m=60.0).position_m
        assert path[:, 0].min() >= town.x_m[0] + 24.9
        assert path[:, 0].max() <= town.x_m[1] - 24.9
        assert path[:, 1].min() >= town.y_m[0] + 24.9
        assert path[:, 1].max() <= town.y_m[1] - 24.9


def test_rows_go_up_and_columns_right():
    routes = Library.of().routes("Town03").model.routes
    centre = {n: np.array([i.at for i in r.path]).mean(axis=0) for n, r in routes.items()}
    assert centre["town03_row1_col1"][0] < centre["town03_row1_col2"][0]
    assert centre["town03_row1_col1"][1] < centre["town03_row2_col1"][1]


def test_made_as_committed(tmp_path):
    town = Library.of().town("Town07")
    text = make_routes(town.model, rows=5, columns=5)
    assert text == (town.source.path.parent.parent / "flight_plans" / "town07.yaml").read_text()
    path = tmp_path / "town07.yaml"
    path.write_text(make_routes(town.model, rows=2, columns=3))
    assert len(load(path, RoutesConfig).model.routes) == 6


@pytest.mark.parametrize(("rows", "columns"), [(0, 5), (5, 51)])
def test_impossible_numbers(rows, columns):
    with pytest.raises(InputError, match="rows and columns must be 1 to 50"):
        make_routes(Library.of().town("Town07").model, rows=rows, columns=columns)


def test_a_town_too_small():
    town = TownConfig(name="T", carla_map="T", short_name="t", x_m=(0, 55), y_m=(0, 500))
    with pytest.raises(InputError, match="T is too small for routes 25 m inside its bounds"):
        make_routes(town, rows=1, columns=1)
