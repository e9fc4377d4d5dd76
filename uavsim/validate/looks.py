"""Tasks and results of the image measurements, without the compiled code that measures."""

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
        image: name of the image file.
        mask: name of the instance mask, or None.
        box_row: (B,) rows of sample_annotation, the usable boxes of the image's sample.
        instance_id: (B,) their ids in the mask, 1..65535; other values if unknown.
        centre_m, rotation, half_lwh_m: (B, 3), (B, 3, 3), (B, 3) boxes in the map frame.
        position_m, camera_rotation, intrinsic: (3,), (3, 3), (3, 3) of the camera; map <- optical.
        lens: None for a pinhole.
        ignored_px: (K, 4) ``ignore_region`` boxes of the image; None for an image without known boxes.
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
    """All images of one channel in one scene, in time order; without ``pixels`` only file states and sizes are measured."""

    files: DataFolder
    frames: tuple[FrameTask, ...]
    pixels: bool = True


@dataclass(slots=True, eq=False)
class FrameLook:
    """The measurements of one image and its mask.

    Attributes:
        digest: digest of the file's bytes; equal files have equal digests.
        found_px: (width, height) in the file.
        mean, spread: of the green channel, 0..255.
        edge_contrast: mean step of the image across the borders of this frame's mask, of the previous and of the next
            frame's; NaN for a mask with few borders.
        edge_sharpness: these steps, divided by the steps across the same borders moved a few pixels: near 1 if the image
            has no edge just there, however many it has all around.
        edge_near: whether the borders of the previous, and of the next mask, lie within a pixel of this mask's; measured
            if one of them fits the image better.
        box_row: (P,) rows of sample_annotation with pixels in the mask.
        visible_px: (P,) pixels of each.
        inside_px: (P,) pixels with a ray that meets the box.
        mask_box_px: (P, 8) least x, y, x + y, x - y of the visible pixels, and the largest.
        box_px: (P, 8) the same of the projected box, clipped to the image; NaN if a corner is behind the camera.
        cut: (P,) bool, the projected box extends beyond the image.
        tag: (P,) semantic tag at the instance's first pixel.
        unlabelled_px: pixels of road users without a box and outside of all ignored regions.
        stray_ids: pixels of the ids in the mask that no box of the sample has.
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
