"""Measure the images of one camera over one scene; ``pixels`` and ``visual`` evaluate the measurements.

Each task is one channel of one scene, in time order; tasks run in processes of their own. A pixel of a mask lies inside a box
if its ray meets the box, grown by half a pixel. This needs no silhouettes, and no special case for boxes behind the camera.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder
from uavsim.images import codec
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array
from uavsim.validate.image_kernels import (
    border_pairs,
    border_steps,
    count_instances,
    count_levels,
    count_unlabelled,
    green_of_rows,
    ids_of_mask,
    ids_of_rows,
)
from uavsim.validate.looks import FileState, FrameLook, FrameTask, TrackTask

_GROWN_PX: Final = 0.5  # rays go through pixel centres; half a pixel covers poses rounded to float32
_AHEAD_M: Final = 0.5
_CUT_PX: Final = 0.5
_NEARLY_ALL: Final = 0.9
_MIN_PAIRS: Final = 150  # pixels along borders; fewer may lie on edges by chance
_BESIDE_PX: Final = 4  # wider than an edge, narrower than a car at 60 m
_SUB, _UP = 1, 2  # PNG filters of the images and masks that uavsim writes
_SIGNS: Final = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_EDGES: Final = np.array([[i, i | bit] for bit in (1, 2, 4) for i in range(8) if not i & bit])  # ends, in _SIGNS
_ALONG: Final = np.linspace(0.0, 1.0, 33)
_LEVELS: Final = np.arange(256.0)
_STRAIGHT: Final = np.zeros((0, 0, 2))
_IS_ROAD_USER: Final = np.isin(np.arange(256), (12, 13, 14, 15, 16, 18, 19))  # CARLA's tags, without trains
_ENDS: Final = {b"\x89PNG": (b"IEND\xaeB`\x82", 12), b"\xff\xd8": (b"\xff\xd9", 64)}


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Pairs of neighbouring pixels with different instances, as flat indices."""

    a: IntArray
    b: IntArray


@np.errstate(all="ignore")  # as in ``validator``; each thread and process has its own state
def look_at_track(task: TrackTask) -> list[FrameLook]:
    """Measure every frame of one camera."""
    if not task.pixels:
        return [_look_at_file(frame, task.files)[0] for frame in task.frames]
    looks = []
    lumas: list[AnyArray | None] = []
    edges: list[_Edges | None] = []
    for frame in task.frames:
        look, data = _look_at_file(frame, task.files)
        lumas.append(_look_at_image(look, data))
        edges.append(_look_at_mask(look, frame, task.files))
        looks.append(look)
        _compare_edges(looks, lumas, edges, len(looks) - 2)
        if len(looks) > 2:
            lumas[-3] = edges[-3] = None  # no longer needed
    _compare_edges(looks, lumas, edges, len(looks) - 1)
    return looks


def _look_at_file(frame: FrameTask, files: DataFolder) -> tuple[FrameLook, bytes]:
    look = FrameLook(row=frame.row)
    try:
        data = files.read(frame.image)
    except DatasetError:
        look.state = "missing"
        return look, b""
    look.digest = codec.fingerprint(data)
    look.state = _file_state(data)
    try:
        look.found_px = codec.image_size(data)
    except DatasetError:
        look.state = "unreadable"
    if look.found_px[0] * look.found_px[1] > codec.MOST_PIXELS:
        look.state = "huge"
    return look, data


def _file_state(data: bytes) -> FileState:
    """Return whether a PNG or JPEG has its end; decoders silently fill missing rows."""
    for start, (end, within) in _ENDS.items():
        if data.startswith(start):
            return "good" if end in data[-within:] else "truncated"
    return "unreadable"


def _look_at_image(look: FrameLook, data: bytes) -> AnyArray | None:
    """Decode to luma, (H, W) uint8; None if the file is no image."""
    if look.state != "good":
        return None
    try:
        luma = _green(data)
    except DatasetError:
        look.state = "unreadable"
        return None
    counts = count_levels(luma)
    share = counts / counts.sum()
    look.mean = float(share @ _LEVELS)
    look.spread = float(np.sqrt(share @ (_LEVELS - look.mean) ** 2))
    return luma


