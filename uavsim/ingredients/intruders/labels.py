"""Labels of intruders: exact range and closing speed from recorded poses, boxes and the horizon from the images' pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.geometry import cuboid, pinhole
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.ingredients.intruders import approach
from uavsim.ingredients.intruders.intruder_plans import IntrudersPlan
from uavsim.records.modalities import INSTANCE
from uavsim.records.recording import ActorInfo, RecordedFrame, Recording, SensorReading
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array

SKY_TAG: Final = 11  # of CARLA's palette
_SEMANTIC: Final = "semantic"
_SKY_SHARE: Final = 0.95
_BACKGROUND_TAGS: Final = frozenset({0, 1, 2, 10, SKY_TAG, 23, 24, 25})  # sky, ground of all kinds, water
_RING_PX: Final = 4
_NEAR_M: Final = 0.1
_FEW_PX: Final = 24.0  # a smaller unoccluded intruder may have no pixel in the mask
_FEW_OF_FLOCK_PX: Final = 160.0  # measured with 150 poses of every kind: 22, of a flock 151
# labels of small intruders must not flicker: undecided images keep the last state, sizes change with hysteresis
HIDDEN, UNDECIDED, VISIBLE = 0, 1, 2
_AOT_WIDTH_PX: Final = 2448.0
_SQUARES_PX: Final = (6.0, 16.0)  # in an image of AOT's width
_SURE_PX: Final = 16.0  # in any image: smaller masks miss wings and tails
_MARGIN: Final = 1.2
BELOW, ON, ABOVE, UNKNOWN = -1, 0, 1, 9
"""AOT's sides of the horizon; unknown without semantic tags."""


@dataclass(frozen=True, slots=True, eq=False)
class IntruderLabels:
    """Labels of one intruder in the V images of a scene that show it.

    Attributes:
        intruder: index in ``plan.intruders``.
        instance_id: id in the masks.
        cpa_m: closest distance to the camera over all captures; ``cpa_us`` is its time since the scene's first capture.
        frame: (V,) indices of the recording's frames.
        map_SE3_intruder: (V,) poses of the box centre.
        range_m: (V,) distances from the camera.
        closing_mps: (V,) closing speeds.
        bearing_deg: (V, 2) azimuth to the right and elevation upwards, in the camera.
        box_px: (V, 4) left, top, width, height of the mask's pixels, or of the projected box if the mask has none.
        aot_px: (V, 4) left, top, width, height in the style of AOT's annotators.
        from_mask: (V,) 1 if the mask has pixels of the intruder.
        visible_px: (V,) pixels in the mask.
        horizon: (V,) side of the horizon behind the intruder.
    """

    intruder: int
    instance_id: int
    cpa_m: float
    cpa_us: int
    frame: IntArray
    map_SE3_intruder: SE3
    range_m: FloatArray
    closing_mps: FloatArray
    bearing_deg: FloatArray
    box_px: FloatArray
    aot_px: FloatArray
    from_mask: IntArray
    visible_px: IntArray
    horizon: IntArray


def intruder_labels(recording: Recording, record: IntrudersPlan) -> tuple[IntruderLabels, ...]:
    """Label every intruder of a recording in the images of its camera.

    Raises:
        DatasetError: a mask is missing or damaged, or an intruder is not among the recorded actors.
    """
    plan, labels = recording.plan, []
    for number, info in _planned_and_recorded(recording, record):
        intruder = record.intruders[number]
        channel = plan.channel(camera=intruder.camera, drone_id=intruder.drone_id)
        few_px = _FEW_OF_FLOCK_PX if intruder.kind == "flock" else _FEW_PX
        labels.append(_Flight.of(recording, info, channel).labels(recording, number, few_px=few_px))
    return tuple(labels)


