"""Rasters of a vector map: an image of the whole town, and what lies round an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import shapely

from uavsim.errors import InputError
from uavsim.images import draw
from uavsim.typing import BoolArray, FloatArray, UInt8Array
from uavsim_maps.vector_map import VectorMap

__all__ = ["bev", "draw_town", "filled"]

_MOST_PIXELS: Final = 400_000_000
_COLOURS: Final[Mapping[str, draw.Colour]] = {
    "drivable_area": (208, 210, 214),
    "road_segment": (190, 194, 200),
    "walkway": (226, 205, 190),
    "carpark_area": (188, 204, 226),
    "ped_crossing": (250, 214, 90),
    "stop_line": (226, 90, 70),
}
_LINES: Final[Mapping[str, draw.Colour]] = {"lane_divider": (255, 255, 255), "road_divider": (240, 190, 60)}


def filled(shapes: Iterable[Any], *, size_px: tuple[int, int], px_of: Any) -> BoolArray:
    """Return (H, W) where any of some polygons lies; their holes are open.

    Args:
        shapes: polygons or multipolygons.
        size_px: width and height.
        px_of: takes (N, 2) map points to (N, 2) pixels.

    Raises:
        InputError: far too many pixels.
    """
    width, height = size_px
    if width * height > _MOST_PIXELS or min(size_px) < 1:
        raise InputError(f"a raster of {width} x {height} pixels: name fewer pixels a metre")
    mask: UInt8Array = np.zeros((height, width), dtype=np.uint8)
    for part in shapely.get_parts(np.asarray(list(shapes), dtype=object)):
        rings = [shapely.get_coordinates(ring) for ring in shapely.get_rings(part)]
        if len(rings) == 1:
            draw.draw_polygons(mask, [px_of(rings[0])], colour=(255, 255, 255))
            continue
        own: UInt8Array = np.zeros_like(mask)
        draw.draw_polygons(own, [px_of(rings[0])], colour=(255, 255, 255))
        draw.draw_polygons(own, [px_of(ring) for ring in rings[1:]], colour=(0, 0, 0))
        mask |= own
    return mask > 0


def bev(
    town: VectorMap,
    layers: Sequence[str],
    *,
    centre_map_m: tuple[float, float],
    yaw_rad: float,
    size_m: tuple[float, float] = (100.0, 100.0),
    metres_per_px: float = 0.5,
) -> BoolArray:
    """Return what lies round an agent, as ``NuScenesMap.get_map_mask`` cuts it.

    Args:
        town: its map.
        layers: names of polygon layers, one channel each.
        centre_map_m: the agent's place.
        yaw_rad: the agent's heading; it is the direction of rising columns, and rows rise to its left.
        size_m: along and across the heading.
        metres_per_px: of a pixel.

    Returns:
        (L, H, W): columns along the heading, rows to the left of it.
    """
    long, wide = size_m
    size_px = (round(long / metres_per_px), round(wide / metres_per_px))
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    reach = float(np.hypot(long, wide)) / 2
    box = shapely.box(*(np.array(centre_map_m) - reach), *(np.array(centre_map_m) + reach))

    def px_of(points: FloatArray) -> FloatArray:
        off = points[:, :2] - centre_map_m
        ahead, left = off[:, 0] * cos + off[:, 1] * sin, off[:, 1] * cos - off[:, 0] * sin
        return np.stack([(ahead + long / 2) / metres_per_px, (left + wide / 2) / metres_per_px], axis=1) - 0.5

    channels = []
    for name in layers:
        near = town.near(name, box)
        channels.append(filled(near, size_px=size_px, px_of=px_of))
    return np.stack(channels)


def draw_town(
    town: VectorMap, *, bounds_m: tuple[float, float, float, float] | None = None, px_per_m: float = 2.0
) -> UInt8Array:
    """Return an (H, W, 3) image for people, north up: areas, crossings, stop lines, dividers, lights."""
    west, south, east, north = bounds_m or town.bounds_m
    px_per_m = min(px_per_m, 12_000 / max(east - west, north - south, 1.0))
    size = (max(int(np.ceil((east - west) * px_per_m)), 1), max(int(np.ceil((north - south) * px_per_m)), 1))
    canvas: UInt8Array = np.full((size[1], size[0], 3), 246, dtype=np.uint8)

    def px_of(points: FloatArray) -> FloatArray:
        return np.stack([(points[:, 0] - west) * px_per_m, (north - points[:, 1]) * px_per_m], axis=1)

    for name, colour in _COLOURS.items():
        canvas[filled(town.layer(name).shapes, size_px=size, px_of=px_of)] = colour
    for name, colour in _LINES.items():
        for line in town.layer(name).shapes:
            draw.draw_polyline(canvas, px_of(shapely.get_coordinates(line)), colour=colour)
    for token in town.paths:
        draw.draw_polyline(canvas, px_of(town.centre_line_m(token, step_m=2.0)), colour=(110, 140, 180))
    lights = [shapely.get_coordinates(line).mean(axis=0) for line in town.layer("traffic_light").shapes]
    if lights:
        draw.draw_circles(canvas, px_of(np.array(lights)), radius_px=3, colour=(30, 150, 60))
    return canvas
