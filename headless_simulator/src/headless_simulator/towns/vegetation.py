"""Trees and bushes: a few shapes drawn once, then placed many times."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from headless_simulator.scene import FOLIAGE, Float64, Mesh
from headless_simulator.towns.objects import Stock, single, to_world
from headless_simulator.towns.solids import add_cylinder, ring
from headless_simulator.towns.triangle_soup import RGB, TriangleSoup, appearance_of

_LEAVES: Final[tuple[RGB, ...]] = ((62, 98, 44), (78, 112, 50), (52, 86, 46), (96, 118, 56), (72, 100, 60))
_NEEDLES: Final[tuple[RGB, ...]] = ((40, 72, 46), (48, 80, 52), (56, 84, 50))
_BARK: Final[RGB] = (88, 70, 54)


def _blob(triangle_soup: TriangleSoup, centre: Float64, radii: Float64, colour: RGB, rng: np.random.Generator) -> None:
    """A rough ball of 30 triangles: rings of six points between two poles."""
    levels = np.array([-0.62, 0.12, 0.72])
    rings = []
    for turn, level in enumerate(levels):
        circle = ring((0.0, 0.0, float(level)), float(np.sqrt(1 - level**2)), 6, turn * np.pi / 6 + 0.3)
        rings.append(centre + circle * radii * rng.uniform(0.85, 1.15, size=(6, 1)))
    parts = []
    for lower, upper in pairwise(rings):
        nxt, up_next = np.roll(lower, -1, axis=0), np.roll(upper, -1, axis=0)
        parts += [np.stack([lower, nxt, upper], axis=1), np.stack([nxt, up_next, upper], axis=1)]
    top = np.broadcast_to(centre + radii * (0, 0, 1.0), (6, 3))
    parts.append(np.stack([rings[-1], np.roll(rings[-1], -1, axis=0), top], axis=1))
    triangles = np.concatenate(parts)
    shade = np.clip(np.asarray(colour) + rng.integers(-10, 11, size=(len(triangles), 1)), 0, 255).astype(np.uint8)
    triangle_soup.triangles(triangles, appearance_of(shade, "vegetation", FOLIAGE))


def broadleaf(rng: np.random.Generator, *, blobs: int = 2) -> Mesh:
    """A leafy tree about one unit of 8 m high."""
    triangle_soup = TriangleSoup()
    colour = _LEAVES[int(rng.integers(len(_LEAVES)))]
    add_cylinder(triangle_soup, (0.0, 0.0, -0.4), 0.22, 3.0, appearance_of(_BARK, "vegetation"), sides=4, taper=0.7)
    _blob(triangle_soup, np.array([0.0, 0.0, 5.0]), np.array([2.6, 2.6, 2.9]), colour, rng)
    for _ in range(blobs - 1):
        angle = rng.uniform(0, 2 * np.pi)
        offset = np.array([np.cos(angle) * 1.4, np.sin(angle) * 1.4, rng.uniform(3.6, 5.8)])
        _blob(triangle_soup, offset, np.array([1.9, 1.9, 1.7]), colour, rng)
    return single(triangle_soup)


def conifer(rng: np.random.Generator) -> Mesh:
    """A spruce: two or three cones."""
    triangle_soup = TriangleSoup()
    colour = _NEEDLES[int(rng.integers(len(_NEEDLES)))]
    add_cylinder(triangle_soup, (0.0, 0.0, -0.4), 0.2, 1.9, appearance_of(_BARK, "vegetation"), sides=4, taper=0.8)
    for foot, radius, tall in ((1.2, 2.3, 4.0), (3.4, 1.7, 3.4), (5.4, 1.1, 3.0)):
        base = ring((0.0, 0.0, foot), radius, 6, rng.uniform(0, 1))
        tip = np.broadcast_to(np.array([0.0, 0.0, foot + tall]), (6, 3))
        triangles = np.stack([base, np.roll(base, -1, axis=0), tip], axis=1)
        shade = np.clip(np.asarray(colour) + rng.integers(-8, 9, size=(6, 1)), 0, 255).astype(np.uint8)
        triangle_soup.triangles(triangles, appearance_of(shade, "vegetation", FOLIAGE))
    return single(triangle_soup)


def bush(rng: np.random.Generator) -> Mesh:
    """A bush 1.5 m high."""
    triangle_soup = TriangleSoup()
    _blob(
        triangle_soup,
        np.array([0.0, 0.0, 0.6]),
        np.array([1.0, 1.0, 0.9]),
        _LEAVES[int(rng.integers(len(_LEAVES)))],
        rng,
    )
    return single(triangle_soup)


def plant(
    stock: Stock, spots_m: Float64, rng: np.random.Generator, *, conifers: float = 0.15, size: float = 1.0
) -> None:
    """Place trees.

    Args:
        stock: where they go.
        spots_m: (N, 3) feet.
        rng: for shape, size, turn.
        conifers: share of them.
        size: mean size; 1 is a tree of 8 m.
    """
    leafy = [broadleaf(rng, blobs=1 + k % 2) for k in range(8)]
    needles = [conifer(rng) for _ in range(4)]
    for x, y, z in spots_m:
        family = needles if rng.random() < conifers else leafy
        mesh = family[int(rng.integers(len(family)))]
        scale = size * rng.uniform(0.7, 1.3) * np.array([1.0, 1.0, rng.uniform(0.85, 1.2)])
        yaw = float(rng.uniform(0, 360))
        points = mesh.vertices_m * scale
        number = stock.add("Tree", "vegetation", (x, y, z, yaw), (points.min(axis=0), points.max(axis=0)))
        stock.triangle_soup.mesh_parts(mesh, to_world(points, x, y, z, yaw), number)