def _look_at_mask(look: FrameLook, frame: FrameTask, files: DataFolder) -> _Edges | None:
    if frame.mask is None:
        return None
    try:
        data = files.read(frame.mask)
    except DatasetError:
        look.mask_state = "missing"
        return None
    look.mask_state = _file_state(data)
    if look.mask_state != "good":
        return None
    try:
        ids, tags = ids_and_tags(data)
    except DatasetError:
        look.mask_state = "unreadable"
        return None
    look.mask_px = (ids.shape[1], ids.shape[0])
    _measure_instances(look, frame, ids, tags)
    return _Edges(*border_pairs(ids))


def _green(data: bytes) -> UInt8Array:
    """Decode an image to its (H, W) uint8 green channel, which has most of the brightness.

    Raises:
        DatasetError: the file is no image.
    """
    rows = _rows_of_rgb(data, _SUB)
    return green_of_rows(rows) if rows is not None else np.ascontiguousarray(codec.decode_rgb(data)[..., 1])


def ids_and_tags(data: bytes) -> tuple[UInt16Array, UInt8Array]:
    """Decode a mask to (H, W) uint16 ids and (H, W) uint8 semantic tags.

    Raises:
        DatasetError: the file is no mask.
    """
    rows = _rows_of_rgb(data, _UP)
    if rows is None:
        mask = codec.decode_mask(data)
        return ids_of_mask(mask), mask[..., 0]
    ids, tags = ids_of_rows(rows)
    return ids, tags


def _rows_of_rgb(data: bytes, kind: int) -> UInt8Array | None:
    """Return the filtered rows of a PNG with three bytes per pixel and this filter in all rows; None for any other file.

    Raises:
        DatasetError: the image is too large.
    """
    found = codec.filtered_rows(data)
    return found[0] if found is not None and found[1] == 3 and (found[0][:, 0] == kind).all() else None


def _measure_instances(look: FrameLook, frame: FrameTask, ids: UInt16Array, tags: UInt8Array) -> None:
    known = (frame.instance_id > 0) & (frame.instance_id < 65536)
    box_of_id = np.full(65536, -1, np.int64)
    box_of_id[frame.instance_id[known]] = np.flatnonzero(known)
    rays = _STRAIGHT if frame.lens is None else frame.lens.rays(ids.shape[1], ids.shape[0])
    boxes, strays = count_instances(ids, box_of_id, *_boxes_of(frame), frame.intrinsic, rays)
    look.stray_ids = {int(i): int(strays[i]) for i in np.flatnonzero(strays)}
    if frame.ignored_px is not None:
        look.unlabelled_px = count_unlabelled(ids, tags, box_of_id, _IS_ROAD_USER, frame.ignored_px)
    visible = np.flatnonzero(boxes[:, 0])
    if not len(visible):
        return
    look.box_row = frame.box_row[visible]
    look.visible_px, look.inside_px = boxes[visible, 0], boxes[visible, 1]
    look.mask_box_px = boxes[visible, 2:10]
    look.tag = tags[np.divmod(boxes[visible, 10], ids.shape[1])].astype(np.int64)
    look.box_px, look.cut = _projected(frame, visible, width=ids.shape[1], height=ids.shape[0])


def _boxes_of(frame: FrameTask) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (B, 3, 3) box <- camera, (B, 3) cameras in the boxes' frames and (B, 3) grown half sizes, metres."""
    box_R_optical = np.ascontiguousarray(np.swapaxes(frame.rotation, 1, 2) @ frame.camera_rotation)
    eye = np.einsum("bij,bi->bj", frame.rotation, frame.position_m - frame.centre_m)
    depth = np.maximum(np.linalg.norm(eye, axis=1), 0.1)
    return box_R_optical, eye, frame.half_lwh_m + (_GROWN_PX / frame.intrinsic[0, 0] * depth)[:, None]


