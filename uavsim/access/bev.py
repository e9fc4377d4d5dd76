"""Bird's-eye-view rasters of the map and of boxes around an agent, for models of nuScenes."""

from collections.abc import Sequence

import numpy as np

from uavsim.access.boxes import Boxes
from uavsim.geometry.bev import BevFrame
from uavsim.images import draw
from uavsim.records.road_map import LINE_LAYERS, MAP_LAYERS, RoadMap
from uavsim.registry import pick
from uavsim.typing import BoolArray, FloatArray, UInt8Array

_INK = (255, 255, 255)
_SHARE = 64  # minimum coverage of a set pixel, of 255


def bev_of_map(road_map: RoadMap, layers: Sequence[str], frame: BevFrame) -> BoolArray:
    """Return (L, H, W) bool rasters of L map layers in the BEV frame; lines are one pixel wide.

    Raises:
        UnknownNameError: a layer does not exist.
    """
    for layer in layers:
        pick(dict.fromkeys(MAP_LAYERS), layer, what="map layer")
    channels = [_raster(road_map.shapes_near(layer, frame.bounds_map_m), frame, layer) for layer in layers]
    return np.stack(channels) if channels else np.zeros((0, *frame.size_px[::-1]), dtype=np.bool_)


def bev_of_boxes(boxes: Boxes, classes: Sequence[str], frame: BevFrame) -> BoolArray:
    """Return (C, H, W) bool rasters of the boxes' footprints by class, in the BEV frame.

    Args:
        boxes: boxes of a sample.
        classes: names of categories, or their first words: ``vehicle`` includes all that begin with ``vehicle.``.
        frame: position, heading and resolution of the raster.
    """
    rasters: BoolArray = np.zeros((len(classes), *frame.size_px[::-1]), dtype=np.bool_)
    corners = boxes.corners_map_m[:, [2, 3, 7, 6], :2]  # corners of the bottom face, in order
    for channel, name in zip(rasters, classes, strict=True):
        quads = [c for c, kind in zip(corners, boxes.categories, strict=True) if f"{kind}.".startswith(f"{name}.")]
        mask: UInt8Array = np.zeros(channel.shape, dtype=np.uint8)
        draw.draw_polygons(mask, [frame.px(corner) for corner in quads], colour=_INK)
        channel[:] = mask > _SHARE
    return rasters


def _raster(shapes: Sequence[Sequence[FloatArray]], frame: BevFrame, layer: str) -> BoolArray:
    mask: UInt8Array = np.zeros(frame.size_px[::-1], dtype=np.uint8)
    for rings in shapes:
        pixels = [frame.px(ring) for ring in rings]
        if layer in LINE_LAYERS:
            for line in pixels:
                draw.draw_polyline(mask, line, colour=_INK)
        else:
            draw.draw_even_odd(mask, pixels, colour=_INK)
    return mask > _SHARE
