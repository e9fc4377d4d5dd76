"""One sample on one page: every camera of every drone with the boxes drawn, as the tables on disk say them.

Read back from the written tables, so that what people look at is what users of the data set get.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from uavsim.dataset.reader import SceneRows, open_dataset
from uavsim.dataset.rows import SensorRow
from uavsim.dataset.schema import SENSOR
from uavsim.errors import DatasetError
from uavsim.files.parse import reading
from uavsim.files.whole import write_whole
from uavsim.geometry import cuboid, pinhole, quaternion
from uavsim.geometry.se3 import SE3
from uavsim.images import codec, draw
from uavsim.typing import FloatArray, JsonDict, UInt8Array

__all__ = ["draw_contact_sheet", "write_contact_sheet"]

_TILE_WIDTH_PX = 480
_NEAREST_M = 0.1


def write_contact_sheet(
    root: Path, path: Path, *, version: str, scene: str | None = None, sample: int | None = None
) -> Path:
    """Write the page as PNG.

    Args:
        root: the data set's folder.
        path: of the PNG.
        version: ``v1.0-mini``.
        scene: its name; the first one by default.
        sample: keyframe number; the middle one by default.

    Raises:
        DatasetError: no such scene or sample, or images are missing.
        StorageError: the page cannot be written.
    """
    with reading(root):
        return _write_sheet(root, path, version=version, scene=scene, sample=sample)


def _write_sheet(root: Path, path: Path, *, version: str, scene: str | None, sample: int | None) -> Path:
    for rows in open_dataset(root, version).scenes():
        if scene in {None, rows.scene["name"]}:
            sensors = {row["token"]: row for row in open_dataset(root, version).shared(SENSOR)}
            page = draw_contact_sheet(root, rows, sensors=sensors, sample=sample)
            return write_whole(path, codec.encode_png(page, level=2))
    raise DatasetError(f"{root}: no scene {scene!r}")


def draw_contact_sheet(
    root: Path, rows: SceneRows, *, sensors: dict[str, SensorRow], sample: int | None = None
) -> UInt8Array:
    """Return the page: a row per drone, a column per camera."""
    samples = rows.rows["sample"]
    number = len(samples) // 2 if sample is None else sample
    if not 0 <= number < len(samples):
        raise DatasetError(f"scene {rows.scene['name']} has samples 0-{len(samples) - 1}, no {number}")
    token = samples[number]["token"]
    calibrations = {row["token"]: row for row in rows.rows["calibrated_sensor"]}
    poses = {row["token"]: row for row in rows.rows["ego_pose"]}
    channels = {token: sensors[row["sensor_token"]] for token, row in calibrations.items()}
    images = [
        row
        for row in rows.rows["sample_data"]
        if row["sample_token"] == token
        and row["is_key_frame"]
        and channels[row["calibrated_sensor_token"]]["modality"] == "camera"
    ]
    if not images:
        raise DatasetError(f"scene {rows.scene['name']}: sample {number} has no images")
    boxes = [
        row
        for row in rows.rows["sample_annotation"]
        if row["sample_token"] == token and row["uav_visible_px" if "uav_visible_px" in row else "num_lidar_pts"] > 0
    ]
    corners_map_m, colours = _corners(boxes), _colours(boxes, rows.rows["instance"])
    seen_in = _seen_in(rows, boxes)
    tiles, captions = [], []
    for row in images:
        calibration = calibrations[row["calibrated_sensor_token"]]
        canvas = np.ascontiguousarray(codec.decode_rgb(root / row["filename"]))
        chosen = seen_in.get(row["token"], []) if seen_in is not None else list(range(len(boxes)))
        shown = [colours[k] for k in chosen]
        _draw_boxes(canvas, corners_map_m[chosen], shown, pose=poses[row["ego_pose_token"]], calibration=calibration)
        tiles.append(canvas)
        captions.append(str(channels[calibration["token"]]["channel"]))
    drones = {caption.rpartition("_id_")[2] for caption in captions}
    columns = max(len(tiles) // max(len(drones), 1), 1)
    return draw.contact_sheet(tiles, columns=columns, tile_width_px=_TILE_WIDTH_PX, captions=captions)


def _seen_in(rows: SceneRows, boxes: list[JsonDict]) -> dict[str, list[int]] | None:
    """Tell, by image, which boxes have pixels in it; None where the data set does not say."""
    details = rows.rows.get("visibility_detail")
    if not details:
        return None
    number = {row["token"]: k for k, row in enumerate(boxes)}
    seen: dict[str, list[int]] = {}
    for detail in details:
        k = number.get(detail["sample_annotation_token"])
        for view in detail["views"] if k is not None else ():
            if view["visible_px"] > 0 and k is not None:
                seen.setdefault(view["sample_data_token"], []).append(k)
    return seen


def _corners(boxes: list[JsonDict]) -> FloatArray:
    """(N, 8, 3) corners in the map frame."""
    if not boxes:
        return np.zeros((0, 8, 3))
    size_lwh_m = cuboid.lwh_from_wlh(np.array([row["size"] for row in boxes], dtype=np.float64))
    centre_m = np.array([row["translation"] for row in boxes], dtype=np.float64)
    turn = np.array([row["rotation"] for row in boxes], dtype=np.float64)
    return cuboid.corners(SE3.from_quat_wxyz(turn, centre_m), size_lwh_m=size_lwh_m)


def _colours(boxes: list[JsonDict], instances: list[JsonDict]) -> list[draw.Colour]:
    """One colour an instance, the same in every image."""
    of_token = dict(zip((row["token"] for row in instances), draw.palette(len(instances)), strict=True))
    return [of_token[row["instance_token"]] for row in boxes]


def _draw_boxes(
    canvas: UInt8Array, corners_map_m: FloatArray, colours: list[draw.Colour], *, pose: JsonDict, calibration: JsonDict
) -> None:
    """Draw what the image sees: map -> ego -> sensor -> pixels, as the devkit does."""
    ego_m = _into(corners_map_m, pose)
    optical_m = _into(ego_m, calibration)
    ahead = (optical_m[..., 2] > _NEAREST_M).all(axis=-1)
    pixels = pinhole.project(optical_m[ahead], intrinsic=np.array(calibration["camera_intrinsic"], dtype=np.float64))
    height_px, width_px = canvas.shape[:2]
    inside = pinhole.pixel_in_image(pixels, width_px=width_px, height_px=height_px).any(axis=-1)
    kept = [colours[k] for k in np.flatnonzero(ahead)[np.atleast_1d(inside)].tolist()]
    draw.draw_boxes_3d(canvas, pixels[inside], colours=kept, width_px=max(round(width_px / 400), 1))


def _into(points_m: FloatArray, row: JsonDict) -> FloatArray:
    """Take points into the frame whose pose in the points' frame is ``row``."""
    q_wxyz = quaternion.conjugate(np.array(row["rotation"], dtype=np.float64))
    return quaternion.rotate(q_wxyz, points_m - np.array(row["translation"], dtype=np.float64))
