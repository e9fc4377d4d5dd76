"""Let UAV3D's own, unmodified code judge a dataset in the uav3d dialect; prints one JSON report.

    .venv-judge/bin/python uav3d_check.py UAV3D_FOLDER DATAROOT VERSION [--infos FOLDER] [--images FOLDER]

UAV3D_FOLDER is a checkout of https://github.com/huiyegit/UAV3D that the user brings. From it run, as they are:

    perception/bevfusion/tools/data_converter/uav_converter_mini.py, uav_converter.py   tables -> info files
    visualization/functions.py                                                          boxes -> pixels -> drawings
    perception/bevfusion/projects/{loaders,evaluate,splits}.py                          detection AP

Only mmcv and mmdet3d, which they import and we do not need, are empty stand-ins; ``mmcv.dump`` hands their infos to us.
Exit codes: 0 everything holds, 4 a check failed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import pickle
import sys
import tempfile
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from nuscenes.nuscenes import NuScenes

CONVERTERS = {
    "uav_converter_mini": "perception/bevfusion/tools/data_converter/uav_converter_mini.py",
    "uav_converter": "perception/bevfusion/tools/data_converter/uav_converter.py",
}
FUNCTIONS = "visualization/functions.py"
BEVFUSION = "perception/bevfusion"
CENTRE = "CAMERA_BOTTOM_id_0"
THEIR_WIDTH_PX = 800  # written into functions.py
RANGE_M, HEIGHT_M = 102.4, 10.0
EVAL_SETS = {"v1.0-mini": ("mini_val", "mini_train"), "v1.0-trainval": ("val", "train"), "v1.0-test": ("test",)}
MIN_PX, INSIDE_SHARE, REACH_PX = 100, 0.95, 10.0


DUMPED: dict[str, Any] = {}  # arguments of their ``mmcv.dump`` by file name


def stand_ins() -> None:
    """Install empty modules mmcv and mmdet3d."""
    mmcv = types.ModuleType("mmcv")
    mmcv.track_iter_progress = iter  # type: ignore[attr-defined]
    mmcv.dump = lambda data, path: DUMPED.__setitem__(Path(path).name, pickle.loads(pickle.dumps(data)))  # type: ignore[attr-defined]
    sys.modules["mmcv"] = mmcv
    names = ("mmdet3d", "mmdet3d.core", "mmdet3d.core.bbox", "mmdet3d.core.bbox.box_np_ops", "mmdet3d.datasets")
    for name in names:
        sys.modules[name] = types.ModuleType(name)
    sys.modules["mmdet3d.core.bbox.box_np_ops"].points_cam2img = None  # type: ignore[attr-defined]
    sys.modules["mmdet3d.datasets"].NuScenesDataset = object  # type: ignore[attr-defined]


def load(path: Path) -> types.ModuleType:
    """Import one of their files by path."""
    spec = importlib.util.spec_from_file_location(f"uav3d_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def converters(options: argparse.Namespace) -> dict[str, Any]:
    """Run both converters and compare their infos with ours and the tables, field by field."""
    report: dict[str, Any] = {}
    problems: list[str] = []
    for name, script in CONVERTERS.items():
        DUMPED.clear()
        load(Path(options.folder) / script).create_nuscenes_infos(options.dataroot, "uav3d", version=options.version)
        infos = {file: data["infos"] for file, data in DUMPED.items() if data["infos"]}
        report[name] = {file: len(rows) for file, rows in infos.items()}
        for file, theirs in infos.items():
            problems += _compare(options, name, file, theirs)
    made = sum(sum(files.values()) for files in report.values())
    return {"ok": not problems and made > 0, "infos": report, "problems": problems[:20]}


def _compare(options: argparse.Namespace, converter: str, file: str, theirs: list[dict[str, Any]]) -> list[str]:
    if not options.infos:
        return []
    ours_path = Path(options.infos) / file
    ours = (
        {info["token"]: info for info in pickle.loads(ours_path.read_bytes())["infos"]} if ours_path.is_file() else {}
    )
    nusc = NuScenes(version=options.version, dataroot=options.dataroot, verbose=False)
    problems = []
    for info in theirs:
        where = f"{converter} {file} {info['token'][:8]}"
        if info["token"] not in ours:
            problems.append(f"{where}: ours has no such sample")
            continue
        expected = _with_fields_aligned(nusc, info)
        problems += [f"{where}: {text}" for text in _differences(ours[info["token"]], expected, options.dataroot)]
    return problems


def _with_fields_aligned(nusc: NuScenes, info: dict[str, Any]) -> dict[str, Any]:
    """Undo their one error: columns are truncated to the number of filtered boxes instead of filtered."""
    if "gt_boxes" not in info:
        return info
    tokens = nusc.get("sample", info["token"])["anns"]
    rows = [nusc.get("sample_annotation", token) for token in tokens]
    off = np.array([row["translation"] for row in rows]).reshape(-1, 3) - np.array(info["ego2global_translation"])
    inside = (np.abs(off[:, :2]) < RANGE_M).all(axis=1) & (np.abs(off[:, 2]) < HEIGHT_M)
    if inside.all():
        return info
    columns = {
        "gt_velocity": np.array([nusc.box_velocity(token)[:2] for token in tokens]).reshape(-1, 2),
        "num_lidar_pts": np.array([row["num_lidar_pts"] for row in rows]),
        "num_radar_pts": np.array([row["num_radar_pts"] for row in rows]),
    }
    columns["valid_flag"] = columns["num_lidar_pts"] + columns["num_radar_pts"] != 0
    for name, column in columns.items():
        if not np.array_equal(info[name], column[: inside.sum()], equal_nan=name == "gt_velocity"):
            raise ValueError(f"their {name} is neither the column nor its first rows")
    return info | {name: column[inside] for name, column in columns.items()}


def _differences(ours: Any, theirs: Any, root: str, key_path: str = "") -> list[str]:
    if isinstance(theirs, dict):
        if not isinstance(ours, dict) or set(ours) != set(theirs):
            return [f"{key_path}: fields differ: {sorted(set(ours) ^ set(theirs))}"]
        if list(ours) != list(theirs) and key_path.endswith("cams"):
            return [f"{key_path}: order differs"]
        return [text for key in theirs for text in _differences(ours[key], theirs[key], root, f"{key_path}.{key}")]
    if key_path.endswith("data_path"):
        tail = str(theirs).removeprefix(root).lstrip("/")
        return [] if str(ours).endswith(tail) else [f"{key_path}: {ours} is not {theirs}"]
    if isinstance(theirs, str) or (isinstance(theirs, np.ndarray) and theirs.dtype.kind in "US"):
        return [] if np.array_equal(ours, theirs) else [f"{key_path}: {ours} is not {theirs}"]
    one, other = np.asarray(ours, float), np.asarray(theirs, float)
    if one.shape != other.shape:
        return [f"{key_path}: shape {one.shape} is not {other.shape}"]
    same = np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)
    return [] if same else [f"{key_path}: off by {np.nanmax(np.abs(one - other)):.3g}"]


def projections(options: argparse.Namespace) -> dict[str, Any]:
    """Project all boxes of some samples with functions.py: each instance's pixels lie in its box's hull."""
    functions = load(Path(options.folder) / FUNCTIONS)
    nusc = NuScenes(version=options.version, dataroot=options.dataroot, verbose=False)
    masks = _masks(options)
    shares, drawn = [], 0
    step = max(1, len(nusc.sample) // options.samples)
    for sample in nusc.sample[::step][: options.samples]:
        for channel in sorted(sample["data"]):
            token = sample["data"][channel]
            hulls = _hulls_by_them(functions, nusc, token, channel)
            shares += _inside_shares(nusc, masks.get(token), sample, hulls)
            if options.images and drawn < 10:
                drawn += _drawn_by_them(functions, options, nusc, token, channel)
    bad = [share for share in shares if share < INSIDE_SHARE]
    return {
        "ok": bool(shares) and not bad,
        "box_views": len(shares),
        "worst_share_inside": min(shares, default=None),
        "median_share_inside": float(np.median(shares)) if shares else None,
        "bad": len(bad),
        "drawings": drawn,
    }


def _masks(options: argparse.Namespace) -> dict[str, Path]:
    path = Path(options.dataroot) / options.version / "layer.json"
    rows = json.loads(path.read_text()) if path.is_file() else []
    return {r["sample_data_token"]: Path(options.dataroot) / r["filename"] for r in rows if r["kind"] == "instance"}


def _hulls_by_them(functions: types.ModuleType, nusc: NuScenes, token: str, channel: str) -> list[np.ndarray]:
    """Return (8, 3) pixels and depth of each box in front of the camera, by their pickles in the current folder."""
    functions.get_gt_boxes(nusc, token)
    functions.get_sensor(nusc, token, "gt")
    functions.transform_boxes(channel, "gt")
    with Path(f"{channel}_bounding_boxes.pickle").open("rb") as file:
        return [np.asarray(points) for points in pickle.load(file)]


def _inside_shares(nusc: NuScenes, mask: Path | None, sample: dict[str, Any], hulls: list[np.ndarray]) -> list[float]:
    """Return the share of each instance's visible pixels in its best hull."""
    if mask is None:
        return []
    image = _read(mask, cv2.IMREAD_UNCHANGED)
    ids = image[..., 0].astype(np.int32) * 256 + image[..., 1]
    scale = ids.shape[1] / THEIR_WIDTH_PX
    shares = []
    flat = [cv2.convexHull((points[:, :2] * scale).astype(np.float32)) for points in hulls if _near(points)]
    for token in sample["anns"]:
        rows, columns = np.nonzero(ids == nusc.get("sample_annotation", token)["uav_instance_id"])
        if len(rows) < MIN_PX:
            continue
        centre = (float(columns.mean()), float(rows.mean()))
        near = [hull for hull in flat if cv2.pointPolygonTest(hull, centre, True) > -REACH_PX]
        shares.append(max((_share_in(hull, rows, columns, ids.shape) for hull in near), default=0.0))
    return shares


