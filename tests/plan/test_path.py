import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uavsim.config.routes import Orbit, PathItem, Route
from uavsim.plan.path import fly_route

SQUARE = ((0, 0), (100, 0), (100, 100), (0, 100))


def route(*items, **more):
    return Route(path=tuple(PathItem(at=i) if isinstance(i, tuple) else i for i in items), **more)


def fly(*items, altitude_m=60.0, **more):
    return fly_route(route(*items, **more), altitude_m=altitude_m)


def sampled(path, dt=0.02, until=None):
    t = np.arange(0, until or path.duration_s, dt)
    return t, *path.at(t)


def test_straight_flight_worked_on_paper():
    # 100 m at 5 m/s, braking at 2 m/s^2 over the last 6.25 m: 93.75/5 + 6.25/2.5 = 21.25 s
    path = fly((0, 0), (100, 0), speed_mps=5.0)
    assert path.duration_s == pytest.approx(21.25, abs=0.01)
    position, heading = path.at(np.array([0.0, 10.0, 21.25, 99.0]))
    np.testing.assert_allclose(position, [[0, 0, 60], [50, 0, 60], [100, 0, 60], [100, 0, 60]], atol=1e-3)
    np.testing.assert_allclose(heading, 0.0, atol=1e-9)


def test_a_stop_where_an_orbit_begins_is_kept():
    orbit = PathItem(orbit=Orbit(centre=(0, 0), radius_m=50.0), hover_s=1.0)
    flown, stopped = (fly(PathItem(at=(50, 0), hover_s=hover), orbit, speed_mps=5.0) for hover in (0.0, 4.0))
    assert stopped.time_s[-1] - flown.time_s[-1] > 4.0  # and the time to come to speed


def test_hover_stops_and_goes_on():
    path = fly((0, 0), PathItem(at=(50, 0), hover_s=4.0), (100, 0), speed_mps=5.0)
    t, position, _ = sampled(path)
    still = t[np.abs(position[:, 0] - 50) < 1e-6]
    assert still.max() - still.min() == pytest.approx(4.0, abs=0.05)
    assert position[-1, 0] == pytest.approx(100, abs=0.05)


def test_slower_legs():
    path = fly((0, 0), (50, 0), PathItem(at=(100, 0), speed_mps=2.0), (150, 0), speed_mps=5.0)
    t, position, _ = sampled(path)
    speed = np.linalg.norm(np.diff(position, axis=0), axis=1) / np.diff(t)
    middle = (position[1:, 0] > 55) & (position[1:, 0] < 95)
    assert speed[middle].max() < 2.01
    assert speed[position[1:, 0] < 40].max() == pytest.approx(5.0, abs=0.01)


def test_altitudes_climb_without_dips():
    path = fly((0, 0), PathItem(at=(50, 0), altitude_m=40), PathItem(at=(100, 0), altitude_m=40), (150, 0))
    z = path.position_m[:, 2]
    assert z.min() == pytest.approx(40.0, abs=1e-9)
    assert z[0] == z[-1] == 60.0
    flat = path.position_m[(path.position_m[:, 0] > 50) & (path.position_m[:, 0] < 100)]
    np.testing.assert_allclose(flat[:, 2], 40.0, atol=1e-9)
    fixed = fly_route(route((0, 0), PathItem(at=(50, 0), altitude_m=40)), altitude_m=80, fixed_altitude=True)
    np.testing.assert_allclose(fixed.position_m[:, 2], 80.0)


@pytest.mark.parametrize(("direction", "sign"), [("left", 1), ("right", -1)])
def test_orbit(direction, sign):
    orbit = Orbit(centre=(0, 0), radius_m=30, turns=1.0, direction=direction)
    path = fly((60, 0), PathItem(orbit=orbit), speed_mps=5.0)
    on_circle = path.position_m[np.hypot(path.position_m[:, 0], path.position_m[:, 1]) < 30.05]
    assert len(on_circle) > 1500  # 188 m in steps of 0.1 m
    np.testing.assert_allclose(np.hypot(on_circle[:, 0], on_circle[:, 1]), 30, atol=0.8)  # where it swings in
    angle = np.unwrap(np.arctan2(on_circle[:, 1], on_circle[:, 0]))
    assert angle[-1] - angle[0] == pytest.approx(sign * 2 * np.pi, abs=0.2)
    np.testing.assert_allclose(path.position_m[-1], [30, 0, 60], atol=1e-6)


def test_a_single_place_is_a_hover():
    path = fly((3, 4))
    position, heading = path.at(np.array([0.0, 100.0]))
    np.testing.assert_array_equal(position, [[3, 4, 60], [3, 4, 60]])
    np.testing.assert_array_equal(heading, [0, 0])


