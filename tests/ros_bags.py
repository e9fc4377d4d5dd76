"""ROS 2 bags, read by rosbags and MCAP's decoder of ROS 2 messages in a separate environment."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.other_python import printed_by, python_of

READ = """
import json, sys
from pathlib import Path
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

bag = Path(sys.argv[1])
found = {}
with AnyReader([bag]) as reader:
    for connection, time_ns, data in reader.messages():
        message = reader.deserialize(data, connection.msgtype)
        one = found.setdefault(connection.topic, {"type": connection.msgtype, "times_ns": [], "stamps_ns": []})
        one["times_ns"].append(time_ns)
        if hasattr(message, "header"):
            one["stamps_ns"].append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            one["frame"] = message.header.frame_id
        if hasattr(message, "twist"):
            linear, pose = message.twist.twist.linear, message.pose.pose.position
            one["velocity"], one["place"] = [linear.x, linear.y, linear.z], [pose.x, pose.y, pose.z]
        if hasattr(message, "k"):
            one["k"] = message.k.tolist()
        if hasattr(message, "encoding"):
            one["middle"] = float(message.data.view("<f4").reshape(message.height, message.width)[45, 80])
        if connection.msgtype.endswith("Detection2DArray"):
            one["boxes_px"] = [
                [d.id, d.bbox.center.position.x, d.bbox.center.position.y, d.bbox.size_x, d.bbox.size_y,
                 d.results[0].pose.pose.position.z] for d in message.detections
            ]
        elif hasattr(message, "detections"):
            one["boxes"] = [[d.id, d.results[0].hypothesis.class_id, d.bbox.size.x] for d in message.detections]
        if hasattr(message, "transforms"):
            one.setdefault("frames", []).extend([t.header.frame_id, t.child_frame_id] for t in message.transforms)
count = 0
with open(next(bag.glob("*.mcap")), "rb") as file:
    for _ in make_reader(file, decoder_factories=[DecoderFactory()], validate_crcs=True).iter_decoded_messages():
        count += 1
print(json.dumps({"found": found, "count": count}))
"""


def read_bag(bag: Path) -> dict[str, Any]:
    """Read all messages with both readers; returns counts, and times and further values by topic."""
    found: dict[str, Any] = json.loads(printed_by("readers", READ, bag))
    assert found["count"] == sum(len(one["times_ns"]) for one in found["found"].values())
    return found


def convert_to_ros_1(bag: Path, made: Path) -> None:
    """Convert a bag to ROS 1 with ``rosbags-convert``."""
    subprocess.run([python_of("readers").with_name("rosbags-convert"), "--src", bag, "--dst", made], check=True)
    assert made.read_bytes().startswith(b"#ROSBAG V2.0")
