"""Round trip of channel names and agents."""

import pytest

from tools.common.plans import rig
from uavsim.records.channels import agent_name, channel_without_kind, split_channel
from uavsim.records.sensors import Agent, LidarParams, SensorSpec

LIDAR = SensorSpec("TOP", (0, 0, 2), (0, 0, 0), LidarParams(32, 70.0, 32_000, 20.0, 10.0, -30.0), ("lidar",))


@pytest.mark.parametrize(
    ("agent", "camera", "lidar", "number"),
    [
        (Agent(3), "CAMERA_FRONT_id_3", "LIDAR_TOP_id_3", 3),
        (Agent(1, "vehicle"), "CAM_FRONT_id_v1", "LIDAR_TOP_id_v1", 1001),
        (Agent(0, "roadside"), "CAM_FRONT_id_r0", "LIDAR_TOP_id_r0", -1),
    ],
)
def test_channels_name_the_agent(agent: Agent, camera: str, lidar: str, number: int) -> None:
    assert rig()[0].channel_of(agent) == camera
    assert LIDAR.channel_of(agent) == lidar
    assert split_channel(camera) == ("FRONT", number)
    assert agent_name(number).removeprefix("drone ") == agent.id
    assert channel_without_kind(camera) == camera.split("_", 1)[1]


@pytest.mark.parametrize("other", ["LIDAR_TOP", "CAM_FRONT", "CAMERA_FRONT_id_x1", "CAMERA_FRONT_id_v"])
def test_other_names_are_of_no_agent(other: str) -> None:
    assert split_channel(other) == (other, 0)