def test_closed_paths_go_around():
    path = fly(*SQUARE, closed=True, speed_mps=5.0)
    lap = path.duration_s
    t = np.array([0.0, 3.0, 7.5])
    first, first_heading = path.at(t)
    second, second_heading = path.at(t + 2 * lap)
    np.testing.assert_allclose(first, second, atol=1e-6)
    np.testing.assert_allclose(second_heading - first_heading, 4 * np.pi, atol=1e-9)  # two laps to the left
    assert path.start_s(0.25, scene_s=1000.0) == pytest.approx(lap / 4)


def test_an_open_path_starts_so_that_the_scene_fits():
    path = fly((0, 0), (100, 0), speed_mps=5.0)
    assert path.start_s(1.0, scene_s=11.25) == pytest.approx(10.0, abs=0.02)
    assert path.start_s(0.5, scene_s=50.0) == 0.0


points = st.tuples(st.integers(-300, 300), st.integers(-300, 300)).map(lambda p: (p[0] * 1.0, p[1] * 1.0))


@settings(max_examples=40, deadline=None)
@given(st.lists(points, min_size=3, max_size=7, unique=True), st.booleans(), st.floats(1, 15))
def test_laws_of_every_path(places, closed, speed):
    path = fly(*places, closed=closed, speed_mps=speed)
    _, position, _ = sampled(path, dt=0.05, until=min(path.duration_s, 60.0))
    velocity = np.diff(position, axis=0) / 0.05
    assert np.linalg.norm(velocity, axis=1).max() <= speed * 1.01 + 0.05
    knots = np.array(places)
    reached = np.linalg.norm(path.position_m[:, None, :2] - knots, axis=2).min(axis=0)
    assert reached.max() < 1e-6  # through every waypoint
    assert (np.diff(path.time_s) >= 0).all()
    assert np.abs(np.diff(path.heading_rad)).max() < np.pi


def test_speed_changes_gently():
    path = fly(
        (0, 0), PathItem(at=(60, 0), hover_s=2.0), PathItem(at=(120, 0), speed_mps=12.0), (200, 0), speed_mps=6.0
    )
    _, position, _ = sampled(path, dt=0.1)
    speed = np.linalg.norm(np.diff(position, axis=0), axis=1) / 0.1
    assert np.abs(np.diff(speed)).max() / 0.1 < 2.01
    assert speed.max() > 11.0


def test_the_end_of_a_lap_joins_its_start():
    path = fly(*SQUARE, closed=True, speed_mps=8.0)
    around = np.array([-0.05, 0.0, 0.05]) + path.duration_s
    position, heading = path.at(around)
    steps = np.linalg.norm(np.diff(position, axis=0), axis=1)
    np.testing.assert_allclose(steps, 0.4, atol=0.01)
    assert np.abs(np.diff(heading)).max() < 0.05


def test_a_stop_on_every_lap():
    path = fly(PathItem(at=(0, 0), hover_s=3.0), (100, 0), (100, 100), closed=True, speed_mps=5.0)
    for lap in (0, 1):
        position, _ = path.at(np.array([0.5, 2.9]) + lap * path.duration_s)
        np.testing.assert_allclose(position[:, :2], 0.0, atol=1e-6)


def test_orbits_that_begin_and_end_at_waypoints():
    orbit = PathItem(orbit=Orbit(centre=(0, 0), radius_m=30))
    path = fly((30, 0), orbit, (30.02, 0), (90, 0))
    assert path.position_m[:, 0].max() == pytest.approx(90)
    assert (np.diff(path.time_s) > 0).all()


def test_a_closed_route_written_with_its_first_waypoint_again():
    path, again = fly(*SQUARE, closed=True), fly(*SQUARE, SQUARE[0], closed=True)
    np.testing.assert_allclose(path.position_m, again.position_m)


places = st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5))
speeds = st.none() | st.floats(0.01, 50)
items = st.builds(
    lambda at, orbit, altitude, speed, hover: PathItem(
        at=None if orbit else at, orbit=orbit, altitude_m=altitude, speed_mps=speed, hover_s=hover
    ),
    places,
    st.none()
    | st.builds(
        Orbit,
        centre=places,
        radius_m=st.floats(1.1, 2000),
        turns=st.floats(0.01, 20),
        direction=st.sampled_from(["left", "right"]),
    ),
    st.none() | st.floats(1, 1000),
    speeds,
    st.floats(0, 3600),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(items, min_size=1, max_size=6), st.booleans(), st.lists(st.floats(0, 1e5), min_size=1, max_size=5))
def test_whatever_the_model_takes_can_be_flown(path_items, closed, times):
    try:
        route = Route(path=tuple(path_items), closed=closed)
    except ValueError:
        return
    position, heading = fly_route(route, altitude_m=60.0).at(np.array(times))
    assert np.isfinite(position).all()
    assert np.isfinite(heading).all()
