"""Readings of a drone's sensors."""

import math

import airsim
import numpy as np
import pytest
from headless_simulator.airsim.rangefinders import scan_directions
from scipy.spatial.transform import Rotation

from tests.airsim.conftest import hang


def test_geo_and_environment(client) -> None:
    client.simPause(True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(1000, 0, -97), airsim.to_quaternion(0, 0, 0)), True)
    gps = client.getMultirotorState().gps_location
    # 1001 m north of the origin on a sphere of 6378.137 km: 0.0089922 degrees; 100 m above 122 m.
    assert gps.latitude == pytest.approx(47.641468 + 1001 / 6378137 * 180 / math.pi, abs=1e-9)
    assert gps.altitude == pytest.approx(222)
    air = client.simGetGroundTruthEnvironment()
    assert air.air_pressure == pytest.approx(101325 * (1 - 0.0065 * 222 / 288.15) ** 5.25588, rel=1e-6)
    home = client.getHomeGeoPoint()
    assert home.altitude == pytest.approx(125)


def test_imu_gps_barometer_and_magnetometer_readings(serve, connect) -> None:
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
                "near": {"SensorType": 5, "Enabled": True, "Pitch": -90, "MinDistance": 0.0},
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
    assert answer.distance == pytest.approx(33, abs=1e-4)
    assert answer.max_distance == 100
    with pytest.raises(Exception, match="No lidar with name other"):
        client.getLidarData("other")


def test_landed_drone_measures_half_the_pawn_height(serve, connect) -> None:
    """The pawn's mesh is 29.3 cm high and its origin the middle: rays begin half of that above the ground."""
    client = connect(serve(RANGERS))
    client.simPause(True)
    client.simContinueForTime(0.5)
    assert client.getMultirotorState().landed_state == airsim.LandedState.Landed
    assert client.simGetVehiclePose().position.z_val == pytest.approx(-0.1465, abs=1e-6)

    assert client.getDistanceSensorData("down").distance == pytest.approx(0.2, abs=1e-6), "AirSim's least"
    assert client.getDistanceSensorData("near").distance == pytest.approx(0.1465, abs=1e-3)

    points = np.array(client.getLidarData("lidar").point_cloud).reshape(-1, 3)
    assert len(points) == 8 * 100
    assert points[:, 2] == pytest.approx(np.full(800, 0.1465), rel=1e-5)
    (depth,) = client.simGetImages([airsim.ImageRequest("bottom_center", airsim.ImageType.DepthPlanar, True)])
    assert np.array(depth.image_data_float) == pytest.approx(0.1465 - 0.12, rel=1e-3), "12 cm under the origin"


def test_drone_lands_on_a_roof(serve, connect) -> None:
    client = connect(serve({"ClockSpeed": 20, "PlayerStart": {"X": 30, "Y": 0, "Z": 25}, **RANGERS}))
    client.enableApiControl(True)
    client.moveToZAsync(-2, 2).get()  # it falls until the first command comes: sooner or later on a busy machine
    client.landAsync(60).get()
    assert client.simGetVehiclePose().position.z_val == pytest.approx(5 - 0.1465, abs=0.01)
    assert client.getDistanceSensorData("near").distance == pytest.approx(0.1465, abs=0.01)


def test_lidar_points_lie_on_the_surfaces_that_rays_meet(serve, connect) -> None:
    """A tilted drone beside the building and over the car: every point is on one of their faces, or on the ground."""
    client = connect(serve(RANGERS))
    client.simPause(True)
    turn = airsim.to_quaternion(0.1, -0.2, 0.7)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(19, 4, -9), turn), True)
    data = client.getLidarData("lidar")
    frd = np.array(data.point_cloud).reshape(-1, 3)
    quat = [turn.x_val, turn.y_val, turn.z_val, turn.w_val]
    at_m = (Rotation.from_quat(quat).apply(frd) + [19, 4, -9]) * [1, 1, -1]
    boxes = {"building": ([30, 0, 10], [5, 8, 10]), "car": ([10, 5, 0.75], [1.0, 2.4, 0.75])}
    off_m = {name: np.abs((np.abs(at_m - centre) - half).max(axis=1)) for name, (centre, half) in boxes.items()}
    off_m["ground"] = np.abs(at_m[:, 2])
    nearest = np.argmin(list(off_m.values()), axis=0)
    assert np.bincount(nearest).min() > 10  # points on each of the three
    assert np.min(list(off_m.values()), axis=0).max() < 1e-4
    ids = np.array(data.segmentation)
    assert all(len(set(ids[nearest == number])) == 1 for number in range(3))


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


@pytest.mark.parametrize(
    ("start", "end", "degrees"),
    [(0, 0, range(0, 360)), (0, 360, range(0, 360)), (0, 359, range(0, 360)), (90, 180, range(90, 181)),
     (350, 10, [*range(0, 11), *range(350, 360)]), (-10, 10, [*range(0, 11), *range(350, 360)])],
)  # fmt: skip
def test_lidar_horizontal_field_of_view(start: int, end: int, degrees) -> None:
    options = {
        "NumberOfChannels": 1, "RotationsPerSecond": 10, "PointsPerSecond": 3600, "VerticalFOVUpper": 0,
        "VerticalFOVLower": 0, "HorizontalFOVStart": start, "HorizontalFOVEnd": end,
    }  # fmt: skip
    forward, right, down = scan_directions(options).T
    assert np.allclose(down, 0)
    assert np.rint(np.degrees(np.arctan2(right, forward)) % 360).astype(int).tolist() == list(degrees)
