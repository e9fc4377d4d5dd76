import numpy as np
import pytest

from uavsim.config.formation import Formation, Keyframe
from uavsim.config.routes import PathItem, Route
from uavsim.geometry import quaternion
from uavsim.plan.path import fly_route
from uavsim.plan.swarm import fly_swarm, formation_altitude, formation_offsets


def fly(formation, *, waypoints=((0.0, 0.0), (0.0, 200.0)), times=(0.0, 4.0), seed=0, ground_z_m=0.0, extra=0.0):
    path = fly_route(Route(path=tuple(PathItem(at=p) for p in waypoints), speed_mps=5.0), altitude_m=60.0)
    return fly_swarm(
        path,
        formation,
        time_s=np.array(times),
        start_s=0.0,
        ground_z_m=ground_z_m,
        extra_altitude_m=extra,
        rng=np.random.default_rng(seed),
    )


def test_a_formation_that_keeps_the_maps_heading():
    swarm = fly(Formation(drones=5, shape="cross", spacing_m=20.0), ground_z_m=2.0)
    assert swarm.drone_ids == (0, 1, 2, 3, 4)
    expected = np.array([[0, 20, 62], [20, 20, 62], [-20, 20, 62], [0, 40, 62], [0, 0, 62]])
    np.testing.assert_allclose(swarm.map_SE3_flu.translation_m[1], expected, atol=1e-3)  # 4 s at 5 m/s to map y
    np.testing.assert_array_equal(swarm.map_SE3_flu.quat_wxyz, np.tile([1.0, 0, 0, 0], (2, 5, 1)))


def test_a_formation_that_turns_with_the_route():
    swarm = fly(Formation(drones=2, shape="column", spacing_m=10.0, align="route"))
    # heading to map y: behind is minus y, and the nose points there too
    np.testing.assert_allclose(swarm.map_SE3_flu.translation_m[1], [[0, 20, 60], [0, 10, 60]], atol=1e-3)
    np.testing.assert_allclose(quaternion.yaw(swarm.map_SE3_flu.quat_wxyz[1]), np.pi / 2, atol=1e-6)


def test_heading_offsets_and_heights():
    formation = Formation(
        drones=2,
        shape="line",
        spacing_m=10.0,
        heading_deg=90.0,
        yaw_offsets_deg=(0.0, -90.0),
        altitude_offsets_m=(0.0, -20.0),
    )
    swarm = fly(formation, waypoints=((0.0, 0.0), (100.0, 0.0)), times=(0.0,))
    # facing map y, left is minus x
    np.testing.assert_allclose(swarm.map_SE3_flu.translation_m[0], [[0, 0, 60], [-10, 0, 40]], atol=1e-9)
    np.testing.assert_allclose(np.degrees(quaternion.yaw(swarm.map_SE3_flu.quat_wxyz[0])), [90, 0], atol=1e-9)


def test_jitter_is_drawn_once_and_by_the_seed():
    formation = Formation(drones=5, shape="cross", jitter_m=2.0, jitter_yaw_deg=5.0)
    times = tuple(np.arange(0, 5, 0.5))
    a, again, b = fly(formation, times=times), fly(formation, times=times), fly(formation, times=times, seed=1)
    np.testing.assert_array_equal(a.map_SE3_flu.translation_m, again.map_SE3_flu.translation_m)
    assert np.abs(a.map_SE3_flu.translation_m - b.map_SE3_flu.translation_m).max() > 0.1
    clean = fly(Formation(drones=5, shape="cross"), times=times)
    off = a.map_SE3_flu.translation_m - clean.map_SE3_flu.translation_m
    np.testing.assert_allclose(off, np.broadcast_to(off[0], off.shape), atol=1e-9)
    assert 0.5 < off.std() < 4.0


def dynamic():
    keyframes = (
        Keyframe(time_s=1.0, shape="line", spacing_m=10.0, altitude_m=40.0),
        Keyframe(time_s=3.0, shape="line", spacing_m=30.0, altitude_m=80.0),
        Keyframe(time_s=4.0, shape="column", spacing_m=30.0),
    )
    return Formation(drones=3, keyframes=keyframes, altitude_m=60.0)


def test_keyframes_are_met_and_glided_between():
    times = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0])
    offsets = formation_offsets(dynamic(), times)
    np.testing.assert_allclose(offsets[[0, 1], 1], [[0, 10, 0], [0, 10, 0]])
    np.testing.assert_allclose(offsets[3, 1], [0, 30, 0])
    np.testing.assert_allclose(offsets[[4, 5], 1], [[-30, 0, 0], [-30, 0, 0]])
    assert 10 < offsets[2, 1, 1] < 30
    np.testing.assert_allclose(formation_altitude(dynamic(), times)[[0, 3, 5]], [40, 80, 60])


def test_gliding_is_smooth_and_never_beyond():
    times = np.arange(0, 5, 0.01)
    y = formation_offsets(dynamic(), times)[:, 1, 1]
    assert y.max() <= 30.0
    assert np.abs(np.diff(y, n=2)).max() / 0.01**2 < 200.0  # no jump in speed: that would be 3 m/s in 0.01 s
    altitude = formation_altitude(dynamic(), times)
    assert altitude.max() == pytest.approx(80.0)
