"""Look at the images of one camera over one scene: measure, and leave the judging to ``pixels`` and ``visual``.

Each task is one channel of one scene, in time order; tasks run in processes of their own. A mask's pixels are tested against
the boxes by their rays: a pixel belongs inside box i if its ray meets the box, grown by half a pixel, so that no
silhouette has to be built and boxes that reach behind the camera need no special case.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import numpy as np

from uavsim.errors import DatasetError
from uavsim.files.parse import read_regular
from uavsim.images import codec
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = ["FileState", "FrameLook", "FrameTask", "TrackTask", "look_at_track"]

FileState = Literal["good", "missing", "truncated", "unreadable", "huge", "absent"]
_MOST_FILE_BYTES: Final = 1 << 29
_GROWN_PX: Final = 0.5  # rays go through pixel centres: half a pixel is for poses rounded to float32
_AHEAD_M: Final = 0.5
_CUT_PX: Final = 0.5
_BESIDE_PX: Final = 4  # wider than an edge, narrower than a car seen from 60 m
_SIGNS: Final = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_ENDS: Final = {b"\x89PNG": (b"IEND\xaeB`\x82", 12), b"\xff\xd8": (b"\xff\xd9", 64)}


@dataclass(frozen=True, slots=True, eq=False)
class FrameTask:
    """One image with its mask and the boxes of its sample.

    Attributes:
        row: of sample_data.
        image: its path; None where the name leads to no file that may be opened.
        mask: path of the instance mask, or None.
        box_row: (B,) rows of sample_annotation: the boxes of the image's sample whose numbers can be used.
        instance_id: (B,) their ids in the mask, 1..65535; other values where unknown.
        centre_m, rotation, half_lwh_m: (B, 3), (B, 3, 3), (B, 3) boxes in the map.
        position_m, camera_rotation, intrinsic: of the camera; map <- optical.
    """

    row: int
    image: Path | None
    mask: Path | None
    box_row: IntArray
    instance_id: IntArray
    centre_m: FloatArray
    rotation: FloatArray
    half_lwh_m: FloatArray
    position_m: FloatArray
    camera_rotation: FloatArray
    intrinsic: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class TrackTask:
    """All images of one channel in one scene, in time order; ``pixels`` False looks at files and sizes alone."""

    frames: tuple[FrameTask, ...]
    pixels: bool = True


@dataclass(slots=True, eq=False)
class FrameLook:
    """What was measured in one image and its mask.

    Attributes:
        digest: of the file's bytes.
        found_px: (width, height) in the file.
        mean, spread: of the green channel, 0..255.
        edge_contrast: mean step of the image across the borders of this frame's mask, of the frame's before and after.
        edge_sharpness: those steps, divided by the steps across the same borders moved a few pixels: near 1 where the
            image has no edge just there, however many it has all around.
        box_row: (P,) rows of sample_annotation that have pixels in the mask.
        visible_px: (P,) how many.
        inside_px: (P,) those of them whose ray meets the box.
        mask_box_px: (P, 4) x0, y0, x1, y1 of the visible pixels, last pixel inclusive.
        box_px: (P, 4) the same of the projected corners, clipped to the image; nan where a corner is behind the camera.
        cut: (P,) the projected box reaches out of the image.
        tag: (P,) semantic tag at the instance's first pixel.
        stray_ids: ids in the mask that no box of the sample has, with their pixels.
    """

    row: int
    state: FileState = "good"
    mask_state: FileState = "absent"
    digest: str = ""
    found_px: tuple[int, int] = (0, 0)
    mask_px: tuple[int, int] = (0, 0)
    mean: float = 0.0
    spread: float = 0.0
    edge_contrast: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    edge_sharpness: tuple[float, float, float] = (np.nan, np.nan, np.nan)
    edge_pairs: int = 0
    box_row: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    visible_px: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    inside_px: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    mask_box_px: IntArray = field(default_factory=lambda: np.zeros((0, 4), np.int64))
    box_px: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    cut: BoolArray = field(default_factory=lambda: np.zeros(0, bool))
    tag: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    stray_ids: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Pairs of neighbouring pixels with different instances, as flat indices."""

    a: IntArray
    b: IntArray


