"""Print a folder's content by LeRobot's own dataset class as one line of JSON: ``read_lerobot.py FOLDER``."""

import json
import sys

from lerobot.datasets.lerobot_dataset import LeRobotDataset

folder = sys.argv[1]
data = LeRobotDataset("own/own", root=folder, video_backend="pyav")
cameras = data.meta.camera_keys
near = LeRobotDataset("own/own", root=folder, video_backend="pyav", delta_timestamps={"action": [0.0, 1 / data.fps]})
rows = []
for number in range(len(data)):
    row = data[number]
    rows.append(
        {
            "episode": int(row["episode_index"]),
            "time_s": float(row["timestamp"]),
            "task": row["task"],
            "state": row["observation.state"].tolist(),
            "next_action": near[number]["action"][1].tolist(),
            "shapes": [list(row[camera].shape) for camera in cameras],
            "colours": [row[camera].mean(dim=(1, 2)).tolist() for camera in cameras],
        }
    )
lengths = [int(episode["length"]) for episode in data.meta.episodes]
sys.stdout.write(json.dumps({"fps": data.fps, "cameras": cameras, "lengths": lengths, "rows": rows}) + "\n")
