"""Everything that the checks look at, gathered once: geometry in the map and what was measured in the images."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np

from uavsim.files.names import MISSING, name_fault
from uavsim.pool import Run, started
from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import DataSet
from uavsim.validate.frames import AnnotationBoxes, Cameras, boxes_of, cameras_of
from uavsim.validate.looks import FrameLook, FrameTask, TrackTask
from uavsim.validate.temporal import time_unit_us

_NO_REGION: Final = np.zeros((0, 4), np.int64)
_POOL_FROM_TABLE_BYTES: Final = 200_000  # 400 images; below, starting processes costs more than it saves


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
    """One version of a dataset, read and looked at.

    Attributes:
        looks: one an image, by scene, channel and time; empty file states where images were not opened.
        track: (looks,) number of the scene-and-channel that a look belongs to.
        cameras: of the looks, row by row.
        has_masks: instance masks are there and boxes have ids, so that boxes can be held against pixels.
        pixels: images were decoded.
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
    """Have processes start while tables are read, threads where images are few: processes take longer to start.

    Args:
        folder: of the tables.
        workers: that look at images.
    """
    table = folder / "sample_data.json"
    if table.is_file() and table.stat().st_size > _POOL_FROM_TABLE_BYTES:
        with started(workers) as run:
            yield run
    else:
        with ThreadPoolExecutor(workers, thread_name_prefix="look") as pool:
            yield pool.map


def gather(data: DataSet, *, pixels: bool, run: Run) -> Evidence:
    """Place boxes and cameras, and look at every image.

    Args:
        data: the tables.
        pixels: decode images and masks; otherwise only look whether the files are whole and of the stated size.
        run: looks at images, see ``ready_to_look``.
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
    """Return the instance mask of each sample_data row: from the table ``layer``, or beside ``samples/`` by name."""
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
            own = usable[low:high] if is_measured else nothing
            frames.append(
                FrameTask(
                    row=row,
                    image=images["filename"][row],
                    mask=masks.get(row),
                    box_row=own,
                    instance_id=ids[own],
                    centre_m=boxes.centre_m[own],
                    rotation=boxes.rotation[own],
                    half_lwh_m=boxes.half_lwh_m[own],
                    position_m=cameras.position_m[view],
                    camera_rotation=cameras.rotation[view],
                    intrinsic=cameras.intrinsic[view],
                    ignored_px=ignored.get(row, _NO_REGION) if is_measured else None,
                    lens=lens if (lens := cameras.lenses[view]) is not None and lens.is_known else None,
                )
            )
        yield TrackTask(data.files, tuple(frames), pixels=pixels)


def _ignored_px(data: DataSet) -> dict[int, IntArray]:
    """Return the regions that readers are asked to ignore, by row of sample_data."""
    if "ignore_region" not in data.tables:
        return {}
    table = data["ignore_region"]
    boxes, owner = table["box"], table["sample_data_token"]
    usable = np.flatnonzero(np.isfinite(boxes).all(axis=1) & (owner >= 0))
    usable = usable[np.argsort(owner[usable], kind="stable")]
    rows, begins = np.unique(owner[usable], return_index=True)
    return dict(zip(rows.tolist(), np.split(boxes[usable].astype(np.int64), begins[1:]), strict=False))


def _look_at_track(task: TrackTask) -> list[FrameLook]:
    from uavsim.validate.image_measurements import look_at_track  # compiled code, which only who looks at images needs

    return look_at_track(task)


def _pairs(looks: tuple[FrameLook, ...]) -> Pairs:
    count = [len(look.box_row) for look in looks]
    return Pairs(
        view=np.repeat(np.arange(len(looks)), count),
        box=np.concatenate([np.zeros(0, np.int64), *(look.box_row for look in looks)]),
        visible_px=np.concatenate([np.zeros(0, np.int64), *(look.visible_px for look in looks)]),
        inside_px=np.concatenate([np.zeros(0, np.int64), *(look.inside_px for look in looks)]),
        mask_box_px=np.concatenate([np.zeros((0, 8), np.int64), *(look.mask_box_px for look in looks)]),
        box_px=np.concatenate([np.zeros((0, 8)), *(look.box_px for look in looks)]),
        cut=np.concatenate([np.zeros(0, bool), *(look.cut for look in looks)]),
        tag=np.concatenate([np.zeros(0, np.int64), *(look.tag for look in looks)]),
    )
