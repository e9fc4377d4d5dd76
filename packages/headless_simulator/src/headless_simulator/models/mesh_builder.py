"""Builder of low-poly bodies: closed solids with outward faces, so that back faces can be culled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from headless_simulator.scene import MATTE, Float64, Mesh

RGB = tuple[int, int, int]
Point = tuple[float, float, float]
BODY: Final[RGB] = (255, 255, 255)  # with material PAINT: the mover's own colour, unchanged
DARK: Final[RGB] = (30, 31, 34)  # tyres, soles, feet of props


@dataclass(slots=True)
class Skin:
    """Colour, material and semantic tag of faces."""

    colour: RGB
    material: int = MATTE
    tag: int = 0


def _cross(a: Point, b: Point, c: Point) -> Point:
    """(b - a) x (c - a); plain Python, as numpy is slow on single vectors."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _mean(points: Sequence[Point]) -> Point:
    count = len(points)
    return sum(p[0] for p in points) / count, sum(p[1] for p in points) / count, sum(p[2] for p in points) / count


@dataclass(slots=True)
class MeshBuilder:
    """Collects faces. Points are metres in the actor's frame: x forward, y right, z up.

    In this left-handed frame the outward normal is opposite to the right-hand rule's; ``polygon`` orients faces by a
    point inside, so that builders can ignore winding.
    """

    tag: int
    points: list[Point] = field(default_factory=list)
    faces: list[tuple[int, int, int]] = field(default_factory=list)
    skins: list[Skin] = field(default_factory=list)

    def polygon(self, corners: Sequence[Point], skin: Skin, *, inside: Point) -> None:
        """Add a convex face that faces away from the point ``inside``."""
        normal = _cross(corners[0], corners[1], corners[2])
        if len(corners) > 3:  # a corner of a quad may be doubled: take the larger half
            other = _cross(corners[0], corners[2], corners[3])
            normal = normal if _dot(normal, normal) > _dot(other, other) else other
        middle = _mean(corners)
        if _dot(normal, (middle[0] - inside[0], middle[1] - inside[1], middle[2] - inside[2])) < 0:
            corners = corners[::-1]
        first = len(self.points)
        self.points.extend(corners)
        for step in range(1, len(corners) - 1):
            area = _cross(corners[0], corners[step], corners[step + 1])
            if _dot(area, area) > 1e-18:
                self.faces.append((first, first + step, first + step + 1))
                self.skins.append(skin)

    def box(self, low: Point, high: Point, skin: Skin, *, top: float = 1.0, roof: Skin | None = None) -> None:
        """Add a box; ``top`` scales its upper face in x and y, ``roof`` is the skin of the upper face."""
        (x0, y0, z0), (x1, y1, z1) = low, high
        mid_x, mid_y = (x0 + x1) / 2, (y0 + y1) / 2
        u0, u1, v0, v1 = (m + (e - m) * top for m, e in ((mid_x, x0), (mid_x, x1), (mid_y, y0), (mid_y, y1)))
        below = [(x0, y0, z0), (x1, y0, z0), (x1, y1, z0), (x0, y1, z0)]
        above = [(u0, v0, z1), (u1, v0, z1), (u1, v1, z1), (u0, v1, z1)]
        self.rings([below, above], skin, last=roof)

    def rings(
        self,
        rings: Sequence[Sequence[Point]],
        skin: Skin | Sequence[Skin],
        *,
        last: Skin | None = None,
    ) -> None:
        """Join rings with equal numbers of points into a closed solid; a list of skins has one per side of the ring."""
        count = len(rings[0])
        side = [skin] * count if isinstance(skin, Skin) else list(skin)
        for near, far in pairwise(rings):
            inside = _mean([*near, *far])
            for i in range(count):
                j = (i + 1) % count
                self.polygon([near[i], near[j], far[j], far[i]], side[i], inside=inside)
        inside = _mean([point for ring in rings for point in ring])
        self.polygon(rings[0], side[0], inside=inside)
        self.polygon(rings[-1], last or side[0], inside=inside)

    def wheel(self, centre: Point, radius_m: float, half_width_m: float, *, sides: int = 8) -> None:
        """Add a wheel that rolls along x, with a bright rim."""
        tyre, rim = Skin((24, 24, 26), tag=self.tag), Skin((132, 136, 140), tag=self.tag)
        angles = np.arange(sides) * 2 * np.pi / sides + np.pi / sides
        reach = radius_m / np.cos(np.pi / sides)
        ring = [(centre[0] + reach * np.cos(a), centre[2] + reach * np.sin(a)) for a in angles]
        rings = [[(x, centre[1] + side * half_width_m, z) for x, z in ring] for side in (-1, 1)]
        self.rings(rings, tyre)
        for side in (-1, 1):
            hub = [
                (
                    centre[0] + (x - centre[0]) * 0.6,
                    centre[1] + side * (half_width_m + 0.006),
                    centre[2] + (z - centre[2]) * 0.6,
                )
                for x, z in ring[:: max(1, sides // 8)]
            ]
            self.polygon(hub, rim, inside=centre)

    def tube(
        self, start: Point, end: Point, radius_m: float, skin: Skin, *, sides: int = 5, taper: float = 1.0
    ) -> None:
        """Add a limb or bar from ``start`` to ``end``; ``taper`` scales its far end."""
        axis = np.asarray(end) - np.asarray(start)
        axis = axis / np.linalg.norm(axis)
        helper = np.array([0.0, 1.0, 0.0]) if abs(axis[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        u = np.cross(axis, helper) / np.linalg.norm(np.cross(axis, helper))
        v = np.cross(axis, u)
        turns = np.arange(sides) * 2 * np.pi / sides
        rings = []
        for middle, scale in ((start, 1.0), (end, taper)):
            circle = np.asarray(middle) + radius_m * scale * (np.cos(turns)[:, None] * u + np.sin(turns)[:, None] * v)
            rings.append([(float(p[0]), float(p[1]), float(p[2])) for p in circle])
        self.rings(rings, skin)

    def ball(self, centre: Point, radii: Point, skin: Skin, *, sides: int = 6, cap: Skin | None = None) -> None:
        """Add an ellipsoid; ``cap`` is the skin of its upper part (hair, helmet)."""
        levels = (-0.95, -0.45, 0.25, 0.95)
        rings = []
        for level in levels:
            width = np.sqrt(1 - level * level)
            rings.append(
                [
                    (
                        centre[0] + radii[0] * width * float(np.cos(turn)),
                        centre[1] + radii[1] * width * float(np.sin(turn)),
                        centre[2] + radii[2] * level,
                    )
                    for turn in np.arange(sides) * 2 * np.pi / sides
                ]
            )
        self.rings(rings[:3], skin)
        self.rings(rings[2:], cap or skin)

    def mesh(self, low: Point, high: Point) -> Mesh:
        """Stretch the drawing until its bounds are exactly ``low`` and ``high``."""
        points: Float64 = np.asarray(self.points, dtype=np.float64)
        old_low, old_high = points.min(axis=0), points.max(axis=0)
        share = (points - old_low) / (old_high - old_low)
        new_low, new_high = np.asarray(low, dtype=np.float32), np.asarray(high, dtype=np.float32)
        stretched = (new_low + share * (new_high.astype(np.float64) - new_low)).astype(np.float32)
        vertices, inverse = np.unique(np.clip(stretched, new_low, new_high), axis=0, return_inverse=True)
        count = len(self.faces)
        return Mesh(
            vertices_m=np.ascontiguousarray(vertices, dtype=np.float32),
            triangles=np.ascontiguousarray(inverse.reshape(-1)[np.asarray(self.faces)], dtype=np.int32),
            colour_rgb=np.array([skin.colour for skin in self.skins], dtype=np.uint8),
            tag=np.array([skin.tag or self.tag for skin in self.skins], dtype=np.uint8),
            material=np.array([skin.material for skin in self.skins], dtype=np.uint8),
            object_id=np.zeros(count, dtype=np.uint32),
        )

    def mesh_in_box(self, half_m: Point, centre_m: Point) -> Mesh:
        """Stretch the drawing until it fills a box."""
        low = (centre_m[0] - half_m[0], centre_m[1] - half_m[1], centre_m[2] - half_m[2])
        high = (centre_m[0] + half_m[0], centre_m[1] + half_m[1], centre_m[2] + half_m[2])
        return self.mesh(low, high)


def joined(mesh: Mesh, more: MeshBuilder) -> Mesh:
    """Return a mesh with the faces of a builder added, without stretching."""
    if not more.faces:
        return mesh
    points = np.asarray(more.points, dtype=np.float64)
    low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    added = more.mesh((low[0], low[1], low[2]), (high[0], high[1], high[2]))
    return Mesh(
        vertices_m=np.concatenate([mesh.vertices_m, added.vertices_m]),
        triangles=np.concatenate([mesh.triangles, added.triangles + np.int32(len(mesh.vertices_m))]),
        colour_rgb=np.concatenate([mesh.colour_rgb, added.colour_rgb]),
        tag=np.concatenate([mesh.tag, added.tag]),
        material=np.concatenate([mesh.material, added.material]),
        object_id=np.concatenate([mesh.object_id, added.object_id]),
    )
