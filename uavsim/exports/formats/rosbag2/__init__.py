"""ROS 2 bags, written without ROS: CDR messages with their definitions in MCAP, and ``metadata.yaml`` beside."""

from uavsim.exports.formats.rosbag2.bag import export_rosbag2

__all__ = ["export_rosbag2"]
