from __future__ import annotations

import json
import math
from dataclasses import replace

import airsim
import numpy as np
import pytest
from headless_simulator.airsim.rangefinders import scan_directions

from tests.airsim.conftest import hang
from tests.airsim.paper_world import PaperHost


@pytest.fixture
def client(serve, connect):
    return connect(serve({"PlayerStart": {"X": 100, "Y": -50, "Z": 2}, "Vehicles": {"A": {"X": 1, "Z": -3}}}))


def test_object_poses_are_global_ned(client) -> None:
    # PlayerStart (100, -50, 2); the building stands at (30, 0, 0): 70 m south, 50 m east, 2 m below.
    pose = client.simGetObjectPose("Building_North_7")
    assert vars(pose.position) == {"x_val": -70.0, "y_val": 50.0, "z_val": 2.0}
    car = client.simGetObjectPose("vehicle_tesla_model3_142")
    assert (car.position.x_val, car.position.y_val) == (-90, 55)
    assert math.degrees(airsim.to_eularian_angles(car.orientation)[2]) == pytest.approx(90)
    assert math.isnan(client.simGetObjectPose("nobody").position.x_val)


def test_vehicle_is_an_object_too(client) -> None:
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -7), airsim.to_quaternion(0, 0, 0)), True, "A")
    pose = client.simGetObjectPose("A")
    assert vars(pose.position) == {"x_val": 1.0, "y_val": 0.0, "z_val": -10.0}  # spawn offset added
    assert client.simSetObjectPose("A", airsim.Pose(airsim.Vector3r(1, 2, -13), airsim.to_quaternion(0, 0, 0)))
    assert vars(client.simGetVehiclePose("A").position) == {"x_val": 0.0, "y_val": 2.0, "z_val": -10.0}


def test_lists_and_moves_objects(client) -> None:
    names = client.simListSceneObjects()
    assert {"Building_North_7", "vehicle_tesla_model3_142", "Ground_Road", "SkySphere", "A"} <= set(names)
    assert client.simListSceneObjects("vehicle.*") == ["vehicle_tesla_model3_142"]
    assert client.simSetObjectPose("vehicle_tesla_model3_142", airsim.Pose(airsim.Vector3r(0, 0, 2)))
    assert client.simGetObjectPose("vehicle_tesla_model3_142").position.x_val == 0
    assert not client.simSetObjectPose("Building_North_7", airsim.Pose(airsim.Vector3r(0, 0, 0)))
    assert client.simSetObjectPose("vehicle_tesla_model3_142", airsim.Pose.nanPose()), "NaN parts stay"
    assert client.simGetObjectPose("vehicle_tesla_model3_142").position.x_val == 0
    assert client.simSetObjectPose("nobody", airsim.Pose.nanPose()) is False


def test_spawns_and_destroys(client) -> None:
    pose = airsim.Pose(airsim.Vector3r(-95, 50, 2), airsim.to_quaternion(0, 0, 0))
    assert client.simListAssets() == ["vehicle.tesla.model3", "drone.quadrotor"]
    first = client.simSpawnObject("crate", "vehicle.tesla.model3", pose, airsim.Vector3r(1, 1, 1))
    second = client.simSpawnObject("crate", "vehicle.tesla.model3", pose, airsim.Vector3r(1, 1, 1))
    assert (first, second) == ("crate", "crate1")
    assert client.simGetObjectPose("crate").position.x_val == -95
    assert client.simDestroyObject("crate") is True
    assert client.simDestroyObject("crate") is False
    assert math.isnan(client.simGetObjectPose("crate").position.x_val)
    with pytest.raises(Exception, match="no model"):
        client.simSpawnObject("x", "vehicle.none", pose, airsim.Vector3r(1, 1, 1))


def test_adds_a_vehicle_at_a_global_place(client) -> None:
    assert client.simAddVehicle(
        "B", "simpleflight", airsim.Pose(airsim.Vector3r(5, 6, -20), airsim.to_quaternion(0, 0, 1))
    )
    assert not client.simAddVehicle("B", "simpleflight", airsim.Pose())
    assert client.listVehicles() == ["A", "B"]
    assert client.simGetObjectPose("B").position.y_val == pytest.approx(6)
    assert client.getMultirotorState("B").kinematics_estimated.position.x_val == 0
    client.enableApiControl(True, "B")
    assert client.isApiControlEnabled("B")
    assert not client.isApiControlEnabled("A")


