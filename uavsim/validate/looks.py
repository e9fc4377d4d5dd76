"""Questions about one image, and the measurements that answer them; without the compiled code that measures."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from uavsim.files.names import DataFolder
from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.lens import Lens

FileState = Literal["good", "missing", "truncated", "unreadable", "huge", "absent"]


@dataclass(frozen=True, slots=True, eq=False)
class FrameTask:
    """One image with its mask and the boxes of its sample.

    Attributes:
        row: of sample_data.
        image: its name.
        mask: name of the instance mask, or None.
        box_row: (B,) rows of sample_annotation: the boxes of the image's sample whose numbers can be used.
        instance_id: (B,) their ids in the mask, 1..65535; other values where unknown.
        centre_m, rotation, half_lwh_m: (B, 3), (B, 3, 3), (B, 3) boxes in the map.
        position_m, camera_rotation, intrinsic: of the camera; map <- optical.
        lens: None of a pinhole.
        ignored_px: (K, 4) regions that its sample's tables ask readers to ignore; None where no box is known at all.
    """

    row: int
    image: str
    mask: str | None
    box_row: IntArray
    instance_id: IntArray
    centre_m: FloatArray
    rotation: FloatArray
    half_lwh_m: FloatArray
    position_m: FloatArray
    camera_rotation: FloatArray
    intrinsic: FloatArray
    ignored_px: IntArray | None = None
    lens: Lens | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TrackTask:
    """All images of one channel in one scene, in time order; ``pixels`` False looks at files and sizes alone."""

    files: DataFolder
    frames: tuple[FrameTask, ...]
    pixels: bool = True


@dataclass(slots=True, eq=False)
class FrameLook:
    """The measurements of one image and its mask.

    Attributes:
        digest: of the file's bytes, by which equal files are found.
        found_px: (width, height) in the file.
        mean, spread: of the green channel, 0..255.
        edge_contrast: mean step of the image across the borders of this frame's mask, of the frame's before and after;
            NaN where a mask has few borders.
        edge_sharpness: those steps, divided by the steps across the same borders moved a few pixels: near 1 where the
            image has no edge just there, however many it has all around.
        edge_near: whether the borders of the mask before, and of the one after, lie within a pixel of this mask's; measured
            where one of them fits the image better.
        box_row: (P,) rows of sample_annotation that have pixels in the mask.
        visible_px: (P,) how many.
        inside_px: (P,) those of them whose ray meets the box.
        mask_box_px: (P, 8) least x, y, x + y, x - y of the visible pixels, and the largest.
        box_px: (P, 8) the same of the projected box, clipped to the image; nan where a corner is behind the camera.
        cut: (P,) the projected box reaches out of the image.
        tag: (P,) semantic tag at the instance's first pixel.
        unlabelled_px: pixels of road users that are of no box and in no region to ignore.
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
    edge_near: tuple[bool, bool] = (False, False)
    box_row: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    visible_px: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    inside_px: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    mask_box_px: IntArray = field(default_factory=lambda: np.zeros((0, 8), np.int64))
    box_px: FloatArray = field(default_factory=lambda: np.zeros((0, 8)))
    cut: BoolArray = field(default_factory=lambda: np.zeros(0, bool))
    tag: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    unlabelled_px: int = 0
    stray_ids: dict[int, int] = field(default_factory=dict)
