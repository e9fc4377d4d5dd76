"""Objects of the world, by AirSim's names and frame."""

import math

import airsim
import pytest

from tests.airsim.paper_world import PaperHost


def test_object_poses_are_global_ned(client) -> None:
    # PlayerStart (100, -50, 2); the building stands at (30, 0, 0): 70 m south, 50 m east, 2 m below.
    pose = client.simGetObjectPose("Building_North_7")
    assert vars(pose.position) == {"x_val": -70.0, "y_val": 50.0, "z_val": 2.0}
    car = client.simGetObjectPose("vehicle_tesla_model3_142")
    assert (car.position.x_val, car.position.y_val) == (-90, 55)
    assert math.degrees(airsim.to_eularian_angles(car.orientation)[2]) == pytest.approx(90)
    assert math.isnan(client.simGetObjectPose("nobody").position.x_val)


def test_vehicle_is_a_scene_object(client) -> None:
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


def test_spawned_object_has_its_scale(serve, connect) -> None:
    host = PaperHost()
    client = connect(serve(host=host))
    pose, size = airsim.Pose(airsim.Vector3r(50, 0, -20)), airsim.Vector3r(2, 3, 0.5)
    client.simSpawnObject("crate", "vehicle.tesla.model3", pose, size)
    assert vars(client.simGetObjectScale("crate")) == vars(size)
    client.simGetImages([airsim.ImageRequest("0", airsim.ImageType.DepthPlanar, True)])
    assert host.models.scaled == ("vehicle.tesla.model3", (2.0, 3.0, 0.5))
    assert client.simSetObjectScale("crate", airsim.Vector3r(4, 4, 4))
    assert client.simGetObjectScale("crate").y_val == 4
    assert not client.simSetObjectScale("Building_North_7", airsim.Vector3r(2, 2, 2)), "the town stays as it is built"
    assert client.simGetObjectScale("nobody").x_val == 0
    for wrong in (-1, 0, float("nan")):
        with pytest.raises(Exception, match="scale must be"):
            client.simSpawnObject("x", "vehicle.tesla.model3", pose, airsim.Vector3r(1, 1, wrong))
    client.simSpawnObject("print", "vehicle.tesla.model3", pose, size, False, True)
    assert client.simGetObjectScale("print").x_val == 1, "AirSim scales no blueprint"


def test_vehicle_is_added_at_a_global_ned_pose(client) -> None:
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


def test_only_actors_with_a_body_are_objects(serve, connect) -> None:
    host = PaperHost()
    host.actor_types = lambda: {142: "vehicle.tesla.model3", 7: "sensor.camera.rgb"}  # type: ignore[method-assign]
    client = connect(serve(host=host))
    assert client.simListSceneObjects("sensor.*") == []
    assert client.simListSceneObjects("vehicle.*") == ["vehicle_tesla_model3_142"]
