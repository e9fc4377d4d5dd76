from dataclasses import replace

from tools.common.plans import rig, scene_plan
from uavsim.records.sensors import Exposure, LidarParams, SensorSpec
from uavsim.simulate.airsim.settings import airsim_settings


def test_five_drones_with_five_cameras_each() -> None:
    settings = airsim_settings(scene_plan(cameras=rig(sensors=("rgb", "instance", "depth"), width=800, height=450)))
    vehicles = settings["Vehicles"]
    assert list(vehicles) == ["uav0", "uav1", "uav2", "uav3", "uav4"]
    front = vehicles["uav1"]["Cameras"]["FRONT"]
    assert (front["Pitch"], front["Yaw"]) == (-45.0, 0.0)
    assert {c["ImageType"]: (c["Width"], c["Height"], c["FOV_Degrees"]) for c in front["CaptureSettings"]} == {
        0: (800, 450, 90.0),
        1: (800, 450, 90.0),
        5: (800, 450, 90.0),
    }


def test_left_in_the_map_is_minus_y_in_ned() -> None:
    """The test swarm is rotated by 0.3 rad: its left drone (id 3) is at map (-20 sin 0.3, 20 cos 0.3)."""
    left = airsim_settings(scene_plan())["Vehicles"]["uav3"]
    assert (left["X"], left["Y"], left["Z"]) == (-5.91, -19.107, 0.0)


def test_lidar_settings_on_every_drone() -> None:
    """The mount (0.5 ahead, 0.2 left, 0.1 below) is (0.5, -0.2, 0.1) in AirSim's forward, right, down."""
    beams = LidarParams(32, 120.0, 640_000, 20.0, -25.0, -90.0)
    spec = SensorSpec("", (0.5, 0.2, -0.1), (0.0, -10.0, 30.0), beams, ("lidar",))
    for vehicle in airsim_settings(scene_plan(cameras=(*rig(), spec)))["Vehicles"].values():
        lidar = vehicle["Sensors"]["LIDAR"]
        assert (lidar["X"], lidar["Y"], lidar["Z"], lidar["Pitch"], lidar["Yaw"]) == (0.5, -0.2, 0.1, -10.0, 30.0)
        assert (lidar["SensorType"], lidar["DataFrame"], lidar["NumberOfChannels"]) == (6, "SensorLocalFrame", 32)
        assert (lidar["RotationsPerSecond"], lidar["HorizontalFOVStart"], lidar["HorizontalFOVEnd"]) == (
            20.0,
            0.0,
            360.0,
        )
    assert "Sensors" not in airsim_settings(scene_plan())["Vehicles"]["uav0"]


def test_shared_image_types_are_listed_once() -> None:
    settings = airsim_settings(scene_plan(cameras=rig(sensors=("rgb", "instance", "semantic"))))
    captures = settings["Vehicles"]["uav0"]["Cameras"]["FRONT"]["CaptureSettings"]
    assert [c["ImageType"] for c in captures] == [0, 5]


def test_cosys_airsim_settings() -> None:
    settings = airsim_settings(scene_plan(), client="cosys")
    assert settings["SettingsVersion"] == 2.0
    assert settings["InitialInstanceSegmentation"] is False
    assert "SegmentationSettings" not in settings
    assert settings["Vehicles"] == airsim_settings(scene_plan())["Vehicles"]


def test_only_the_colour_image_has_auto_exposure() -> None:
    (spec, *others) = rig(sensors=("rgb", "instance"))
    spec = replace(spec, params=replace(spec.camera, exposure=Exposure(speed=4.0, compensation=-0.5)))
    settings = airsim_settings(scene_plan(cameras=(spec, *others)))
    scene, segmentation = settings["Vehicles"]["uav0"]["Cameras"][spec.name]["CaptureSettings"]
    assert (scene["AutoExposureSpeed"], scene["AutoExposureBias"]) == (4.0, -0.5)
    assert not any(key.startswith("AutoExposure") for key in segmentation)