def _read(path: Path, flags: int) -> np.ndarray:
    image = cv2.imread(str(path), flags)
    if image is None:
        raise FileNotFoundError(f"{path}: not a readable image")
    return np.asarray(image)


def _share_in(hull: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, ...]) -> float:
    """Return the share of pixels in a hull grown by two pixels; 0 for a hull over the whole image."""
    filled = np.zeros(shape, np.uint8)
    cv2.fillConvexPoly(filled, np.round(hull).astype(np.int32), 1)
    filled = cv2.dilate(filled, np.ones((5, 5), np.uint8))
    return float(filled[rows, columns].mean()) if filled.sum() < 40 * len(rows) else 0.0


def _near(points: np.ndarray) -> bool:
    return bool(np.isfinite(points).all() and np.abs(points[:, :2]).max() < 1e5)


def _drawn_by_them(
    functions: types.ModuleType, options: argparse.Namespace, nusc: NuScenes, token: str, channel: str
) -> int:
    """Run ``draw_boxes`` on image 440 of its hard-coded folder."""
    image = Path(nusc.get_sample_data_path(token)).resolve()
    if _read(image, cv2.IMREAD_COLOR).shape[1] != THEIR_WIDTH_PX:
        return 0
    folder = Path("data/town_10/03_row_3/01_row_3_all/sweeps") / channel
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(441):
        link = folder / f"{number:04d}.png"
        link.unlink(missing_ok=True)
        link.symlink_to(image)
    target = Path("vis/town10/test")
    target.mkdir(parents=True, exist_ok=True)
    functions.draw_boxes(channel, token[:8], 1, "gt")
    for made in target.glob("*.png"):
        Path(options.images).mkdir(parents=True, exist_ok=True)
        made.replace(Path(options.images) / made.name)
    return 1


