from __future__ import annotations

from tests.plans import rig, scene_plan
from uavsim.simulate.airsim_settings import airsim_settings


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
    """The test swarm is turned by 0.3 rad: its left drone (id 3) stands at (-20 sin 0.3, 20 cos 0.3) of the map."""
    left = airsim_settings(scene_plan())["Vehicles"]["uav3"]
    assert (left["X"], left["Y"], left["Z"]) == (-5.91, -19.107, 0.0)
