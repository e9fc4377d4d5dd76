"""Owners of points calculated by hand: a car at (10, 0), rotated by 90 degrees, and a car of the town."""

from dataclasses import replace

import numpy as np
import pytest

from tests.capture.poses import planned_poses
from tools.common.plans import scene_plan
from uavsim.capture.assemble import Assembler
from uavsim.capture.point_owners import PointOwners
from uavsim.errors import MissedTick
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images import points
from uavsim.records.recording import ActorInfo, ActorStates
from uavsim.records.sensors import LidarParams, SensorSpec
from uavsim.simulate.ports import Reading

ABOVE_BOTTOM = SE3(quaternion.IDENTITY, np.array([0.0, 0.0, 0.75]))
CAR = ActorInfo(4, 91, "vehicle", "vehicle.audi.tt", "car", (2.0, 1.0, 0.75), ABOVE_BOTTOM, 14)
PARKED = ActorInfo(7, 0, "environment", "environment.Car_3", "car", (2.0, 1.0, 0.75), ABOVE_BOTTOM, 14)
TURNS = np.stack([quaternion.from_yaw(np.pi / 2), quaternion.IDENTITY])
STATES = ActorStates(
    np.array([4, 7]),
    SE3(TURNS, np.array([[10.0, 0.0, 0.0], [0.0, 20.0, 0.0]])),
    np.zeros((2, 3)),
    np.zeros((2, 3)),
    np.zeros((2, 3)),
    np.zeros((2, 3)),
)
BEAMS = LidarParams(4, 100.0, 8000, 20.0, -10.0, -90.0)
LIDAR = SensorSpec("", (0.5, 0.0, -0.25), (0.0, 0.0, 90.0), BEAMS, ("lidar",))
PLAN = replace(scene_plan(samples=2), rig=(LIDAR,))
CHANNELS = [f"LIDAR_id_{drone}" for drone in range(5)]


def _returns(map_m: list[list[float]], *, actor: int, tag: int) -> tuple[np.ndarray, np.ndarray]:
    returns = np.zeros(len(map_m), points.RETURN)
    returns["actor"], returns["tag"] = actor, tag
    return returns, np.array(map_m)


def test_points_with_an_actor_id_belong_to_the_actor() -> None:
    """The car is turned: its length lies along y, so (10, 1.9) is on it and (11.9, 0) is not."""
    returns, map_m = _returns([[10.0, 1.9, 1.0], [10.9, 0.0, 0.5]], actor=91, tag=14)
    assert PointOwners([CAR, PARKED]).instance_ids(returns, map_m, STATES).tolist() == [4, 4]


def test_parked_car_owns_points_with_its_tag_in_its_box() -> None:
    returns, map_m = _returns([[1.9, 20.0, 1.0], [2.5, 20.0, 1.0], [0.0, 20.0, 1.4]], actor=0, tag=14)
    returns["tag"][2] = 9  # a tree that hangs over it
    assert PointOwners([CAR, PARKED]).instance_ids(returns, map_m, STATES).tolist() == [7, 0, 0]


def test_points_of_no_actor_have_id_0() -> None:
    returns, map_m = _returns([[10.0, 0.0, 1.0]], actor=17, tag=1)
    assert PointOwners([CAR, PARKED]).instance_ids(returns, map_m, STATES).tolist() == [0]


def test_points_of_another_tick_are_refused() -> None:
    """The car was 3 m farther: only two of its thirty points are in its present box."""
    points_m = [[10.0, 1.0, 1.0]] * 2 + [[10.0, 5.0, 1.0]] * 28
    returns, map_m = _returns(points_m, actor=91, tag=14)
    with pytest.raises(MissedTick, match="28 of 30 lidar points on actors lie outside of their boxes"):
        PointOwners([CAR]).instance_ids(returns, map_m, STATES)


@pytest.mark.parametrize("half_m", [(np.nan,) * 3, (np.inf,) * 3, (0.0, 0.0, 0.0)])
def test_implausible_box_refutes_and_owns_nothing(half_m: tuple[float, float, float]) -> None:
    """Some servers report such boxes of two-wheelers; points that carry its number are its own."""
    motorcycle = replace(CAR, half_extent_m=half_m)
    returns, map_m = _returns([[10.0, 1.0, 1.0]] * 40, actor=91, tag=14)
    returns["actor"][30:] = 0
    assert PointOwners([motorcycle]).instance_ids(returns, map_m, STATES).tolist() == [4] * 30 + [0] * 10


def test_actor_whose_16_bit_id_is_0_has_no_id() -> None:
    late = replace(CAR, simulator_actor_id=65536)
    returns, map_m = _returns([[50.0, 0.0, 0.0]] * 40 + [[10.0, 1.0, 1.0]], actor=0, tag=1)
    returns["tag"][40] = 14
    assert PointOwners([late]).instance_ids(returns, map_m, STATES).tolist() == [0] * 40 + [4]


def test_each_drone_has_a_lidar_at_its_mount() -> None:
    poses = planned_poses(PLAN)
    assert [pose.channel for pose in poses] == CHANNELS
    # drone 0 stands at (-20, -30, 60), turned by 0.3 rad; the mount is half a metre ahead and a quarter below
    np.testing.assert_allclose(
        poses[0].map_SE3_optical.translation_m, [-20 + 0.5 * np.cos(0.3), -30 + 0.5 * np.sin(0.3), 59.75], atol=2e-3
    )


def test_cloud_is_in_the_sensor_frame() -> None:
    """CARLA's yaw of 90 looks right: points ahead of the lidar are to the drone's right."""
    poses, returns = planned_poses(PLAN), np.zeros(1, points.RETURN)
    returns["flu_m"] = (3.0, 0.0, 0.0)
    readings = [Reading(channel, "lidar", returns) for channel in CHANNELS]
    turns = Assembler(PLAN, [CAR]).assemble(poses, readings, STATES)
    assert [turn.pose.channel for turn in turns] == CHANNELS
    point_m = turns[0].pose.map_SE3_sensor.apply(turns[0].data["lidar"][:, :3].astype(float))[0]
    origin = turns[0].pose.map_SE3_sensor.translation_m
    np.testing.assert_allclose(point_m - origin, [3 * np.sin(0.3), -3 * np.cos(0.3), 0.0], atol=2e-3)
    with pytest.raises(MissedTick, match="LIDAR_id_4 has no lidar reading"):
        Assembler(PLAN, [CAR]).assemble(poses, readings[:-1], STATES)
