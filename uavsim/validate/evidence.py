"""The input of the checks: tables, boxes and cameras in the map frame, and the measurements of the images."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np

from uavsim.files.names import MISSING, name_fault
from uavsim.pool import Run, started
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import DataSet
from uavsim.validate.frames import AnnotationBoxes, Cameras, boxes_of, cameras_of
from uavsim.validate.looks import FrameLook, FrameTask, TrackTask
from uavsim.validate.temporal import time_unit_us

_NO_REGION: Final = np.zeros((0, 4), np.int64)
_POOL_FROM_TABLE_BYTES: Final = 200_000  # 400 images; for fewer, processes start too slowly


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Every (view, box) with pixels in the view's mask, over the whole dataset.

    Attributes:
        view: (P,) index into ``Evidence.looks``.
        box: (P,) row of sample_annotation.
        others: as in ``FrameLook``.
    """

    view: IntArray
    box: IntArray
    visible_px: IntArray
    inside_px: IntArray
    mask_box_px: IntArray
    box_px: FloatArray
    cut: BoolArray
    tag: IntArray

    def __len__(self) -> int:
        return len(self.view)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One version of a dataset with its measurements.

    Attributes:
        looks: one per image, by scene, channel and time.
        track: (looks,) number of the scene and channel of each look.
        cameras: one per look.
        has_masks: the dataset has instance masks, and boxes with their ids.
        pixels: the images were decoded.
    """

    data: DataSet
    boxes: AnnotationBoxes
    cameras: Cameras
    looks: tuple[FrameLook, ...]
    track: IntArray
    pairs: Pairs
    has_masks: bool
    pixels: bool


@contextmanager
def ready_to_look(folder: Path, *, workers: int) -> Iterator[Run]:
    """Start processes while tables are read, or threads for few images.

    Args:
        folder: folder of the tables.
        workers: number of processes or threads.
    """
    table = folder / "sample_data.json"
    if table.is_file() and table.stat().st_size > _POOL_FROM_TABLE_BYTES:
        with started(workers) as run:
            yield run
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="look") as pool:
            yield pool.map


def gather(data: DataSet, *, pixels: bool, run: Run) -> Evidence:
    """Transform boxes and cameras to the map frame, and measure every image.

    Args:
        data: the tables.
        pixels: decode images and masks; otherwise only measure completeness and size of the files.
        run: from ``ready_to_look``.
    """
    boxes = boxes_of(data, unit_us=time_unit_us(data))
    rows = data.camera_rows
    scene, sensor = data.scene_of_data[rows], data.sensor_of_data[rows]
    time = data["sample_data"]["timestamp"][rows]
    rows = rows[np.lexsort((time, sensor, scene))]
    cameras = cameras_of(data, rows)
    _, track = np.unique(np.stack([data.scene_of_data[rows], data.sensor_of_data[rows]]), axis=1, return_inverse=True)
    track = track.reshape(-1)
    masks = _mask_files(data)
    ids = data["sample_annotation"].get("uav_instance_id")
    tasks = _tasks(data, boxes, cameras, track, masks if ids is not None else {}, pixels=pixels)
    looks = tuple(look for found in run(_look_at_track, tasks) for look in found)
    has_masks = pixels and ids is not None and bool(masks)
    return Evidence(data, boxes, cameras, looks, track, _pairs(looks), has_masks, pixels)


def _mask_files(data: DataSet) -> dict[int, str]:
    """Return the instance mask of each sample_data row: from the table ``layer``, or by its name beside ``samples/``."""
    if "layer" in data.tables:
        layer = data["layer"]
        owner = layer["sample_data_token"].tolist()
        named = zip(owner, layer["kind"], layer["filename"], strict=True)
        return {
            row: filename
            for row, kind, filename in named
            if row >= 0 and kind == "instance" and data.files.fault(filename) in {None, MISSING}
        }
    files = {}
    for row, filename in enumerate(data["sample_data"]["filename"]):
        root, _, rest = filename.partition("/")
        if root in {"samples", "sweeps"} and not name_fault(filename):
            mask = str(PurePosixPath("masks", rest).with_suffix(".png"))
            if data.files.fault(mask) is None:
                files[row] = mask
    return files


def _tasks(
    data: DataSet, boxes: AnnotationBoxes, cameras: Cameras, track: IntArray, masks: dict[int, str], *, pixels: bool
) -> Iterator[TrackTask]:
    table, images = data["sample_annotation"], data["sample_data"]
    ids = table["uav_instance_id"] if masks else np.zeros(len(table), np.int64)
    usable = np.flatnonzero(boxes.usable)
    usable = usable[np.argsort(table["sample_token"][usable], kind="stable")]
    sample_of_box = table["sample_token"][usable]
    nothing = np.zeros(0, np.int64)
    ignored = _ignored_px(data)
    for views in np.split(np.arange(len(track)), np.flatnonzero(np.diff(track)) + 1) if len(track) else []:
        frames = []
        for view in views.tolist():
            row, sample = int(cameras.rows[view]), int(images["sample_token"][cameras.rows[view]])
            low, high = np.searchsorted(sample_of_box, [sample, sample + 1])
            is_measured = bool(images["is_key_frame"][row]) and bool(cameras.usable[view])
            box_rows = usable[low:high] if is_measured else nothing
            frames.append(
                FrameTask(
                    row=row,
                    image=images["filename"][row],
                    mask=masks.get(row),
                    box_row=box_rows,
                    instance_id=ids[box_rows],
                    centre_m=boxes.centre_m[box_rows],
                    rotation=boxes.rotation[box_rows],
                    half_lwh_m=boxes.half_lwh_m[box_rows],
                    position_m=cameras.position_m[view],
                    camera_rotation=cameras.rotation[view],
                    intrinsic=cameras.intrinsic[view],
                    ignored_px=ignored.get(row, _NO_REGION) if is_measured else None,
                    lens=lens if (lens := cameras.lenses[view]) is not None and lens.is_known else None,
                )
            )
        yield TrackTask(data.files, tuple(frames), pixels=pixels)


def _ignored_px(data: DataSet) -> dict[int, IntArray]:
    """Return the (K, 4) boxes of ``ignore_region`` by row of sample_data."""
    if "ignore_region" not in data.tables:
        return {}
    table = data["ignore_region"]
    boxes, owner = table["box"], table["sample_data_token"]
    usable = np.flatnonzero(np.isfinite(boxes).all(axis=1) & (owner >= 0))
    usable = usable[np.argsort(owner[usable], kind="stable")]
    rows, begins = np.unique(owner[usable], return_index=True)
    return dict(zip(rows.tolist(), np.split(boxes[usable].astype(np.int64), begins[1:]), strict=False))


def _look_at_track(task: TrackTask) -> list[FrameLook]:
    from uavsim.validate.image_measurements import look_at_track  # compiled code, for commands that measure images only

    return look_at_track(task)


def _pairs(looks: tuple[FrameLook, ...]) -> Pairs:
    def joined(column: str) -> AnyArray:
        return np.concatenate([getattr(look, column) for look in (FrameLook(row=-1), *looks)])

    return Pairs(
        view=np.repeat(np.arange(len(looks)), [len(look.box_row) for look in looks]),
        box=joined("box_row"),
        **{column: joined(column) for column in ("visible_px", "inside_px", "mask_box_px", "box_px", "cut", "tag")},
    )