def _projected(frame: FrameTask, boxes: IntArray, *, width: int, height: int) -> tuple[FloatArray, BoolArray]:
    """Return (P, 8) tight outlines of the projected corners, clipped to the image, and (P,) bool, clipped outlines."""
    corners = frame.half_lwh_m[boxes, None, :] * _SIGNS
    points = frame.centre_m[boxes, None, :] + np.einsum("bij,bcj->bci", frame.rotation[boxes], corners)
    optical = (points - frame.position_m) @ frame.camera_rotation
    ahead = (optical[..., 2] > _AHEAD_M).all(axis=1)
    depth = np.where(ahead[:, None], optical[..., 2], np.nan)
    if frame.lens is None:
        u = optical[..., 0] / depth * frame.intrinsic[0, 0] + frame.intrinsic[0, 2] - 0.5
        v = optical[..., 1] / depth * frame.intrinsic[1, 1] + frame.intrinsic[1, 2] - 0.5
    else:
        optical[..., 2] = depth
        along = optical[:, _EDGES[:, :1]] * (1.0 - _ALONG[:, None]) + optical[:, _EDGES[:, 1:]] * _ALONG[:, None]
        u, v = np.moveaxis(frame.lens.pixels(along.reshape(len(boxes), -1, 3)) - 0.5, -1, 0)
    clipped_u, clipped_v = np.clip(u, 0.0, width - 1), np.clip(v, 0.0, height - 1)
    along_axes = np.stack([clipped_u, clipped_v, clipped_u + clipped_v, clipped_u - clipped_v], axis=-1)
    cut = np.maximum(np.abs(u - clipped_u), np.abs(v - clipped_v)).max(axis=1) > _CUT_PX
    return np.concatenate([along_axes.min(axis=1), along_axes.max(axis=1)], axis=1), ~ahead | cut


def _compare_edges(
    looks: list[FrameLook], lumas: list[AnyArray | None], edges: list[_Edges | None], index: int
) -> None:
    """Measure how strongly image ``index`` steps across its own mask's borders, and across its neighbours'."""
    luma = lumas[index] if index >= 0 else None
    if luma is None:
        return
    image_edges = edges[index]
    before = edges[index - 1] if index > 0 else None
    after = edges[index + 1] if index + 1 < len(edges) else None
    measured = [_contrast(luma, of_mask) for of_mask in (image_edges, before, after)]
    step, step_before, step_after = looks[index].edge_contrast = (measured[0][0], measured[1][0], measured[2][0])
    looks[index].edge_sharpness = (measured[0][1], measured[1][1], measured[2][1])
    if image_edges is not None:  # comparisons with NaN are False
        looks[index].edge_near = (
            step_before > step and _within_a_pixel(before, image_edges, luma.shape[1]),
            step_after > step and _within_a_pixel(after, image_edges, luma.shape[1]),
        )


def _within_a_pixel(edges: _Edges | None, image_edges: _Edges, width: int) -> bool:
    """Return whether nearly all borders of a mask lie within a pixel of another's."""
    if edges is None or not len(edges.a):
        return False
    around = np.array([0, -1, 1, -width, width])
    near = np.unique(image_edges.a[:, None] + around)
    return bool(np.isin(edges.a, near).mean() > _NEARLY_ALL)


def _contrast(luma: AnyArray, edges: _Edges | None) -> tuple[float, float]:
    """Return the image's mean step across the borders, and its ratio to the mean step beside them; NaN for few borders."""
    if edges is None or len(edges.a) < _MIN_PAIRS or edges.b.max() >= luma.size:
        return float("nan"), float("nan")
    flat, width = luma.reshape(-1), luma.shape[1]
    moves = np.array([-_BESIDE_PX, _BESIDE_PX, -_BESIDE_PX * width, _BESIDE_PX * width])
    here, beside = border_steps(flat, edges.a, edges.b, moves)
    return here, here / max(beside, 1.0)
