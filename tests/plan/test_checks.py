import numpy as np
import pytest

from uavsim.config.town import Obstacle, Streaming, TownConfig
from uavsim.geometry.se3 import SE3
from uavsim.plan import checks
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.sensors import CameraParams, SensorSpec

TOWN = TownConfig(
    name="T",
    carla_map="T",
    short_name="t",
    x_m=(-100, 100),
    y_m=(-50, 50),
    margin_m=10,
    ground_z_m=2,
    obstacles=(Obstacle(name="tower", x_m=(10, 20), y_m=(-5, 5), top_m=70),),
)


def swarm(*drones):
    places = np.moveaxis(np.array(drones, dtype=float), 0, 1)  # (steps, drones, 3)
    return SwarmTrajectory(tuple(range(len(drones))), SE3(np.array([1.0, 0, 0, 0]), places))


def test_inside_and_outside():
    assert checks.outside(swarm([[-90, -40, 60], [90, 40, 60]]), TOWN, step_s=0.1) is None
    said = checks.outside(swarm([[0, 0, 60], [0, 0, 60]], [[0, 0, 60], [0, 41, 60]]), TOWN, step_s=0.1)
    assert said == "drone 1 reaches x=0.0 y=41.0 at 0.10 s, outside T (x -90..90, y -40..40 with its margin of 10 m)"


def test_the_nearest_pair_of_the_whole_flight():
    a, b, c = [[0, 0, 60], [0, 0, 60]], [[9, 0, 60], [5, 0, 60]], [[0, 30, 60], [5, 3, 64]]
    assert checks.nearest_pair(swarm(a, b, c)) == (5.0, 0, 1, 1)
    assert checks.nearest_pair(swarm(a)) == (float("inf"), 0, 0, 0)


def test_towers_and_the_ground():
    over = swarm([[15, 0, 78]])  # its roof is 72 high in the map frame
    assert checks.collision(over, TOWN, clearance_m=5.9, step_s=0.1) is None
    said = checks.collision(over, TOWN, clearance_m=6.1, step_s=0.1)
    assert said == "drone 0 comes within 6.0 m of 'tower' at 0.00 s (clearance_m is 6.1)"
    beside = swarm([[100, 0, 60]], [[23, 9, 60]])  # 3 m beyond the wall, 4 m beyond the corner
    assert "drone 1 comes within 5.0 m of 'tower'" in str(checks.collision(beside, TOWN, clearance_m=6, step_s=0.1))
    low = swarm([[-50, 0, 5]])
    assert "drone 0 comes within 3.0 m of the ground" in str(checks.collision(low, TOWN, clearance_m=5, step_s=0.1))


@pytest.mark.parametrize(("active_m", "is_inside"), [(621.0, True), (619.0, False)])
def test_a_large_map_is_streamed_as_far_as_a_camera_sees_a_car(active_m, is_inside):
    """At a focal length of 400 px, 4.5 m are 3 px long at 600 m; the outer drones fly 20 m from the centre."""
    row = swarm([[-20, 0, 60]], [[0, 0, 60]], [[20, 0, 60]])
    town = TOWN.model_copy(update={"streaming": Streaming(actor_active_distance_m=active_m)})
    rig = (SensorSpec("FRONT", (0, 0, 0), (0, 0, 0), CameraParams(800, 450, 90.0), ("rgb",)),)

    where = checks.beyond_streaming(row, town, rig)

    assert (where is None) == is_inside
    if where:
        assert where == (
            "drone 0 flies 20 m from the swarm's middle and FRONT sees 600 m: "
            "more than actor_active_distance_m (619) of T"
        )
    assert checks.beyond_streaming(row, TOWN, rig) is None
