"""Names of ROS topics and frames in three styles."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from uavsim.records.channels import agent_of, split_channel
from uavsim.registry import pick

_AIRSIM: Final = {
    "odometry": "/airsim_node/{agent}/odom_local_enu",
    "rgb": "/airsim_node/{agent}/{sensor}/Scene/compressed",
    "camera_info": "/airsim_node/{agent}/{sensor}/Scene/camera_info",
    "instance": "/airsim_node/{agent}/{sensor}/Segmentation/compressed",
    "depth": "/airsim_node/{agent}/{sensor}/DepthPlanar",
    "detections": "/airsim_node/{agent}/{sensor}/detections",
    "lidar": "/airsim_node/{agent}/lidar/{sensor}",
    "radar": "/airsim_node/{agent}/radar/{sensor}",
    "imu": "/airsim_node/{agent}/imu/{sensor}",
    "gnss": "/airsim_node/{agent}/gps/{sensor}",
    "barometer": "/airsim_node/{agent}/altimeter/{sensor}",
    "magnetometer": "/airsim_node/{agent}/magnetometer/{sensor}",
    "boxes": "/boxes",
}
_CARLA: Final = {
    "odometry": "/carla/{agent}/odometry",
    "rgb": "/carla/{agent}/{sensor}/image/compressed",
    "camera_info": "/carla/{agent}/{sensor}/camera_info",
    "instance": "/carla/{agent}/{sensor}/instance_segmentation/compressed",
    "depth": "/carla/{agent}/{sensor}/depth",
    "detections": "/carla/{agent}/{sensor}/detections",
    "lidar": "/carla/{agent}/{sensor}",
    "radar": "/carla/{agent}/{sensor}",
    "imu": "/carla/{agent}/{sensor}",
    "gnss": "/carla/{agent}/{sensor}",
    "barometer": "/carla/{agent}/{sensor}",
    "magnetometer": "/carla/{agent}/{sensor}",
    "boxes": "/carla/objects",
}
_NUSCENES2MCAP: Final = {
    "odometry": "/odom/{agent}",
    "rgb": "/{channel}/image_rect_compressed",
    "camera_info": "/{channel}/camera_info",
    "instance": "/{channel}/instance",
    "depth": "/{channel}/depth",
    "detections": "/{channel}/annotations",
    "lidar": "/{channel}",
    "radar": "/{channel}",
    "imu": "/imu/{agent}",
    "gnss": "/gps/{agent}",
    "barometer": "/pressure/{agent}",
    "magnetometer": "/magnetic_field/{agent}",
    "boxes": "/markers/annotations",
}
STYLES: Final[Mapping[str, Mapping[str, str]]] = {
    "airsim": _AIRSIM,
    "carla": _CARLA,
    "nuscenes2mcap": _NUSCENES2MCAP,
}
"""Topic names by content: of AirSim's ROS wrapper (east-north-up), CARLA's ROS bridge, and Foxglove's nuscenes2mcap."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one channel.

    Attributes:
        agent: ``drone_0``, ``vehicle_1``, ``roadside_0``; also the name of its flu frame (REP 103).
        frame: frame of the sensor's data; a camera's ends in ``_optical`` (REP 103).
        topics: topic names by content.
    """

    agent: str
    frame: str
    topics: Mapping[str, str]


def names_of(channel: str, *, style: str, is_optical: bool) -> Names:
    """Return the names of a channel.

    Raises:
        UnknownNameError: no such style.
    """
    kind, number = agent_of(channel)
    agent, sensor = f"{kind}_{number}", split_channel(channel)[0].lower()
    frame = f"{agent}/{sensor}" + ("_optical" if is_optical else "")
    styled = pick(STYLES, style, what="style of topics")
    return Names(agent, frame, {k: t.format(agent=agent, sensor=sensor, channel=channel) for k, t in styled.items()})