def test_geo_and_environment(client) -> None:
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(1000, 0, -97), airsim.to_quaternion(0, 0, 0)), True)
    place = client.getMultirotorState().gps_location
    # 1001 m north of the origin on a sphere of 6378.137 km: 0.0089922 degrees; 100 m above 122 m.
    assert place.latitude == pytest.approx(47.641468 + 1001 / 6378137 * 180 / math.pi, abs=1e-9)
    assert place.altitude == pytest.approx(222)
    air = client.simGetGroundTruthEnvironment()
    assert air.air_pressure == pytest.approx(101325 * (1 - 0.0065 * 222 / 288.15) ** 5.25588, rel=1e-6)
    home = client.getHomeGeoPoint()
    assert home.altitude == pytest.approx(125)


def test_imu_feels_gravity_and_gps_tells_velocity(serve, connect) -> None:
    client = connect(serve())
    hang(client)
    imu = client.getImuData()
    assert imu.linear_acceleration.z_val == pytest.approx(-9.81, abs=0.3)
    assert client.getImuData().linear_acceleration.z_val == imu.linear_acceleration.z_val, "same moment, same noise"
    client.simContinueForTime(0.003)
    assert client.getImuData().linear_acceleration.z_val != imu.linear_acceleration.z_val
    gps = client.getGpsData()
    assert gps.is_valid
    assert gps.gnss.fix_type == 3
    assert client.getBarometerData().altitude == pytest.approx(122 + 50, abs=1.5)
    assert client.getMagnetometerData().magnetic_field_body.z_val == pytest.approx(0.49, abs=0.03)


RANGERS = {
    "Vehicles": {
        "A": {
            "Sensors": {
                "down": {"SensorType": 5, "Enabled": True, "Pitch": -90, "MaxDistance": 100},
                "lidar": {"SensorType": 6, "Enabled": True, "NumberOfChannels": 8, "PointsPerSecond": 8000,
                          "VerticalFOVUpper": -20, "VerticalFOVLower": -60, "HorizontalFOVEnd": 360,
                          "DataFrame": "SensorLocalFrame"},
            }
        }
    }
}  # fmt: skip


def test_distance_sensor_measures_the_height(serve, connect) -> None:
    client = connect(serve(RANGERS))
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -33), airsim.to_quaternion(0, 0, 0)), True)
    answer = client.getDistanceSensorData("down")
    assert answer.distance == pytest.approx(33, abs=0.05)
    assert answer.max_distance == 100
    with pytest.raises(Exception, match="No lidar with name other"):
        client.getLidarData("other")


def test_lidar_points_lie_on_the_ground(serve, connect) -> None:
    client = connect(serve(RANGERS))
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(-60, -60, -10), airsim.to_quaternion(0, 0, 0)), True)
    data = client.getLidarData("lidar")
    points = np.array(data.point_cloud).reshape(-1, 3)
    assert len(points) == 8 * 100
    # 10 m up over flat ground: every ray of -20 to -60 degrees lands at z = 10, the farthest 27.5 m away.
    assert points[:, 2] == pytest.approx(np.full(800, 10.0), rel=0.03)
    assert np.hypot(points[:, 0], points[:, 1]).max() == pytest.approx(10 / math.tan(math.radians(20)), rel=0.03)
    assert len(data.segmentation) == len(points)


def test_line_of_sight(serve, connect) -> None:
    client = connect(serve())

    def geo(north: float, east: float, up: float) -> airsim.GeoPoint:
        point = airsim.GeoPoint()
        point.latitude = 47.641468 + math.degrees(north / 6378137)
        point.longitude = -122.140165 + math.degrees(east / (6378137 * math.cos(math.radians(47.641468))))
        point.altitude = 122 + up
        return point

    assert not client.simTestLineOfSightBetweenPoints(geo(10, 0, 5), geo(50, 0, 5)), "the building is between"
    assert client.simTestLineOfSightBetweenPoints(geo(10, 0, 30), geo(50, 0, 30))
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(10, 0, -30), airsim.to_quaternion(0, 0, 0)), True)
    assert client.simTestLineOfSightToPoint(geo(50, 0, 30))
    low, high = client.simGetWorldExtents()
    assert high.altitude - low.altitude == pytest.approx(20)