def look_at_track(task: TrackTask) -> list[FrameLook]:
    """Measure every frame of one camera."""
    if not task.pixels:
        return [_look_at_file(frame)[0] for frame in task.frames]
    looks = []
    lumas: list[AnyArray | None] = []
    edges: list[_Edges | None] = []
    for frame in task.frames:
        look, data = _look_at_file(frame)
        lumas.append(_look_at_image(look, data))
        edges.append(_look_at_mask(look, frame))
        looks.append(look)
        _compare_edges(looks, lumas, edges, len(looks) - 2)
        if len(looks) > 2:
            lumas[-3] = edges[-3] = None  # nothing asks for it any more
    _compare_edges(looks, lumas, edges, len(looks) - 1)
    return looks


def _look_at_file(frame: FrameTask) -> tuple[FrameLook, bytes]:
    look = FrameLook(row=frame.row)
    try:
        data = read_regular(frame.image, most_bytes=_MOST_FILE_BYTES) if frame.image is not None else None
    except DatasetError:
        data = None
    if data is None:
        look.state = "missing"
        return look, b""
    look.digest = hashlib.blake2b(data, digest_size=12).hexdigest()
    look.state = _whole(data)
    try:
        look.found_px = codec.image_size(data)
    except DatasetError:
        look.state = "unreadable"
    if look.found_px[0] * look.found_px[1] > codec.MOST_PIXELS:
        look.state = "huge"
    return look, data


def _whole(data: bytes) -> FileState:
    """Tell whether a PNG or JPEG has its end; decoders fill up what is missing without a word."""
    for start, (end, within) in _ENDS.items():
        if data.startswith(start):
            return "good" if end in data[-within:] else "truncated"
    return "unreadable"


def _look_at_image(look: FrameLook, data: bytes) -> AnyArray | None:
    """Decode to luma; (H, W) uint8, or None where the file is no image."""
    if look.state != "good":
        return None
    try:
        luma = np.ascontiguousarray(codec.decode_rgb(data)[..., 1])  # green carries most of the brightness
    except DatasetError:
        look.state = "unreadable"
        return None
    look.mean, look.spread = float(luma[::3, ::3].mean()), float(luma[::3, ::3].std())
    return luma


def _look_at_mask(look: FrameLook, frame: FrameTask) -> _Edges | None:
    if frame.mask is None:
        return None
    try:
        data = read_regular(frame.mask, most_bytes=_MOST_FILE_BYTES)
    except DatasetError:
        look.mask_state = "missing"
        return None
    look.mask_state = _whole(data)
    if look.mask_state != "good":
        return None
    try:
        ids, tags = codec.mask_ids_and_tags(data)
    except DatasetError:
        look.mask_state = "unreadable"
        return None
    look.mask_px = (ids.shape[1], ids.shape[0])
    _measure_instances(look, frame, ids, tags)
    return _edges(ids)


def _measure_instances(look: FrameLook, frame: FrameTask, ids: UInt16Array, tags: UInt8Array) -> None:
    known = (frame.instance_id > 0) & (frame.instance_id < 65536)
    box_of_id = np.full(65536, -1, np.int64)
    box_of_id[frame.instance_id[known]] = np.flatnonzero(known)
    flat = np.flatnonzero(ids)
    owner = box_of_id[ids.reshape(-1)[flat]]
    strays = np.bincount(ids.reshape(-1)[flat[owner < 0]])
    look.stray_ids = {int(i): int(strays[i]) for i in np.flatnonzero(strays)}
    flat, owner = flat[owner >= 0], owner[owner >= 0]
    order = np.argsort(owner, kind="stable")
    flat, owner = flat[order], owner[order]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    if not len(starts):
        return
    y, x = np.divmod(flat, ids.shape[1])
    seen = owner[starts]
    look.box_row = frame.box_row[seen]
    look.visible_px = np.diff(starts, append=len(owner))
    look.inside_px = np.add.reduceat(_meets_box(frame, x, y, owner).astype(np.int64), starts)
    corners = [np.minimum.reduceat(x, starts), np.minimum.reduceat(y, starts)]
    corners += [np.maximum.reduceat(x, starts), np.maximum.reduceat(y, starts)]
    look.mask_box_px = np.stack(corners, axis=1)
    look.tag = tags.reshape(-1)[flat[starts]].astype(np.int64)
    look.box_px, look.cut = _projected(frame, seen, width=ids.shape[1], height=ids.shape[0])