def detection(options: argparse.Namespace) -> dict[str, Any]:
    """Run their evaluation with the ground truth as predictions: AP of car is 1."""
    from nuscenes.eval.common.config import config_factory

    sys.path.insert(0, str(Path(options.folder) / BEVFUSION))
    from projects.evaluate import DetectionEval  # type: ignore[import-not-found]
    from projects.splits import create_splits_scenes  # type: ignore[import-not-found]

    report: dict[str, Any] = {}
    for eval_set in EVAL_SETS[options.version]:
        nusc = NuScenes(version=options.version, dataroot=options.dataroot, verbose=False)
        scenes = set(create_splits_scenes()[eval_set])
        samples = [s for s in nusc.sample if nusc.get("scene", s["scene_token"])["name"] in scenes]
        if not samples:
            continue
        results = {
            sample["token"]: [_prediction(nusc, t) for t in sample["anns"] if _in_range(nusc, sample, t)]
            for sample in samples
        }
        Path("truth.json").write_text(json.dumps({"meta": {"use_camera": True}, "results": results}))
        judge = DetectionEval(
            nusc, config_factory("detection_cvpr_2019"), "truth.json", eval_set, "evaluation", verbose=False
        )
        metrics, _ = judge.evaluate()
        report[eval_set] = {"car_ap": float(metrics.mean_dist_aps["car"]), "boxes": len(judge.gt_boxes.all)}
    return {"ok": bool(report) and all(abs(r["car_ap"] - 1) < 1e-9 for r in report.values()), **report}


