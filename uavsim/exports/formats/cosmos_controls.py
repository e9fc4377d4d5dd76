"""Frames of the control videos: what of an image a video model has to keep.

Depth is inverse and near is bright, one scale for a clip. Instances have one colour each over all of it, what is no object
has its class' CityScapes colour, the sky none. Edges are Canny's, without the sky's. ``hdmap_bbox`` is the vector map's lines
and the boxes of what the image shows, drawn by us and not by a vendor's renderer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.access import Boxes, Image
from uavsim.access.shown import boxes_in_mask
from uavsim.dataset.vocabulary import SEMANTIC_TAGS
from uavsim.exports.formats.edges import grown, thin_edges
from uavsim.images import draw
from uavsim.images.codec import Float32Image
from uavsim.images.overlay import object_colours
from uavsim.records.road_map import RoadMap
from uavsim.typing import BoolArray, FloatArray, UInt8Array

_NEAREST_M: Final = 0.1
_NAMES: Final = [name for name, _ in SEMANTIC_TAGS]
_SKY: Final = _NAMES.index("sky")
_CITYSCAPES: Final = np.zeros((256, 3), dtype=np.uint8)
_CITYSCAPES[: len(SEMANTIC_TAGS)] = [colour for _, colour in SEMANTIC_TAGS]
_SMALL_PX: Final = 32 * 32  # COCO's small
_MARGIN_PX: Final = 4
_CENTRE_PX: Final = 0.5  # of the first pixel; OpenCV's is at 0
_REACH_M: Final = 120.0
_STEP_M: Final = 1.0
_BEHIND_M: Final = 0.5  # a line lies so much behind the surface that hides it, and 2 % of its distance
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
    """Yield (H, W, 3) grey: the inverse of depth between the clip's least and most."""
    ranges = [(float(near.min()), float(near.max())) for near in map(_nearness, images)]
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    for image in images:
        grey = np.rint((_nearness(image) - low) * (255.0 / max(high - low, 1e-9))).astype(np.uint8)
        yield np.repeat(grey[..., None], 3, axis=2)


def _nearness(image: Image) -> FloatArray:
    return 1.0 / np.maximum(image.depth_m().astype(np.float64), _NEAREST_M)


def instances(image: Image) -> UInt8Array:
    """Return (H, W, 3): a colour for each object, over the colours of classes."""
    ids, tags = image.mask()
    ground = _CITYSCAPES // 2  # dim: no object looks like what is behind it
    ground[_SKY] = 0
    painted: UInt8Array = ground[tags]
    known = np.unique(ids[ids > 0]).astype(np.int64)
    colours = np.zeros((int(known.max(initial=0)) + 1, 3), dtype=np.uint8)
    colours[known] = np.array(object_colours(known), dtype=np.uint8).reshape(-1, 3)
    painted[ids > 0] = colours[ids[ids > 0]]
    return painted


def semantics(image: Image) -> UInt8Array:
    """Return (H, W, 3) in CityScapes' colours."""
    painted: UInt8Array = _CITYSCAPES[image.mask()[1]]
    return painted


def edge(image: Image) -> UInt8Array:
    """Return (H, W, 3) edges in white; none in the sky where there are semantics."""
    edges = thin_edges(image.pixels())
    if "instance" in image.layers:
        edges &= image.mask()[1] != _SKY
    return _white(edges)


def small_objects(image: Image) -> UInt8Array:
    """Return (H, W, 3) white where a small object is and round it: where a control must hold."""
    ids, _ = image.mask()
    counts = np.bincount(ids.ravel())
    small = (counts < _SMALL_PX) & (np.arange(len(counts)) > 0)
    return _white(grown(small[ids], _MARGIN_PX))


def _white(where: BoolArray) -> UInt8Array:
    return np.repeat(np.where(where, 255, 0).astype(np.uint8)[..., None], 3, axis=2)


@dataclass(frozen=True, slots=True, eq=False)
class MapLines:
    """The lines of a town's vector map.

    Attributes:
        segments_map_m: layer -> (N, 2, 3), none longer than a metre.
    """

    segments_map_m: dict[str, FloatArray]

    @classmethod
    def of(cls, town: RoadMap) -> MapLines:
        """Take them from a map."""
        found = {}
        for layer in _LINES:
            lines = [line for shape in town.shapes_map_m(layer).values() for line in shape]
            found[layer] = np.concatenate([np.zeros((0, 2, 3)), *map(_segments, lines)])
        return cls(found)


def _segments(line_map_m: FloatArray) -> FloatArray:
    """Return (M, 2, 3) short segments along (N, 3) points."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line_map_m, axis=0), axis=1))])
    at = np.union1d(along, np.arange(0.0, along[-1], _STEP_M))
    places = np.stack([np.interp(at, along, line_map_m[:, axis]) for axis in range(3)], axis=1)
    return np.stack([places[:-1], places[1:]], axis=1)


def hdmap_bbox(image: Image, lines: MapLines, boxes: Boxes) -> UInt8Array:
    """Return (H, W, 3) the map's lines and filled boxes on black; nothing that a surface hides, where there is depth."""
    width, height = image.size_px
    canvas = np.zeros((height, width, 3), dtype=np.uint8)
    depth_m = image.depth_m() if "depth" in image.layers else None
    eye = image.map_SE3_optical.translation_m
    for layer, segments_map_m in lines.segments_map_m.items():
        near = segments_map_m[np.linalg.norm(segments_map_m.mean(axis=1) - eye, axis=1) < _REACH_M]
        pixels = image.project(near)
        keep = _seen(image, near.mean(axis=1), pixels.mean(axis=1), depth_m)
        draw.draw_segments(canvas, pixels[keep] - _CENTRE_PX, colour=_LINES[layer], width_px=2)
    shown = boxes_in_mask(boxes, image)
    far = np.linalg.norm(boxes.map_SE3_box.translation_m[shown] - eye, axis=1)
    for row in shown[np.argsort(-far)].tolist():
        corners = image.project(boxes.corners_map_m[row], beyond=True) - _CENTRE_PX
        colour = _BOXES.get(boxes.categories[row].partition(".")[0], _OTHER_BOX)
        draw.draw_polygons(canvas, list(corners[_FACES]), colour=colour)
        edges = tuple(min(part + 70, 255) for part in colour)
        draw.draw_boxes_3d(canvas, corners[None], colours=[(edges[0], edges[1], edges[2])])
    return canvas


def _seen(image: Image, places_map_m: FloatArray, pixels: FloatArray, depth_m: Float32Image | None) -> BoolArray:
    """Return (N,) whether nothing hides places, by the depth image; True where there is none."""
    width, height = image.size_px
    inside = np.asarray((np.isfinite(pixels) & (pixels >= 0) & (pixels < [width, height])).all(axis=1))
    if depth_m is None:
        return inside
    column, line = np.where(inside[:, None], pixels, 0).astype(np.int64).T
    away_m = image.map_SE3_optical.apply_inverse(places_map_m)[:, 2]
    seen: BoolArray = inside & (away_m <= depth_m[line, column] * 1.02 + _BEHIND_M)
    return seen