def test_gains_and_rotors(serve, connect) -> None:
    client = connect(serve())
    hang(client)
    client.setVelocityControllerGains(airsim.VelocityControllerGains())
    client.setPositionControllerGains(airsim.PositionControllerGains())
    client.setAngleRateControllerGains()
    client.setAngleLevelControllerGains()
    client.simContinueForTime(2)
    rotors = client.getRotorStates().rotors
    assert sum(r["thrust"] for r in rotors) == pytest.approx(9.80665 / 0.984, rel=0.01)  # its weight, in thinner air


def test_reset_goes_home_and_takes_control_away(serve, connect) -> None:
    client = connect(serve())
    hang(client)
    task = client.moveToPositionAsync(50, 0, -50, 1)
    client.reset()
    assert task.get() is False
    assert client.getMultirotorState().kinematics_estimated.position.z_val == 0
    assert not client.isApiControlEnabled()


def test_settings_come_back(serve, connect) -> None:
    client = connect(serve({"ClockSpeed": 2}))
    assert json.loads(client.getSettingsString())["ClockSpeed"] == 2


def test_recording(serve, connect, tmp_path) -> None:
    client = connect(serve({"Recording": {"Folder": str(tmp_path / "rec"), "RecordInterval": 0.01}}))
    client.startRecording()
    assert client.isRecording()
    client.stopRecording()
    assert not client.isRecording()
    lines = (tmp_path / "rec" / "airsim_rec.txt").read_text().splitlines()
    assert lines[0].split("\t")[:3] == ["VehicleName", "TimeStamp", "POS_X"]
    assert len(lines) >= 2
    with pytest.raises(Exception, match="Recording"):
        connect(serve()).startRecording()


def test_ground_lock_on_collision_disabled_vehicle(serve, connect) -> None:
    client = connect(serve({"Vehicles": {"A": {"EnableCollisions": False}}}))
    client.simPause(True)
    client.simContinueForTime(1)
    assert client.getMultirotorState().kinematics_estimated.position.z_val > 3, "nothing stops it"


def test_starts_anew_when_the_host_loads_another_town(serve, connect) -> None:
    host = PaperHost()
    client = connect(serve({"Vehicles": {"A": {"X": 1}}}, host=host))
    hang(client)
    task = client.moveToPositionAsync(50, 0, -50, 1)
    client.simSetSegmentationObjectID(".*", 9, True)
    tower = replace(host.town.objects[0], name="Tower_1", object_id=5)
    host.town = replace(host.town, name="Other", objects=(tower,))

    assert "Tower_1" in client.simListSceneObjects("T.*")

    assert client.simListSceneObjects("Building.*") == []
    assert client.simGetSegmentationObjectID("Tower_1") == (5 + sum(map(ord, "tower"))) % 256
    assert task.get() is False
    assert client.getMultirotorState().kinematics_estimated.position.z_val == 0


def test_only_actors_with_a_body_are_objects(serve, connect) -> None:
    host = PaperHost()
    host.actor_types = lambda: {142: "vehicle.tesla.model3", 7: "sensor.camera.rgb"}  # type: ignore[method-assign]
    client = connect(serve(host=host))
    assert client.simListSceneObjects("sensor.*") == []
    assert client.simListSceneObjects("vehicle.*") == ["vehicle_tesla_model3_142"]


@pytest.mark.parametrize(
    ("start", "end", "degrees"),
    [(0, 0, range(0, 360)), (0, 360, range(0, 360)), (0, 359, range(0, 360)), (90, 180, range(90, 181)),
     (350, 10, [*range(0, 11), *range(350, 360)]), (-10, 10, [*range(0, 11), *range(350, 360)])],
)  # fmt: skip
def test_a_lidars_horizontal_field_of_view_is_cut_out_of_a_whole_turn(start: int, end: int, degrees) -> None:
    options = {
        "NumberOfChannels": 1, "RotationsPerSecond": 10, "PointsPerSecond": 3600, "VerticalFOVUpper": 0,
        "VerticalFOVLower": 0, "HorizontalFOVStart": start, "HorizontalFOVEnd": end,
    }  # fmt: skip
    forward, right, down = scan_directions(options).T
    assert np.allclose(down, 0)
    assert np.rint(np.degrees(np.arctan2(right, forward)) % 360).astype(int).tolist() == list(degrees)
