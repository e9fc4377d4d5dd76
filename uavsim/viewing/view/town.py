"""The town of a recording: drivable area, its borders, lines of the vector map, and buildings."""

from typing import Final

import numpy as np
import rerun as rr
import shapely

from uavsim.access import TownMap
from uavsim.errors import DatasetError
from uavsim.images import draw, overlay
from uavsim.records.road_map import BUILDINGS, RoadMap
from uavsim.typing import BoolArray, FloatArray, UInt8Array

_WIDEST_PX: Final = 1536
_ROAD, _GROUND = (92, 96, 104), (38, 42, 48)
_BORDER: Final = (170, 175, 185)
_LAYERS: Final = {
    "lane_divider": (235, 235, 235),
    "road_divider": (240, 190, 60),
    "ped_crossing": (250, 214, 90),
    "stop_line": (226, 90, 70),
    "traffic_light": (60, 200, 90),
}
_BUILDING: Final = (150, 128, 108)
_STRAIGHT_WITHIN_PX: Final = 2.0


def log_town(recording: rr.RecordingStream, town: TownMap, *, ground_z_m: float) -> bool:
    """Write a town's map under ``world/town``; returns False without a readable map mask."""
    try:
        drivable = town.drivable()
    except DatasetError:
        return False
    height, width = drivable.shape
    low = town.origin_map_m
    high = low + np.array([width, height]) * town.metres_per_px
    z = ground_z_m - 0.05
    corners = [[low[0], low[1], z], [high[0], low[1], z], [high[0], high[1], z], [low[0], high[1], z]]
    recording.log(
        "world/town/ground",
        rr.Mesh3D(
            vertex_positions=corners,
            triangle_indices=[[0, 1, 2], [0, 2, 3]],
            vertex_texcoords=[[0, 1], [1, 1], [1, 0], [0, 0]],
            albedo_texture=_texture(drivable),
        ),
    )
    outlines = overlay.outlines(drivable, within_px=_STRAIGHT_WITHIN_PX)
    strips = [_to_map(line, low=low, high=high, metres_per_px=town.metres_per_px, z_m=z) for line in outlines]
    recording.log("world/town/borders", rr.LineStrips3D(strips, colors=[_BORDER], radii=[0.08]))
    roads = town.roads()
    if roads is not None:
        _log_roads(recording, roads)
    return True


def _log_roads(recording: rr.RecordingStream, roads: RoadMap) -> None:
    """Write lines of a vector map and blocks of its buildings."""
    for layer, colour in _LAYERS.items():
        lines = [shape for parts in roads.shapes_map_m(layer).values() for shape in parts]
        recording.log(f"world/town/map/{layer}", rr.LineStrips3D(lines, colors=[colour], radii=[0.06]))
    heights = roads.heights_map_m(BUILDINGS)
    blocks = [_block(ring, heights[name][0]) for name, (ring,) in roads.shapes_map_m(BUILDINGS).items()]
    if blocks:
        corners = np.concatenate(blocks)  # (triangles, 3, 3)
        faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = faces / np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-9)
        mesh = rr.Mesh3D(
            vertex_positions=corners.reshape(-1, 3),
            vertex_normals=np.repeat(normals, 3, axis=0),
            albedo_factor=_BUILDING,
        )
        recording.log(f"world/town/map/{BUILDINGS}", mesh)


def _block(roof_map_m: FloatArray, bottom_map_m: float) -> FloatArray:
    """Return the triangles of a building's roof and walls.

    Args:
        roof_map_m: (N, 3) closed ring of the roof, map frame, metres.
        bottom_map_m: height of the ground floor, metres.

    Returns:
        (M, 3, 3) corners of each triangle, map frame, metres.
    """
    outline = shapely.orient_polygons(shapely.Polygon(roof_map_m))
    roof_map_m = shapely.get_coordinates(outline, include_z=True)  # counter-clockwise, so that walls face outwards
    parts = shapely.constrained_delaunay_triangles(shapely.make_valid(outline))
    corners = [shapely.get_coordinates(part)[:3] for part in shapely.orient_polygons(parts).geoms]
    roof = np.insert(np.array(corners).reshape(-1, 3, 2), 2, roof_map_m[0, 2], axis=2)
    foot_map_m = roof_map_m * (1.0, 1.0, 0.0) + (0.0, 0.0, bottom_map_m)
    a, b, c, d = foot_map_m[:-1], foot_map_m[1:], roof_map_m[1:], roof_map_m[:-1]
    return np.concatenate([roof, np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _texture(drivable: BoolArray) -> UInt8Array:
    pixels: UInt8Array = np.where(drivable[..., None], _ROAD, _GROUND).astype(np.uint8)
    height, width = drivable.shape
    scale = _WIDEST_PX / max(height, width)
    if scale >= 1.0:
        return pixels
    return draw.resized(pixels, width_px=round(width * scale), height_px=round(height * scale))


def _to_map(line: FloatArray, *, low: FloatArray, high: FloatArray, metres_per_px: float, z_m: float) -> FloatArray:
    """Return (N, 3) map points, metres, of (N, 2) pixels of an image with the northernmost row first."""
    x, y = low[0] + line[:, 0] * metres_per_px, high[1] - line[:, 1] * metres_per_px
    return np.stack([x, y, np.full(len(line), z_m)], axis=1)
