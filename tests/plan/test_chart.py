from types import SimpleNamespace

import numpy as np
import pytest

from uavsim.config.library import Library
from uavsim.config.town import Obstacle, TownConfig
from uavsim.plan import plan_scenes
from uavsim.plan.chart import draw_plan
from uavsim.plan.path import fly_route

GROUND = (244, 242, 236)
LAYERS = ("walkway", "building", "drivable_area", "ped_crossing", "stop_line")


@pytest.fixture(scope="module")
def smoke():
    library = Library.of()
    town = library.town("Town10HD").model
    routes = library.routes("Town10HD").model.routes
    return town, {n: fly_route(r, altitude_m=60.0) for n, r in routes.items()}, plan_scenes("smoke", town="Town10HD")


def pixel(town, image, x, y):
    """Return the image's pixel at a map position, metres, by hand calculation: 60 px border, north up."""
    scale = 1400 / max(town.x_m[1] - town.x_m[0], town.y_m[1] - town.y_m[0])
    return image[round((town.y_m[1] - y) * scale) + 60, round((x - town.x_m[0]) * scale) + 60]


def test_drones_are_drawn_where_they_start(smoke):
    town, routes, plans = smoke
    image = draw_plan(town, routes, plans[:1])
    assert image.dtype == np.uint8
    for x, y, _ in plans[0].swarm.map_SE3_flu.translation_m[0]:
        assert np.ptp(pixel(town, image, x, y).astype(int)) > 60  # a strong colour
    assert tuple(pixel(town, image, town.x_m[0] + 3, town.y_m[1] - 3)) == GROUND


def test_what_cameras_see_is_tinted(smoke):
    town, _, plans = smoke
    image = draw_plan(town, {}, plans[:1])
    x, y, _ = plans[0].swarm.map_SE3_flu.translation_m[0, 0]
    assert tuple(pixel(town, image, x + 13, y + 7)) != GROUND
    assert tuple(pixel(town, image, x + 118, y - 118)) == GROUND


def test_of_many_scenes_each_start_is_a_dot_of_its_routes_colour(smoke):
    town, routes, _ = smoke
    plans = plan_scenes("smoke", town="Town10HD", scenes=tuple(range(8)))
    flown = {name: path for name, path in routes.items() if name in {plan.route_name for plan in plans}}
    image = draw_plan(town, flown, plans)
    at = [(plan.route_name, *plan.swarm.map_SE3_flu.translation_m[0, 0, :2]) for plan in plans]
    dots = {name: {tuple(pixel(town, image, x, y)) for route, x, y in at if route == name} for name in flown}
    assert [len(colours) for colours in dots.values()] == [1, 1]
    assert len(set.union(*dots.values()) - {GROUND}) == 2


def test_roads_and_obstacles(smoke):
    town, _, _ = smoke
    road = np.array([[-100.0, 4.0], [100.0, 4.0], [100.0, -4.0], [-100.0, -4.0]])
    with_roads = draw_plan(town, {}, [], roads=[road])
    without = draw_plan(town, {}, [])
    assert tuple(pixel(town, with_roads, 50, 2)) != GROUND
    assert tuple(pixel(town, without, 50, 2)) == GROUND
    assert (with_roads[-124:] != without[-124:]).any()  # the footer says that roads are missing
    tower = town.model_copy(update={"obstacles": (Obstacle(name="t", x_m=(40, 60), y_m=(-60, -40), top_m=70),)})
    assert tuple(pixel(town, draw_plan(tower, {}, []), 50, -50)) != GROUND


def test_layers_of_a_vector_map(smoke):
    town, _, _ = smoke
    square = np.array([[40.0, -60.0, 9.0], [60.0, -60.0, 9.0], [60.0, -40.0, 9.0], [40.0, -40.0, 9.0]])
    maps = [
        SimpleNamespace(shapes_map_m=lambda n, layer=layer: {"a": [square]} if n == layer else {}) for layer in LAYERS
    ]
    images = [draw_plan(town, {}, [], roads=one) for one in maps]
    colours = {tuple(pixel(town, image, 50, -50)) for image in images}
    assert len(colours - {GROUND}) == len(LAYERS)
    assert (images[0][-60:] != images[1][-60:]).any()  # the legend names buildings where some are


def test_the_same_plan_is_the_same_image(smoke):
    town, routes, plans = smoke
    np.testing.assert_array_equal(draw_plan(town, routes, plans), draw_plan(town, routes, plans))


def test_long_and_flat_towns_fit():
    town = TownConfig(name="Long", carla_map="Long", short_name="long", x_m=(0, 5000), y_m=(0, 50))
    image = draw_plan(town, {}, [])
    assert image.shape[1] == 1400 + 120
    assert image.shape[0] == 14 + 120 + 124
    tall = TownConfig(name="Tall", carla_map="Tall", short_name="tall", x_m=(0, 50), y_m=(0, 5000))
    assert draw_plan(tall, {}, []).shape[0] == 1400 + 120 + 124
