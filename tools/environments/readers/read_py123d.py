"""Read output of ``py123d-conversion`` with py123d's own scenes, maps and cameras: read_py123d.py ROOT OUT.json."""

import json
import sys
from pathlib import Path
from typing import Any

from py123d.api.scene.arrow.arrow_scene_builder import ArrowSceneBuilder
from py123d.api.scene.scene_filter import SceneFilter
from py123d.common.execution import SequentialExecutor

root = Path(sys.argv[1])
longest: dict[tuple[str, str], Any] = {}  # a scene starts at each frame of a log: use the first
for scene in ArrowSceneBuilder(root / "logs", root / "maps").get_scenes(SceneFilter(), SequentialExecutor()):
    log = scene.get_log_metadata()
    key = (log.dataset, log.log_name)
    if key not in longest or scene.get_all_iteration_timestamps()[0] < longest[key].get_all_iteration_timestamps()[0]:
        longest[key] = scene
found = []
for (dataset, name), scene in sorted(longest.items()):
    town_map = scene.get_map_api()
    frames = []
    for number, time in enumerate(scene.get_all_iteration_timestamps()):
        detections = scene.get_box_detections_se3_at_iteration(number)
        boxes = {box.attributes.track_token: box.bounding_box_se3 for box in detections.box_detections}
        cameras = {}
        for ident, camera_metadata in scene.get_camera_metadatas().items():
            camera = scene.get_camera_at_iteration(number, ident)
            views = {}
            for token, box in boxes.items():
                pixels, _, depth_m = camera.project_points_global(box.corners_array)
                if (depth_m > 0.5).all():
                    views[token] = pixels.tolist()
            cameras[camera_metadata.camera_name] = {"shape": camera.image.shape, "boxes_px": views}
        poses = {token: box.center_se3.transformation_matrix.tolist() for token, box in boxes.items()}
        frames.append({"tenths": time.time_us / 1e5, "boxes": poses, "cameras": cameras})
    layers = town_map.get_available_map_layers() if town_map else []
    count = sum(len(town_map.get_all_map_object_ids_in_layer(layer)) for layer in layers)
    found.append({"dataset": dataset, "log": name, "map_objects": count, "frames": frames})
Path(sys.argv[2]).write_text(json.dumps(found), "utf-8")
