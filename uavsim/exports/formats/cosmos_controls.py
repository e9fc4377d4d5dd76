"""Frames of control videos: the content of an image that a video model must keep.

Depth is inverse, near is bright, with one scale for a clip. An instance has one colour in all frames; other pixels have the
dimmed CityScapes colour of their class, the sky is black. Edges are Canny's, without the sky's. ``hdmap_bbox`` shows the lines
of the vector map and the boxes of visible objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from uavsim.access import Boxes, Image
from uavsim.access.box_selection import boxes_in_mask
from uavsim.dataset.vocabulary import SEMANTIC_TAGS
from uavsim.images import draw
from uavsim.images.codec import Float32Image
from uavsim.images.overlay import object_colours
from uavsim.records.road_map import RoadMap
from uavsim.typing import BoolArray, FloatArray, UInt8Array

_NEAREST_M: Final = 0.1
_CANNY_LOW, _CANNY_HIGH = 100, 200  # Cosmos Transfer's ``medium``
_NAMES: Final = [name for name, _ in SEMANTIC_TAGS]
_SKY: Final = _NAMES.index("sky")
_CITYSCAPES: Final = np.zeros((256, 3), dtype=np.uint8)
_CITYSCAPES[: len(SEMANTIC_TAGS)] = [colour for _, colour in SEMANTIC_TAGS]
_SMALL_PX: Final = 32 * 32  # COCO's limit of small objects
_MARGIN_PX: Final = 4
_CENTRE_PX: Final = 0.5  # centre of the first pixel; OpenCV's is 0
_REACH_M: Final = 120.0
_STEP_M: Final = 1.0
_OCCLUSION_M: Final = 0.5  # tolerance of occlusion, beside 2 % of the distance
_LINES: Final[dict[str, draw.Colour]] = {
    "drivable_area": (200, 60, 60),
    "ped_crossing": (200, 120, 220),
    "stop_line": (240, 240, 240),
    "road_divider": (250, 190, 40),
    "lane_divider": (90, 200, 250),
}
_BOXES: Final[dict[str, draw.Colour]] = {"human": (220, 60, 90), "vehicle": (40, 90, 220)}
_OTHER_BOX: Final = (120, 120, 120)
_FACES: Final = np.array([[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]])


def depth_frames(images: Sequence[Image]) -> Iterator[UInt8Array]:
    """Yield (H, W, 3) grey images of inverse depth, scaled to the range of the clip."""
    ranges = [(float(inverse.min()), float(inverse.max())) for inverse in map(_inverse_depth, images)]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    for image in images:
        grey = np.rint((_inverse_depth(image) - low) * (255.0 / max(high - low, 1e-9))).astype(np.uint8)
        yield np.repeat(grey[..., None], 3, axis=2)


def _inverse_depth(image: Image) -> FloatArray:
    return 1.0 / np.maximum(image.depth_m().astype(np.float64), _NEAREST_M)


def instances(image: Image) -> UInt8Array:
    """Return (H, W, 3) uint8 RGB: a colour for each object over dimmed colours of classes."""
    ids, tags = image.mask()
    dimmed = _CITYSCAPES // 2  # no object has a colour of the background
    dimmed[_SKY] = 0
    painted: UInt8Array = dimmed[tags]
    unique = np.unique(ids[ids > 0]).astype(np.int64)
    colours = np.zeros((int(unique.max(initial=0)) + 1, 3), dtype=np.uint8)
    colours[unique] = np.array(object_colours(unique), dtype=np.uint8).reshape(-1, 3)
    painted[ids > 0] = colours[ids[ids > 0]]
    return painted


def semantics(image: Image) -> UInt8Array:
    """Return (H, W, 3) uint8 RGB of classes in CityScapes' colours."""
    painted: UInt8Array = _CITYSCAPES[image.mask()[1]]
    return painted


def edge(image: Image) -> UInt8Array:
    """Return (H, W, 3) uint8 white edges; masks remove edges of the sky."""
    grey = cv2.cvtColor(image.pixels(), cv2.COLOR_RGB2GRAY)
    edges = np.asarray(cv2.Canny(grey, _CANNY_LOW, _CANNY_HIGH) > 0)
    if "instance" in image.layers:
        edges &= image.mask()[1] != _SKY
    return _white(edges)


