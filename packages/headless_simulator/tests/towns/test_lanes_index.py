"""Look-up of lanes by road, number and station, and spawn points."""

import numpy as np
import pytest
from headless_simulator.towns.lanes_index import Lanes, length_of, pose_on, spawn_points, wrapped_deg
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.xodr_reader import read_network

from tests.towns.sample import document, road


@pytest.fixture
def lanes() -> Lanes:
    network = read_network(document(road()), "map.xodr")
    return Lanes(network, list(lane_strips(network)))


@pytest.mark.parametrize(
    ("yaw", "wrapped"),
    [(0, 0), (180, 180), (-180, 180), (181, -179), (-540, 180), (720.5, 0.5), (-179.99999999992, 180)],
)
def test_yaw_is_wrapped_to_180_degrees(yaw: float, wrapped: float) -> None:
    assert wrapped_deg(yaw) == pytest.approx(wrapped)


def test_find_clips_stations_past_the_ends(lanes: Lanes) -> None:
    strip = lanes.strips[0]
    for s in (-5.0, 50.0, 1e6):
        assert lanes.find(strip.road, strip.lane, s) is strip
    assert lanes.find("no such road", strip.lane, 0.0) is None


def test_pose_faces_the_direction_of_traffic(lanes: Lanes) -> None:
    right = lanes.find(lanes.strips[0].road, -1, 30.0)
    assert right is not None
    x, y, z, pitch, yaw, roll = pose_on(right, 30.0)
    np.testing.assert_allclose([x, y, z, pitch, yaw, roll], [30.0, 1.75, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
    assert length_of(right) == pytest.approx(100.0)


def test_spawn_points_are_apart_and_above_the_road(lanes: Lanes) -> None:
    places = spawn_points(lanes, 5)
    assert 1 <= len(places) <= 5
    apart = np.linalg.norm(places[:, None, :2] - places[None, :, :2], axis=2) + 1e9 * np.eye(len(places))
    assert apart.min() >= 8.0
    np.testing.assert_allclose(places[:, 2], 0.3, atol=1e-9)


def test_buses_fit_on_all_spawn_points_of_a_file(lanes: Lanes) -> None:
    places = spawn_points(lanes, None)
    assert len(places) >= 4
    for one in range(len(places)):
        yaw = np.radians(places[one, 4])
        away = np.delete(places[:, :2], one, axis=0) - places[one, :2]
        along, aside = away @ [np.cos(yaw), np.sin(yaw)], away @ [-np.sin(yaw), np.cos(yaw)]
        assert ((np.abs(along) > 10.3) | (np.abs(aside) > 2.9)).all()
