"""Rasters of a vector map."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
import shapely

from uavsim.errors import InputError
from uavsim.images import draw
from uavsim.maps.lanes import DRIVING
from uavsim.maps.opendrive.model import Network
from uavsim.maps.vector_map import VectorMap
from uavsim.typing import BoolArray, FloatArray, UInt8Array

_MOST_PIXELS: Final = 400_000_000
_PX_PER_M: Final = 2.0
_COLOURS: Final[Mapping[str, draw.Colour]] = {
    "building": (216, 200, 186),
    "drivable_area": (208, 210, 214),
    "road_segment": (190, 194, 200),
    "walkway": (226, 205, 190),
    "carpark_area": (188, 204, 226),
    "ped_crossing": (250, 214, 90),
    "stop_line": (226, 90, 70),
}
_LINES: Final[Mapping[str, draw.Colour]] = {"lane_divider": (255, 255, 255), "road_divider": (240, 190, 60)}


def filled(shapes: Iterable[Any], *, size_px: tuple[int, int], px_of: Any) -> BoolArray:
    """Return (H, W) bool, True inside any polygon.

    Args:
        shapes: polygons or multipolygons.
        size_px: width and height.
        px_of: maps (N, 2) map points to (N, 2) pixels.

    Raises:
        InputError: the raster is empty or too large.
    """
    width, height = size_px
    if width * height > _MOST_PIXELS or min(size_px) < 1:
        raise InputError(f"a raster of {width} x {height} pixels is empty or too large; change the resolution")
    mask: UInt8Array = np.zeros((height, width), dtype=np.uint8)
    for part in shapely.get_parts(np.asarray(list(shapes), dtype=object)):
        rings = [px_of(shapely.get_coordinates(ring)) for ring in shapely.get_rings(part)]
        draw.draw_even_odd(mask, rings, colour=(1, 1, 1))
    return mask.view(np.bool_)


def draw_town(town: VectorMap) -> UInt8Array:
    """Return an (H, W, 3) uint8 RGB image, north up, of areas, crossings, stop lines, dividers and traffic lights."""
    west, south, east, north = town.bounds_m
    px_per_m = min(_PX_PER_M, 12_000 / max(east - west, north - south, 1.0))
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


def road_outlines(network: Network) -> list[FloatArray]:
    """Return an (N, 2) polygon in the map frame, metres, of the driving lanes of each road section."""
    outlines = []
    for road in network.roads.values():
        for section in road.sections:
            s = road.grid(section.s_m, section.end_m, lanes=section)
            borders = road.borders_m(section, s)
            driven = [borders[i] for i, lane in section.lanes.items() if lane.type in DRIVING]
            if driven:
                edges = road.xyz(
                    s, np.stack([np.max([borders[0], *driven], axis=0), np.min([borders[0], *driven], axis=0)])
                )
                outlines.append(np.concatenate([edges[0, :, :2], edges[1, ::-1, :2]]))
    return outlines