def small_objects(image: Image) -> UInt8Array:
    """Return (H, W, 3) uint8, white on and around small objects, the area of the control."""
    ids, _ = image.mask()
    counts = np.bincount(ids.ravel())
    small = (counts < _SMALL_PX) & (np.arange(len(counts)) > 0)
    kernel = np.ones((2 * _MARGIN_PX + 1,) * 2, dtype=np.uint8)
    return _white(np.asarray(cv2.dilate(small[ids].astype(np.uint8), kernel) > 0))


def _white(mask: BoolArray) -> UInt8Array:
    return np.repeat(np.where(mask, 255, 0).astype(np.uint8)[..., None], 3, axis=2)


@dataclass(frozen=True, slots=True, eq=False)
class MapLines:
    """The lines of a town's vector map.

    Attributes:
        segments_map_m: layer -> (N, 2, 3) segments in the map frame, at most one metre long.
    """

    segments_map_m: dict[str, FloatArray]

    @classmethod
    def of(cls, town: RoadMap) -> MapLines:
        """Cut the lines of a map into segments."""
        found = {}
        for layer in _LINES:
            lines = [line for shape in town.shapes_map_m(layer).values() for line in shape]
            found[layer] = np.concatenate([np.zeros((0, 2, 3)), *map(_segments, lines)])
        return cls(found)


def _segments(line_map_m: FloatArray) -> FloatArray:
    """Return (M, 2, 3) segments of at most one metre along (N, 3) points."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line_map_m, axis=0), axis=1))])
    cuts = np.union1d(along, np.arange(0.0, along[-1], _STEP_M))
    points = np.stack([np.interp(cuts, along, line_map_m[:, axis]) for axis in range(3)], axis=1)
    return np.stack([points[:-1], points[1:]], axis=1)


def hdmap_bbox(image: Image, lines: MapLines, boxes: Boxes) -> UInt8Array:
    """Return (H, W, 3) uint8 RGB of map lines and filled boxes on black; a depth image hides occluded lines."""
    width, height = image.size_px
    canvas = np.zeros((height, width, 3), dtype=np.uint8)
    depth_m = image.depth_m() if "depth" in image.layers else None
    eye = image.map_SE3_optical.translation_m
    for layer, segments_map_m in lines.segments_map_m.items():
        near = segments_map_m[np.linalg.norm(segments_map_m.mean(axis=1) - eye, axis=1) < _REACH_M]
        pixels = image.project(near)
        keep = _visible(image, near.mean(axis=1), pixels.mean(axis=1), depth_m)
        draw.draw_segments(canvas, pixels[keep] - _CENTRE_PX, colour=_LINES[layer], width_px=2)
    visible_rows = boxes_in_mask(boxes, image)
    far = np.linalg.norm(boxes.map_SE3_box.translation_m[visible_rows] - eye, axis=1)
    for row in visible_rows[np.argsort(-far)].tolist():
        corners = image.project(boxes.corners_map_m[row], beyond=True) - _CENTRE_PX
        colour = _BOXES.get(boxes.categories[row].partition(".")[0], _OTHER_BOX)
        draw.draw_polygons(canvas, list(corners[_FACES]), colour=colour)
        edges = tuple(min(part + 70, 255) for part in colour)
        draw.draw_boxes_3d(canvas, corners[None], colours=[(edges[0], edges[1], edges[2])])
    return canvas


def _visible(image: Image, points_map_m: FloatArray, pixels: FloatArray, depth_m: Float32Image | None) -> BoolArray:
    """Return (N,) bool, True for points in the image that the depth image does not occlude.

    Args:
        image: the image.
        points_map_m: (N, 3) points in the map frame, metres.
        pixels: (N, 2) projections of the points.
        depth_m: (H, W) depth, metres; None without a depth image.
    """
    width, height = image.size_px
    inside = np.asarray((np.isfinite(pixels) & (pixels >= 0) & (pixels < [width, height])).all(axis=1))
    if depth_m is None:
        return inside
    column, line = np.where(inside[:, None], pixels, 0).astype(np.int64).T
    away_m = image.map_SE3_optical.apply_inverse(points_map_m)[:, 2]
    visible: BoolArray = inside & (away_m <= depth_m[line, column] * 1.02 + _OCCLUSION_M)
    return visible