def _planned_and_recorded(recording: Recording, record: IntrudersPlan) -> list[tuple[int, ActorInfo]]:
    """Return (index in the plan, actor) of each planned intruder; actors were spawned in the plan's order."""
    found = sorted((info for info in recording.actors if info.kind == "intruder"), key=lambda info: info.instance_id)
    if len(found) != len(record.intruders):
        raise DatasetError(
            f"{recording.folder}: {len(record.intruders)} intruders are planned, but {len(found)} are recorded"
        )
    return list(enumerate(found))


@dataclass(frozen=True, slots=True, eq=False)
class _Flight:
    """One intruder and one camera over the K frames of a recording."""

    info: ActorInfo
    shots: Sequence[SensorReading]
    time_s: FloatArray
    map_SE3_optical: SE3
    map_SE3_box: SE3

    @classmethod
    def of(cls, recording: Recording, info: ActorInfo, channel: str) -> _Flight:
        shots = [next(shot for shot in frame.cameras if shot.channel == channel) for frame in recording.frames]
        poses = [_pose_in(frame, info.instance_id) for frame in recording.frames]
        first_us = recording.frames[0].timestamp_us
        return cls(
            info,
            shots,
            np.array([(frame.timestamp_us - first_us) / 1e6 for frame in recording.frames], dtype=np.float64),
            SE3.stack([shot.map_SE3_sensor for shot in shots]),
            SE3.stack(poses) @ info.actor_SE3_box,
        )

    def labels(self, recording: Recording, number: int, *, few_px: float) -> IntruderLabels:
        own_m, other_m = self.map_SE3_optical.translation_m, self.map_SE3_box.translation_m
        cpa = approach.closest_approach(self.time_s, own_m, other_m)
        optical_m = self.map_SE3_optical.apply_inverse(other_m)
        boxes_px, (middle_px, body_px) = self._projected_px(), self._body_px(optical_m)
        with np.errstate(invalid="ignore"):
            near = np.flatnonzero((boxes_px[:, 2:] > 0.0).all(axis=1))
        states, found, counts, sides = [], [], [], []
        for row in near.tolist():
            shot = self.shots[row]
            ids, tags = codec.mask_ids_and_tags(recording.folder / shot.files[INSTANCE])
            intruder_mask = ids == self.info.instance_id
            visible_px = int(np.count_nonzero(intruder_mask))
            semantic = codec.decode_tags(recording.folder / shot.files[_SEMANTIC]) if _SEMANTIC in shot.files else None
            known = tags if semantic is None else semantic
            small = float(boxes_px[row, 2] * boxes_px[row, 3]) < few_px
            state = VISIBLE if visible_px else HIDDEN
            states.append(self._state_without_pixels(middle_px[row], known) if small and not visible_px else state)
            found.append(_bounds(intruder_mask) if visible_px else boxes_px[row])
            counts.append(visible_px)
            sides.append(horizon_side(found[-1], intruder_mask, semantic, ids=ids, tags=tags))
        is_labelled = labelled_images(np.array(states, dtype=np.int64))
        box_px = np.array(found, dtype=np.float64).reshape(-1, 4)[is_labelled]
        visible = np.array(counts, dtype=np.int64)[is_labelled]
        rows = near[is_labelled]
        camera = self.shots[0].camera
        size_px = (camera.width_px, camera.height_px)
        closing: FloatArray = (
            approach.closing_mps(self.time_s, own_m, other_m) if len(own_m) > 2 else np.zeros(len(own_m))
        )
        flu_m = np.stack([optical_m[:, 2], -optical_m[:, 0], -optical_m[:, 1]], axis=1)
        return IntruderLabels(
            intruder=number,
            instance_id=self.info.instance_id,
            cpa_m=cpa.distance_m,
            cpa_us=round(cpa.time_s * 1e6),
            frame=rows,
            map_SE3_intruder=self.map_SE3_box[rows] if len(rows) else SE3.identity((0,)),
            range_m=approach.range_m(own_m, other_m)[rows],
            closing_mps=closing[rows],
            bearing_deg=approach.bearing_deg(flu_m)[rows],
            box_px=box_px,
            aot_px=aot_boxes(box_px, middle_px[rows], body_px[rows], size_px=size_px),
            from_mask=np.asarray(visible > 0, dtype=np.int64),
            visible_px=visible,
            horizon=np.array(sides, dtype=np.int64)[is_labelled],
        )

    def _projected_px(self) -> FloatArray:
        """Return (K, 4) left, top, width, height of the projected box, clipped to the image.

        NaN behind the camera; the whole image if the box is partly behind the camera.
        """
        size_m = 2.0 * np.array(self.info.half_extent_m)
        corners_m = cuboid.corners(self.map_SE3_box, size_lwh_m=np.broadcast_to(size_m, (len(self.shots), 3)))
        optical_m = self.map_SE3_optical[:, None].apply_inverse(corners_m)
        pixels = self.shots[0].camera.project(optical_m, beyond=True)
        behind = optical_m[..., 2] < _NEAR_M
        pixels[behind.any(axis=1)] = np.nan
        size_px = np.array([self.shots[0].camera.width_px, self.shots[0].camera.height_px], dtype=np.float64)
        low, high = np.clip(pixels.min(axis=1), 0.0, size_px), np.clip(pixels.max(axis=1), 0.0, size_px)
        boxes: FloatArray = np.concatenate([low, high - low], axis=1)
        boxes[behind.any(axis=1) & ~behind.all(axis=1)] = [0.0, 0.0, *size_px]
        return boxes

    def _body_px(self, optical_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the (K, 2) centre, and (K, 2) width and height, pixels, of the ellipsoid inside the box, as if far away.

        Wings and fuselage form a cross and leave the box's corners empty: for small bodies the ellipsoid is within a fifth of
        the rendered size, while the box is up to twice as wide.
        """
        camera = self.shots[0].camera
        optical_R_box = (self.map_SE3_optical.inverse() @ self.map_SE3_box).rotation
        half_m = np.sqrt(((optical_R_box * np.array(self.info.half_extent_m)) ** 2).sum(axis=-1))[:, :2]
        with np.errstate(divide="ignore"):
            body_px = 2.0 * camera.intrinsic[0, 0] * half_m / optical_m[:, 2:]
        return camera.project(optical_m, beyond=True), np.where(optical_m[:, 2:] > _NEAR_M, body_px, np.inf)

    def _state_without_pixels(self, middle_px: FloatArray, tags: UInt8Array) -> int:
        """Return the visibility of an intruder without mask pixels that may be too small for one."""
        camera = self.shots[0].camera
        if not pinhole.pixel_in_image(middle_px, width_px=camera.width_px, height_px=camera.height_px):
            return HIDDEN
        column, line = (
            min(int(v), size - 1) for v, size in zip(middle_px, (camera.width_px, camera.height_px), strict=True)
        )
        return VISIBLE if int(tags[line, column]) in _BACKGROUND_TAGS else UNDECIDED


def _pose_in(frame: RecordedFrame, instance_id: int) -> SE3:
    row = int(np.searchsorted(frame.actors.instance_id, instance_id))
    if row >= len(frame.actors.instance_id) or int(frame.actors.instance_id[row]) != instance_id:
        raise DatasetError(f"intruder {instance_id} is not in the frame of step {frame.step}")
    return frame.actors.map_SE3_actor[row]


def _bounds(mask: BoolArray) -> FloatArray:
    """Return (4,) left, top, width, height of the true pixels of an (H, W) mask."""
    columns, lines = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
    left, top = float(columns[0]), float(lines[0])
    return np.array([left, top, columns[-1] + 1 - left, lines[-1] + 1 - top])


def horizon_side(
    box_px: FloatArray, intruder_mask: BoolArray, semantic: UInt8Array | None, *, ids: UInt16Array, tags: UInt8Array
) -> int:
    """Return the side of the horizon behind an intruder from the other pixels in and around its box: sky, no sky, or both.

    Args:
        box_px: (4,) left, top, width, height.
        intruder_mask: (H, W) bool, the intruder's pixels.
        semantic: (H, W) tags of the semantic image; None without one: the mask's tags replace it if they contain sky.
        ids: (H, W) instance ids of the mask.
        tags: (H, W) semantic tags of the mask.
    """
    known = semantic if semantic is not None else tags
    if semantic is None and not (tags[ids == 0] == SKY_TAG).any():
        return UNKNOWN
    height, width = known.shape
    left, top = (int(np.floor(v)) for v in box_px[:2])
    right, bottom = int(np.ceil(box_px[0] + box_px[2])), int(np.ceil(box_px[1] + box_px[3]))
    x = slice(max(left - _RING_PX, 0), min(right + _RING_PX, width))
    y = slice(max(top - _RING_PX, 0), min(bottom + _RING_PX, height))
    around = ~intruder_mask[y, x]
    if not around.any():
        return UNKNOWN
    sky = float((known[y, x][around] == SKY_TAG).mean())
    return ABOVE if sky >= _SKY_SHARE else BELOW if sky <= 1.0 - _SKY_SHARE else ON


def labelled_images(states: IntArray) -> BoolArray:
    """Return (K,) bool, True for labelled images; an ``UNDECIDED`` image follows the previous one, a leading one the next."""
    decided = np.flatnonzero(states != UNDECIDED)
    if not len(decided):
        return np.zeros(len(states), dtype=np.bool_)
    last = np.maximum(np.searchsorted(decided, np.arange(len(states)), side="right") - 1, 0)
    return np.asarray(states[decided[last]] == VISIBLE)


def aot_boxes(
    box_px: FloatArray, middle_px: FloatArray, body_px: FloatArray, *, size_px: tuple[int, int]
) -> FloatArray:
    """Return (V, 4) boxes like AOT's: squares around small intruders, otherwise the visible pixels.

    In an image of AOT's width, 2448 px, squares have 6 px for bodies up to 6 px and 16 px for bodies up to 16 px; in other
    images they scale with the width. Longer bodies get the body's box up to 16 px, then the mask's box. The kind of box
    changes when the longer side passes a limit by a fifth.

    Args:
        box_px: (V, 4) left, top, width, height of the mask's pixels, in order of time.
        middle_px: (V, 2) centres of the body.
        body_px: (V, 2) width and height of the body.
        size_px: width and height of the image.
    """
    limits = np.array([*(side * size_px[0] / _AOT_WIDTH_PX for side in _SQUARES_PX), _SURE_PX])
    step = _steps(body_px.max(axis=1), np.maximum.accumulate(limits))
    middle = np.clip(middle_px, 0.0, size_px)
    sides: FloatArray = np.where((step < 2)[:, None], limits[np.minimum(step, 1)][:, None], body_px)
    low, high = middle - sides / 2.0, middle + sides / 2.0
    body = (step == 2)[:, None]
    low, high = (np.where(body, np.clip(corner, 0.0, size_px), corner) for corner in (low, high))
    return np.where((step == 3)[:, None], box_px, np.concatenate([low, high - low], axis=1))


def _steps(length_px: FloatArray, limits: FloatArray) -> IntArray:
    """Return (V,) int64 numbers of limits below each length, with hysteresis."""
    steps = np.zeros(len(length_px), dtype=np.int64)
    for row, length in enumerate(length_px.tolist()):
        if not row:
            steps[0] = int(np.searchsorted(limits, length, side="left"))
            continue
        least = int(np.searchsorted(limits * _MARGIN, length, side="left"))
        most = int(np.searchsorted(limits / _MARGIN, length, side="left"))
        steps[row] = min(max(int(steps[row - 1]), least), most)
    return steps
