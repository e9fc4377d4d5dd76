"""Check a strict dataset with the unmodified nuScenes devkit, and print one JSON report.

    .venv-judge/bin/python devkit_check.py DATAROOT VERSION [--split NAME] [--renders N --images FOLDER]

Exit codes: 0 all checks passed, 4 a check failed. Each check is {"ok": bool, ...figures...}; "note" is the reason of a check
without anything to compare, which passes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import cv2
import devkit_metrics as metrics
import matplotlib.pyplot as plt
import numpy as np
from devkit_sweeps import sweeps_fault
from devkit_velocity import velocities
from nuscenes.nuscenes import NuScenes
from nuscenes.utils.data_classes import Box, LidarPointCloud, RadarPointCloud
from nuscenes.utils.data_io import load_bin_file
from nuscenes.utils.geometry_utils import points_in_box, view_points
from pyquaternion import Quaternion

DEPTH_AGREES_M = 0.1
DEPTH_AGREES_SHARE = 0.97
RADAR_MPS = 0.05

Check = Callable[[NuScenes, argparse.Namespace], dict[str, Any]]


def walk_tables(nusc: NuScenes, _: argparse.Namespace) -> dict[str, Any]:
    """Follow every chain from its first to its last row with the devkit's ``get``."""
    problems: list[str] = []
    counts = {name: len(getattr(nusc, name)) for name in nusc.table_names}
    for scene in nusc.scene:
        steps = _chain(nusc, "sample", scene["first_sample_token"])
        if len(steps) != scene["nbr_samples"] or steps[-1] != scene["last_sample_token"]:
            problems.append(f"scene {scene['name']}: {len(steps)} samples in the chain, {scene['nbr_samples']} stated")
    for instance in nusc.instance:
        steps = _chain(nusc, "sample_annotation", instance["first_annotation_token"])
        if len(steps) != instance["nbr_annotations"] or steps[-1] != instance["last_annotation_token"]:
            problems.append(
                f"instance {instance['token']}: chain of {len(steps)}, {instance['nbr_annotations']} stated"
            )
    walked = 0
    for row in nusc.sample_data:
        walked += 0 if row["prev"] else len(_chain(nusc, "sample_data", row["token"]))
    if walked != len(nusc.sample_data):
        problems.append(f"sample_data: {walked} of {len(nusc.sample_data)} rows reached from the chains' heads")
    for sample in nusc.sample:
        if "LIDAR_TOP" not in sample["data"]:
            problems.append(f"sample {sample['token']}: no LIDAR_TOP, evaluation would stop here")
    return {"ok": not problems, "rows": counts, "problems": problems[:20]}


def _chain(nusc: NuScenes, table: str, first: str) -> list[str]:
    tokens, token = [], first
    while token:
        tokens.append(token)
        token = nusc.get(table, token)["next"]
        if len(tokens) > 10_000_000:
            raise ValueError(f"{table} {first}: its chain of next tokens is a cycle")
    return tokens


