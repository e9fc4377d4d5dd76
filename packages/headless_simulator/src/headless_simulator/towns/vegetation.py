"""Trees and bushes: a few shapes, each placed many times."""

from typing import Final

import numpy as np
from scipy.spatial import ConvexHull

from headless_simulator.scene import FOLIAGE, Float64, Mesh
from headless_simulator.towns.arrays import Ints
from headless_simulator.towns.objects import Stock, single, to_world
from headless_simulator.towns.solids import add_cylinder, ring
from headless_simulator.towns.triangle_soup import RGB, TriangleSoup, appearance_of

_LEAVES: Final[tuple[RGB, ...]] = ((62, 98, 44), (78, 112, 50), (52, 86, 46), (96, 118, 56), (72, 100, 60))
_NEEDLES: Final[tuple[RGB, ...]] = ((40, 72, 46), (48, 80, 52), (56, 84, 50))
_BARK: Final[RGB] = (88, 70, 54)


def _icosahedron() -> tuple[Float64, Ints]:
    """Return (12, 3) points on the unit sphere and (20, 3) faces."""
    g = (1 + 5**0.5) / 2
    points = np.array([(s, t * g, 0.0) for s in (-1, 1) for t in (-1, 1)])
    points = np.concatenate([points, points[:, [2, 0, 1]], points[:, [1, 2, 0]]]) / np.hypot(1, g)
    return points, ConvexHull(points).simplices


def _ball() -> tuple[Float64, Ints]:
    """Return (42, 3) points on the unit sphere and (80, 3) faces."""
    points, faces = _icosahedron()
    middles = points[faces] + np.roll(points[faces], -1, axis=1)
    every = np.concatenate([points, middles.reshape(-1, 3)])
    every = np.unique(np.round(every / np.linalg.norm(every, axis=1, keepdims=True), 9), axis=0)
    return every, ConvexHull(every).simplices


_COARSE_BALL: Final = _icosahedron()
_BALL: Final = _ball()


def _clump(
    triangle_soup: TriangleSoup,
    ball: tuple[Float64, Float64],
    colour: RGB,
    rng: np.random.Generator,
    *,
    fine: bool = False,
) -> None:
    """Add leaves as a rough closed ellipsoid (centre, radii): lighter above, darker below."""
    centre, radii = ball
    points, faces = _BALL if fine else _COARSE_BALL
    rough = points * rng.uniform(0.86, 1.14, size=(len(points), 1))
    triangles = (centre + rough * radii)[faces]
    height = rough[faces].mean(axis=1)[:, 2:]
    shade = np.asarray(colour) * (0.92 + 0.16 * height) + rng.integers(-4, 5, size=(len(faces), 1))
    look = appearance_of(np.clip(shade, 0, 255).astype(np.uint8), "vegetation", FOLIAGE)
    triangle_soup.triangles(triangles, look)


def broadleaf(rng: np.random.Generator, *, clumps: int = 3) -> Mesh:
    """Return a broadleaf tree about one unit of 8 m high: a trunk and a crown of clumps of leaves.

    Args:
        rng: random generator of shape and colour.
        clumps: clumps of leaves; above three with detail for street level.
    """
    triangle_soup = TriangleSoup()
    colour = _LEAVES[int(rng.integers(len(_LEAVES)))]
    near = clumps > 3
    bark = appearance_of(_BARK, "vegetation")
    add_cylinder(triangle_soup, (0.0, 0.0, -0.4), 0.22, 5.0, bark, sides=7 if near else 4, taper=0.55)
    core = np.array([1.9, 1.9, 2.2]) if near else np.array([2.4, 2.4, 2.7])
    _clump(triangle_soup, (np.array([0.0, 0.0, 5.2]), core), colour, rng, fine=near)
    turn = rng.uniform(0, 2 * np.pi)
    for number in range(clumps - 1):
        angle = turn + number * 2.4 + rng.uniform(-0.3, 0.3)
        reach, size = (1.75, rng.uniform(1.05, 1.45)) if near else (1.4, 1.75)
        foot = np.array([np.cos(angle) * reach, np.sin(angle) * reach, rng.uniform(3.9, 6.3)])
        shifted = (int(colour[0] + rng.integers(-6, 7)), int(colour[1] + rng.integers(-6, 7)), colour[2])
        _clump(triangle_soup, (foot, np.array([size, size, size * 0.85])), shifted, rng)
    return single(triangle_soup)


def conifer(rng: np.random.Generator) -> Mesh:
    """Return a spruce: four layers of branches with uneven edges."""
    triangle_soup = TriangleSoup()
    colour = _NEEDLES[int(rng.integers(len(_NEEDLES)))]
    add_cylinder(triangle_soup, (0.0, 0.0, -0.4), 0.2, 1.9, appearance_of(_BARK, "vegetation"), sides=4, taper=0.8)
    tiers = ((1.1, 2.3, 3.4), (2.9, 1.9, 3.2), (4.6, 1.4, 2.8), (6.2, 0.9, 2.3))
    for foot, radius, tall in tiers:
        base = ring((0.0, 0.0, foot), radius, 9, rng.uniform(0, 1))
        base += np.c_[base[:, :2] * rng.uniform(-0.16, 0.1, size=(9, 1)), rng.uniform(-0.25, 0.15, size=(9, 1))]
        tip = np.broadcast_to(np.array([0.0, 0.0, foot + tall]), (9, 3))
        triangles = np.stack([base, np.roll(base, -1, axis=0), tip], axis=1)
        shade = np.clip(np.asarray(colour) + rng.integers(-5, 6, size=(9, 1)), 0, 255).astype(np.uint8)
        triangle_soup.triangles(triangles, appearance_of(shade, "vegetation", FOLIAGE))
    return single(triangle_soup)


def plant(
    stock: Stock,
    spots_m: Float64,
    rng: np.random.Generator,
    *,
    conifers: float = 0.15,
    size: float = 1.0,
    clumps: int = 2,
) -> None:
    """Place trees.

    Args:
        stock: receives the trees.
        spots_m: (N, 3) base points.
        rng: random generator of shape, size and yaw.
        conifers: share of conifers.
        size: mean size; 1 is a tree of 8 m.
        clumps: clumps of leaves in a broadleaf's crown, plus one in every second tree.
    """
    leafy = [broadleaf(rng, clumps=clumps + k % 2) for k in range(8)]
    needles = [conifer(rng) for _ in range(4)]
    for x, y, z in spots_m:
        family = needles if rng.random() < conifers else leafy
        mesh = family[int(rng.integers(len(family)))]
        scale = size * rng.uniform(0.7, 1.3) * np.array([1.0, 1.0, rng.uniform(0.85, 1.2)])
        yaw = float(rng.uniform(0, 360))
        points = mesh.vertices_m * scale
        number = stock.add("Tree", "vegetation", (x, y, z, yaw), (points.min(axis=0), points.max(axis=0)))
        stock.triangle_soup.mesh_parts(mesh, to_world(points, x, y, z, yaw), number)