def _projected(frame: FrameTask, boxes: IntArray, *, width: int, height: int) -> tuple[FloatArray, BoolArray]:
    """Return (P, 4) tight pixel boxes of the projected corners, clipped to the image, and (P,) whether that cut them."""
    corners = frame.half_lwh_m[boxes, None, :] * _SIGNS
    points = frame.centre_m[boxes, None, :] + np.einsum("bij,bcj->bci", frame.rotation[boxes], corners)
    optical = (points - frame.position_m) @ frame.camera_rotation
    ahead = (optical[..., 2] > _AHEAD_M).all(axis=1)
    depth = np.where(ahead[:, None], optical[..., 2], np.nan)
    u = optical[..., 0] / depth * frame.intrinsic[0, 0] + frame.intrinsic[0, 2] - 0.5
    v = optical[..., 1] / depth * frame.intrinsic[1, 1] + frame.intrinsic[1, 2] - 0.5
    whole = np.stack([u.min(axis=1), v.min(axis=1), u.max(axis=1), v.max(axis=1)], axis=1)
    clipped = np.clip(whole, 0.0, [width - 1, height - 1, width - 1, height - 1])
    return clipped, ~ahead | (np.abs(whole - clipped) > _CUT_PX).any(axis=1)


def _meets_box(frame: FrameTask, x: IntArray, y: IntArray, owner: IntArray) -> AnyArray:
    """Test which pixels' rays meet the box of their owner; slab test in the box's frame."""
    k = frame.intrinsic
    rays = np.stack([(x + 0.5 - k[0, 2]) / k[0, 0], (y + 0.5 - k[1, 2]) / k[1, 1], np.ones(len(x))], axis=1)
    box_R_optical = np.swapaxes(frame.rotation, 1, 2) @ frame.camera_rotation
    eye = np.einsum("bij,bi->bj", frame.rotation, frame.position_m - frame.centre_m)
    depth = np.maximum(np.linalg.norm(eye, axis=1), 0.1)
    half = frame.half_lwh_m + (_GROWN_PX / k[0, 0] * depth)[:, None]
    direction = np.einsum("pij,pj->pi", box_R_optical[owner], rays)
    direction = np.where(np.abs(direction) < 1e-12, 1e-12, direction)
    near = (-half[owner] - eye[owner]) / direction
    far = (half[owner] - eye[owner]) / direction
    enter = np.minimum(near, far).max(axis=1)
    leave = np.maximum(near, far).min(axis=1)
    return np.asarray((enter <= leave) & (leave > 0))


def _edges(ids: UInt16Array) -> _Edges:
    width = ids.shape[1]
    across = np.flatnonzero(ids[:, 1:] != ids[:, :-1])
    row, column = np.divmod(across, width - 1)
    sideways = row * width + column
    down = np.flatnonzero(ids[1:] != ids[:-1])
    return _Edges(np.concatenate([sideways, down]), np.concatenate([sideways + 1, down + width]))


def _compare_edges(looks: list[FrameLook], lumas: list[AnyArray | None], edges: list[_Edges | None], at: int) -> None:
    """Measure how strongly image ``at`` steps across its own mask's borders, and across its neighbours'."""
    luma = lumas[at] if at >= 0 else None
    if luma is None:
        return
    own = edges[at]
    looks[at].edge_pairs = len(own.a) if own is not None else 0
    before = edges[at - 1] if at > 0 else None
    after = edges[at + 1] if at + 1 < len(edges) else None
    (here, sharp), (here_before, sharp_before), (here_after, sharp_after) = (
        _contrast(luma, of_mask) for of_mask in (own, before, after)
    )
    looks[at].edge_contrast = (here, here_before, here_after)
    looks[at].edge_sharpness = (sharp, sharp_before, sharp_after)


def _contrast(luma: AnyArray, edges: _Edges | None) -> tuple[float, float]:
    """Return the image's mean step across the borders, and that divided by the mean step beside them."""
    if edges is None or not len(edges.a) or edges.b.max() >= luma.size:
        return float("nan"), float("nan")
    flat, width = luma.reshape(-1), luma.shape[1]
    moves = np.array([0, -_BESIDE_PX, _BESIDE_PX, -_BESIDE_PX * width, _BESIDE_PX * width])[:, None]
    a, b = edges.a + moves, edges.b + moves
    inside = (a >= 0) & (b < luma.size)
    steps = np.abs(flat[np.where(inside, a, 0)].astype(np.int16) - flat[np.where(inside, b, 0)].astype(np.int16))
    here, beside = float(steps[0].mean()), float(steps[1:][inside[1:]].mean())
    return here, here / max(beside, 1.0)