def render(nusc: NuScenes, options: argparse.Namespace) -> dict[str, Any]:
    """Draw samples and annotations into PNG files."""
    folder = Path(options.images)
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    skipped, in_sight = 0, False
    step = max(1, len(nusc.sample) // max(1, options.renders))
    for sample in nusc.sample[::step][: options.renders]:
        cameras = sorted(name for name in sample["data"] if nusc.get("sample_data", sample["data"][name])["width"])
        channel = cameras[len(files) % len(cameras)]
        path = folder / f"sample_{sample['token'][:8]}_{channel}.png"
        nusc.render_sample_data(sample["data"][channel], out_path=str(path), verbose=False, underlay_map=False)
        files.append(path)
        path = folder / f"lidar_{sample['token'][:8]}.png"
        nusc.render_sample_data(sample["data"]["LIDAR_TOP"], out_path=str(path), verbose=False, underlay_map=False)
        files.append(path)
        in_sight |= any(nusc.get("sample_annotation", token)["num_lidar_pts"] for token in sample["anns"])
        annotation_token = _annotation_in_six_cameras(nusc, sample, cameras)
        if annotation_token is None:
            skipped += 1
        else:
            path = folder / f"annotation_{annotation_token[:8]}.png"
            nusc.render_annotation(annotation_token, out_path=str(path))
            files.append(path)
        plt.close("all")
    empty = [path.name for path in files if path.stat().st_size < 5_000]
    annotations = sum(path.name.startswith("annotation") for path in files)
    ok = bool(files) and not empty and (annotations > 0 or not in_sight)
    return {"ok": ok, "images": len(files), "annotations": annotations, "skipped": skipped, "empty": empty}


def _annotation_in_six_cameras(nusc: NuScenes, sample: dict[str, Any], cameras: list[str]) -> str | None:
    """Return an annotation that lies in one camera image, as ``render_annotation`` requires."""
    for token in sorted(sample["anns"], key=lambda a: -nusc.get("sample_annotation", a)["num_lidar_pts"])[:20]:
        for camera in cameras:
            _, boxes, _ = nusc.get_sample_data(sample["data"][camera], selected_anntokens=[token])
            if len(boxes) == 1:
                return str(token)
    return None


def lidar(nusc: NuScenes, options: argparse.Namespace) -> dict[str, Any]:
    """Read and draw lidar points and their labels, and compare the devkit's projection of points with the depth images."""
    channels = sorted({row["channel"] for row in nusc.sensor if row["modality"] == "lidar"} - {"LIDAR_TOP"})
    if not channels:
        return {"ok": True, "lidars": 0}
    problems: list[str] = []
    points = labels = compared = agreeing = 0
    for sample in nusc.sample:
        for channel in (*channels, "LIDAR_TOP"):
            token = sample["data"][channel]
            cloud = LidarPointCloud.from_file(nusc.get_sample_data_path(token))
            path = Path(nusc.dataroot) / nusc.get("lidarseg", token)["filename"]
            points, labels = points + cloud.nbr_points(), labels + len(load_bin_file(str(path)))
        for token in (sample["data"][channel] for channel in channels):
            good, number = _agrees_with_depth(nusc, sample, token)
            agreeing, compared = agreeing + good, compared + number
    if points != labels:
        problems.append(f"{points} points have {labels} labels")
    nusc.list_lidarseg_categories(sort_by="index")
    nusc.get_sample_lidarseg_stats(nusc.sample[0]["token"], sort_by="count")
    share = agreeing / compared if compared else None
    if share is not None and share < DEPTH_AGREES_SHARE:
        problems.append(f"{share:.1%} of {compared} projected points are as deep as the depth image says")
    empty = [path.name for path in _lidar_drawings(nusc, channels, Path(options.images)) if path.stat().st_size < 5_000]
    problems += [f"{name} is empty" for name in empty]
    return {
        "ok": not problems and points > 0,
        "lidars": len(channels),
        "points": points,
        "compared_with_depth": compared,
        "share_as_deep": share,
        "problems": problems,
    }


def radar(nusc: NuScenes, options: argparse.Namespace) -> dict[str, Any]:
    """Read and draw radars, count their detections in boxes, and compare their speeds over ground with the tables."""
    channels = sorted({row["channel"] for row in nusc.sensor if row["modality"] == "radar"})
    detections, on_boxes = 0, dict.fromkeys((row["token"] for row in nusc.sample_annotation), 0)
    worst_mps, problems = 0.0, []
    for sample in nusc.sample:
        for token in (sample["data"][channel] for channel in channels):
            path, boxes, _ = nusc.get_sample_data(token)
            points = RadarPointCloud.from_file(path).points
            detections += points.shape[1]
            for box in boxes:
                box_points = points[:, points_in_box(box, points[:3])]
                on_boxes[box.token] += box_points.shape[1]
                worst_mps = max(worst_mps, _speed_off(box_points, _velocity_seen_from(nusc, token, box)))
    for token, count in on_boxes.items():
        stated = nusc.get("sample_annotation", token)["num_radar_pts"]
        if count > stated:
            problems.append(f"annotation {token}: {count} detections lie in its box, num_radar_pts says {stated}")
    for channel in channels[:2]:
        path = Path(options.images) / f"radar_{channel}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        nusc.render_sample_data(nusc.sample[0]["data"][channel], out_path=str(path), verbose=False, underlay_map=False)
        plt.close("all")
    problems += [fault for channel in channels if (fault := sweeps_fault(nusc, nusc.sample[-1], channel))]
    if worst_mps > RADAR_MPS:
        problems.append(f"a speed over ground is {worst_mps:.3f} m/s from that of its box")
    return {
        "ok": not problems,
        "radars": len(channels),
        "detections": detections,
        "on_objects": sum(on_boxes.values()),
        "worst_mps": worst_mps,
        "problems": problems,
    }


def _velocity_seen_from(nusc: NuScenes, token: str, box: Box) -> Any:
    """Return the velocity of a box, (3,) m/s, in the frame of one reading."""
    reading = nusc.get("sample_data", token)
    velocity = np.array(nusc.get("sample_annotation", box.token)["uav_velocity"])
    for name in ("ego_pose", "calibrated_sensor"):
        velocity = Quaternion(nusc.get(name, reading[f"{name}_token"])["rotation"]).inverse.rotate(velocity)
    return velocity


def _speed_off(detections: Any, velocity_mps: Any) -> float:
    """Return the largest difference of (18, N) detections' speeds from the (3,) velocity along their rays, m/s."""
    ray = detections[:3] / np.linalg.norm(detections[:3], axis=0)
    return float(np.abs(detections[8:10] - (velocity_mps @ ray) * ray[:2]).max(initial=0.0))


def _agrees_with_depth(nusc: NuScenes, sample: dict[str, Any], lidar_token: str) -> tuple[int, int]:
    """Project one lidar's points into its drone's cameras; return the number that agree with the depth image, and all.

    A point agrees if its depth lies between those of the pixel and its eight neighbours, with a tolerance of 0.1 m: slopes and
    edges lie between the pixels of the depth image.
    """
    drone = nusc.get("sample_data", lidar_token)["channel"].rpartition("_id_")[2]
    layers = {row["sample_data_token"]: row["filename"] for row in _layers(nusc) if row["kind"] == "depth"}
    good = number = 0
    for channel, token in sample["data"].items():
        if not channel.startswith("CAM") or channel.rpartition("_id_")[2] != drone or token not in layers:
            continue
        pixels, depth_m, _ = nusc.explorer.map_pointcloud_to_image(lidar_token, token)
        stored_cm = cv2.imread(str(Path(nusc.dataroot) / layers[token]), cv2.IMREAD_UNCHANGED)
        assert stored_cm is not None, layers[token]
        image_m = stored_cm / 100.0
        low, high = cv2.erode(image_m, np.ones((3, 3))), cv2.dilate(image_m, np.ones((3, 3)))
        u, v = pixels[0].astype(int), pixels[1].astype(int)
        good += int(((depth_m >= low[v, u] - DEPTH_AGREES_M) & (depth_m <= high[v, u] + DEPTH_AGREES_M)).sum())
        number += len(depth_m)
    return good, number


def _layers(nusc: NuScenes) -> list[dict[str, Any]]:
    path = Path(nusc.dataroot) / nusc.version / "layer.json"
    return json.loads(path.read_text()) if path.is_file() else []


def _lidar_drawings(nusc: NuScenes, channels: list[str], folder: Path) -> list[Path]:
    """Draw the first sample's points: from above, plain and by class, and in a camera by depth and by class."""
    folder.mkdir(parents=True, exist_ok=True)
    sample = nusc.sample[0]
    drone = channels[0].rpartition("_id_")[2]
    camera = next(c for c in sorted(sample["data"]) if c.startswith("CAM") and c.endswith(f"_id_{drone}"))
    files = [folder / f"lidar_{name}.png" for name in ("above", "lidarseg", "depth", "classes")]
    above: dict[str, Any] = {"verbose": False, "underlay_map": False, "axes_limit": 100}
    for path, classes in ((files[0], False), (files[1], True)):
        nusc.render_sample_data(sample["data"]["LIDAR_TOP"], out_path=str(path), show_lidarseg=classes, **above)
    for path, classes in ((files[2], False), (files[3], True)):
        nusc.render_pointcloud_in_image(
            sample["token"],
            pointsensor_channel=channels[0],
            camera_channel=camera,
            out_path=str(path),
            verbose=False,
            show_lidarseg=classes,
        )
    plt.close("all")
    return files


def corners(nusc: NuScenes, options: argparse.Namespace) -> dict[str, Any]:
    """Write the devkit's projection of every box's corners into every camera of some samples to a .npz file."""
    step = max(1, len(nusc.sample) // max(1, options.corner_samples))
    tokens, data_tokens, pixels = [], [], []
    for sample in nusc.sample[::step][: options.corner_samples]:
        for channel in sorted(sample["data"]):
            data = nusc.get("sample_data", sample["data"][channel])
            if not data["width"]:
                continue
            _, boxes, intrinsic = nusc.get_sample_data(data["token"], box_vis_level=0)
            for box in _all_boxes(nusc, data, sample) if options.all_boxes else boxes:
                tokens.append(box.token)
                data_tokens.append(data["token"])
                pixels_and_depth = view_points(box.corners(), np.asarray(intrinsic), normalize=True)
                pixels.append(np.vstack([pixels_and_depth[:2], box.corners()[2:]]).T)
    target = Path(options.corners)
    np.savez_compressed(
        target, annotation=np.array(tokens), sample_data=np.array(data_tokens), uv_depth=np.array(pixels)
    )
    none = {} if tokens else {"note": "nothing to compare: no box lies in an image with all its corners"}
    return {"ok": True, **none, "boxes": len(tokens), "file": target.name}


def _all_boxes(nusc: NuScenes, data: dict[str, Any], sample: dict[str, Any]) -> list[Box]:
    """Return all boxes of a sample in a camera's frame, like ``get_sample_data`` but without its visibility test."""
    pose = nusc.get("ego_pose", data["ego_pose_token"])
    camera = nusc.get("calibrated_sensor", data["calibrated_sensor_token"])
    boxes = [nusc.get_box(token) for token in sample["anns"]]
    for box in boxes:
        for frame in (pose, camera):
            box.translate(-np.array(frame["translation"]))
            box.rotate(Quaternion(frame["rotation"]).inverse)
    return boxes


def detection(nusc: NuScenes, options: argparse.Namespace) -> dict[str, Any]:
    """Run DetectionEval with the ground truth as predictions: AP is 1 for every class with ground truth."""
    return _evaluate(nusc, options, task="detection", good=lambda r: all(abs(c["ap"] - 1) < 1e-9 for c in r.values()))


def tracking(nusc: NuScenes, options: argparse.Namespace) -> dict[str, Any]:
    """Run TrackingEval with the ground truth as predictions: AMOTA is 1 without identity switches."""
    return _evaluate(
        nusc, options, task="tracking", good=lambda r: all(c["amota"] > 1 - 1e-9 and c["ids"] == 0 for c in r.values())
    )


def _evaluate(
    nusc: NuScenes, options: argparse.Namespace, *, task: str, good: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    scenes = _scenes(nusc, options)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        truth = metrics.truth_as_predictions(nusc, metrics.samples_of(nusc, scenes), task=task)
        if not any(truth["results"].values()):  # the devkit raises at a result file without a box
            note = "nothing to compare: no camera sees an object of a class that the devkit scores"
            return {"ok": True, "note": note, "scenes": len(scenes)}
        result = work / "truth.json"
        result.write_text(json.dumps(truth))
        dataroot = Path(options.dataroot)
        with metrics.linked_with_split(dataroot, options.version, scenes, work) as linked:
            root, split = (dataroot, options.split) if options.split else (linked, metrics.OWN_SPLIT)
            report = metrics.evaluate(nusc, result, work, task=task, version=options.version, root=root, split=split)
    note = f"nothing to compare: no such object within {metrics.EVALUATION_RANGE_M:g} m of the first drone"
    none = {} if report["classes"] else {"note": note}
    return {"ok": good(report["classes"]), **none, "scenes": len(scenes), **report}


def _scenes(nusc: NuScenes, options: argparse.Namespace) -> list[str]:
    if not options.split:
        return [scene["name"] for scene in nusc.scene]
    splits = json.loads((Path(options.dataroot) / options.version / "splits.json").read_text())
    return list(splits[options.split])


CHECKS: dict[str, Check] = {
    "tables": walk_tables,
    "render": render,
    "lidar": lidar,
    "radar": radar,
    "velocity": velocities,
    "corners": corners,
    "detection": detection,
    "tracking": tracking,
}


def main() -> int:
    """Run the selected checks; an exception of the devkit is a failure of its check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataroot")
    parser.add_argument("version")
    parser.add_argument("--split", help="split in splits.json; default: all scenes")
    parser.add_argument("--only", action="append", choices=sorted(CHECKS))
    parser.add_argument("--renders", type=int, default=3, help="number of samples to draw")
    parser.add_argument("--images", help="folder for the drawings; default: a temporary one")
    parser.add_argument("--corners", help="write projected corners of all boxes and cameras to this .npz")
    parser.add_argument("--corner-samples", type=int, default=1)
    parser.add_argument("--all-boxes", action="store_true", help="include boxes outside the image")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, metrics.prints_to_stderr():
        options.images = options.images or f"{folder}/images"
        options.corners = options.corners or f"{folder}/corners.npz"
        report = _judge(options)
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0 if report["ok"] else 4


def _judge(options: argparse.Namespace) -> dict[str, Any]:
    try:
        nusc = NuScenes(version=options.version, dataroot=options.dataroot, verbose=False)
    except Exception as error:  # noqa: BLE001 - whatever the devkit raises is its report
        return {"ok": False, "checks": {"load": _failure(error)}}
    checks: dict[str, dict[str, Any]] = {"load": {"ok": True}}
    for name in options.only or CHECKS:
        try:
            checks[name] = CHECKS[name](nusc, options)
        except Exception as error:  # noqa: BLE001 - whatever the devkit raises is its report
            checks[name] = _failure(error)
    return {"ok": all(check["ok"] for check in checks.values()), "checks": checks}


def _failure(error: Exception) -> dict[str, Any]:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return {"ok": False, "problems": [f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"]}


if __name__ == "__main__":
    sys.exit(main())
