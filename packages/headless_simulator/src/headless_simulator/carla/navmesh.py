"""Writer of Detour navigation meshes for the client's pedestrian navigation.

One tile, version 7, 32-bit references, Recast's axes (x, up, y). Convex polygons that share an edge are connected; an
edge with another polygon's corner on it is split first.

Source: Detour's public headers for the layout (``dtMeshHeader``, ``dtPoly``, ``dtPolyDetail``); sizes confirmed by the
wheel's own debug information.
"""

import struct
from collections.abc import Sequence
from typing import Final

import numpy as np

from headless_simulator.scene import Float64

Point = tuple[float, float, float]
Polygon = tuple[tuple[Point, ...], str]

AREA: Final[dict[str, tuple[int, int]]] = {  # name: (area, flag)
    "sidewalk": (1, 2),
    "crosswalk": (2, 4),
    "road": (3, 8),
    "grass": (4, 16),
}
_CORNERS: Final = 6  # at most, in Detour
_MOST_VERTICES: Final = 65_000
_MAGIC_SET: Final = 0x4D534554
_MAGIC_TILE: Final = 0x444E4156
_SNAP_M: Final = 0.02


def build_mesh(polygons: Sequence[Polygon]) -> bytes:
    """Pack convex polygons as a mesh file; empty without polygons."""
    if not polygons:
        return b""
    vertices, loops, areas = _weld(polygons)
    loops = _split_edges(vertices, loops)
    faces, kinds = _limit_corners(loops, areas)
    return _pack(vertices, faces, kinds)


def _weld(polygons: Sequence[Polygon]) -> tuple[Float64, list[list[int]], list[str]]:
    index: dict[tuple[int, int, int], int] = {}
    points: list[Point] = []
    loops, areas = [], []
    for corners, area in polygons:
        if _area(corners) > 0:
            corners = corners[::-1]  # Detour counts the other winding as its front
        loop: list[int] = []
        for x, y, z in corners:
            key = (round(x / _SNAP_M), round(y / _SNAP_M), round(z / 0.5))
            number = index.setdefault(key, len(points))
            if number == len(points):
                points.append((x, y, z))
            if number not in loop:
                loop.append(number)
        if len(loop) >= 3 and len(points) < _MOST_VERTICES:
            loops.append(loop)
            areas.append(area)
    return np.array(points, np.float64).reshape(-1, 3), loops, areas


def _area(corners: Sequence[Point]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, (*corners[1:], corners[0]), strict=True))


def _split_edges(vertices: Float64, loops: list[list[int]]) -> list[list[int]]:
    """Insert other polygons' corners into the edges they lie on, so that neighbours share whole edges; vertices are (V, 3)."""
    owners: dict[frozenset[int], int] = {}
    for loop in loops:
        for a, b in zip(loop, (*loop[1:], loop[0]), strict=True):
            owners[frozenset((a, b))] = owners.get(frozenset((a, b)), 0) + 1
    outer_edges = [edge for edge, count in owners.items() if count == 1]
    corners = np.array(sorted({v for edge in outer_edges for v in edge}), np.int64)
    positions = vertices[corners]
    order = np.argsort(positions[:, 0], kind="stable")
    corners, positions = corners[order], positions[order]
    extra: dict[frozenset[int], list[int]] = {}
    for edge in outer_edges:
        first, last = sorted(edge)
        a, b = vertices[first], vertices[last]
        low = np.searchsorted(positions[:, 0], min(a[0], b[0]) - _SNAP_M)
        high = np.searchsorted(positions[:, 0], max(a[0], b[0]) + _SNAP_M)
        near = positions[low:high]
        along = b[:2] - a[:2]
        length = float(np.hypot(*along))
        if length < _SNAP_M or not len(near):
            continue
        offset = near[:, :2] - a[:2]
        share = offset @ along / length**2
        off_m = np.abs(offset[:, 0] * along[1] - offset[:, 1] * along[0]) / length
        rise = np.abs(near[:, 2] - (a[2] + share * (b[2] - a[2])))
        on_edge = (share * length > _SNAP_M) & ((1 - share) * length > _SNAP_M) & (off_m < 2 * _SNAP_M) & (rise < 0.3)
        if on_edge.any():
            inside = corners[low:high][on_edge]
            extra[edge] = inside[np.argsort(share[on_edge], kind="stable")].tolist()  # from the lower vertex number on
    return [_with_extra(loop, extra) for loop in loops]


def _with_extra(loop: list[int], extra: dict[frozenset[int], list[int]]) -> list[int]:
    out: list[int] = []
    for a, b in zip(loop, (*loop[1:], loop[0]), strict=True):
        out.append(a)
        between = extra.get(frozenset((a, b)), [])
        out += [v for v in (between if a < b else between[::-1]) if v not in loop and v not in out]
    return out


def _limit_corners(loops: list[list[int]], areas: list[str]) -> tuple[list[list[int]], list[str]]:
    """Cut polygons with too many corners into fans that share edges."""
    faces: list[list[int]] = []
    kinds: list[str] = []
    for loop, area in zip(loops, areas, strict=True):
        rest = loop
        while len(rest) > _CORNERS:
            faces.append(rest[:_CORNERS])
            kinds.append(area)
            rest = [rest[0], *rest[_CORNERS - 1 :]]
        faces.append(rest)
        kinds.append(area)
    return faces, kinds


def _pack(vertices: Float64, faces: list[list[int]], kinds: list[str]) -> bytes:
    owners: dict[frozenset[int], list[int]] = {}
    for number, face in enumerate(faces):
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            owners.setdefault(frozenset((a, b)), []).append(number)
    polygons, details, triangles = [], [], []
    links = triangle_count = 0
    for number, (face, kind) in enumerate(zip(faces, kinds, strict=True)):
        neighbours = []
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            others = [n for n in owners[frozenset((a, b))] if n != number]
            neighbours.append(others[0] + 1 if others else 0)
            links += bool(others)
        area, flags = AREA.get(kind, AREA["sidewalk"])
        pad = [0] * (_CORNERS - len(face))
        polygons.append(struct.pack("<I6H6HHBB", 0xFFFFFFFF, *face, *pad, *neighbours, *pad, flags, len(face), area))
        details.append(struct.pack("<IIBBxx", 0, triangle_count, 0, len(face) - 2))
        triangles += [struct.pack("<4B", 0, k, k + 1, 0x15) for k in range(1, len(face) - 1)]
        triangle_count += len(face) - 2
    recast = vertices[:, [0, 2, 1]].astype("<f4")
    low, high = recast.min(axis=0) - (1, 2, 1), recast.max(axis=0) + (1, 4, 1)
    count, links = len(faces), max(1, links)
    header = struct.pack(
        "<6i9i3f3f3ff", _MAGIC_TILE, 7, 0, 0, 0, 0, count, len(recast), links, count, 0, triangle_count, 0, 0, count,
        1.8, 0.3, 0.4, *low, *high, 10.0,
    )  # fmt: skip
    body = (recast.tobytes(), *polygons, b"\0" * 12 * links, *details, *triangles)
    tile = header + b"".join(body)
    most = 1 << max(1, (count - 1).bit_length())
    sizes = high - low
    head = struct.pack("<3i3f2f2i", _MAGIC_SET, 1, 1, *low, sizes[0], sizes[2], 1, most)
    return head + struct.pack("<Ii", most, len(tile)) + tile  # salt 1, tile 0, polygon 0