def _in_range(nusc: NuScenes, sample: dict[str, Any], token: str) -> bool:
    """Return whether their filter keeps a box: near drone 0, |z| < 10 m, seen."""
    box = nusc.get("sample_annotation", token)
    data = nusc.get("sample_data", sample["data"][CENTRE])
    ego = nusc.get("calibrated_sensor", data["calibrated_sensor_token"])["translation"]
    off = np.array(box["translation"]) - np.array([ego[0], ego[1], 0.0])
    has_points = box["num_lidar_pts"] + box["num_radar_pts"] != 0
    return bool((np.abs(off[:2]) < RANGE_M).all() and abs(off[2]) < HEIGHT_M and has_points)


def _prediction(nusc: NuScenes, token: str) -> dict[str, Any]:
    box = nusc.get("sample_annotation", token)
    row = {key: box[key] for key in ("sample_token", "translation", "size", "rotation")}
    velocity = nusc.box_velocity(token)[:2].tolist()
    return row | {
        "velocity": velocity,
        "detection_name": "car",
        "detection_score": 1.0,
        "attribute_name": "vehicle.moving",
    }


CHECKS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "converters": converters,
    "projections": projections,
    "detection": detection,
}


@contextlib.contextmanager
def in_folder_of_its_own(options: argparse.Namespace) -> Iterator[None]:
    """Use a temporary working folder, because their code writes into it."""
    for name in ("folder", "dataroot", "infos", "images"):
        if getattr(options, name):
            setattr(options, name, str(Path(getattr(options, name)).resolve()))
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def main() -> int:
    """Run the checks; an exception in their code is a failure of its check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="checkout of UAV3D")
    parser.add_argument("dataroot", help="dataset in the uav3d dialect")
    parser.add_argument("version", choices=sorted(EVAL_SETS))
    parser.add_argument("--infos", help="our uav3d_infos_*.pkl, to be compared with theirs")
    parser.add_argument("--images", help="keep drawings by their draw_boxes here")
    parser.add_argument("--samples", type=int, default=2, help="samples to project")
    parser.add_argument("--only", action="append", choices=sorted(CHECKS))
    options = parser.parse_args()
    stand_ins()
    checks: dict[str, dict[str, Any]] = {}
    with in_folder_of_its_own(options):
        for name in options.only or CHECKS:
            try:
                checks[name] = CHECKS[name](options)
            except Exception as error:  # noqa: BLE001 - whatever their code raises is its report
                frame = traceback.extract_tb(error.__traceback__)[-1]
                checks[name] = {
                    "ok": False,
                    "problems": [f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"],
                }
    report = {"ok": all(check["ok"] for check in checks.values()), "checks": checks}
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")
    return 0 if report["ok"] else 4


if __name__ == "__main__":
    sys.exit(main())
