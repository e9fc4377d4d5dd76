"""Collection of triangles into one mesh, ordered for culling."""

from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from headless_simulator.scene import MATTE, TAG, Float32, Float64, Int32, Mesh, UInt8, UInt32

TILE_M: Final = 32.0  # triangles are sorted by ground tiles of this size
RGB: TypeAlias = tuple[int, int, int]
Colours: TypeAlias = RGB | npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Appearance:
    """Colour, tag, material and static object id of a group of faces."""

    colour: Colours
    tag: int
    material: int = MATTE
    object_id: int = 0
    label: int = 0


def appearance_of(colour: Colours, tag: str, material: int = MATTE) -> Appearance:
    """Return an appearance with a tag by name."""
    return Appearance(colour, TAG[tag], material)


@dataclass(slots=True)
class TriangleSoup:
    """Triangles without shared vertices; ``label`` identifies them in the finished mesh."""

    corners: list[Float32] = field(default_factory=list)
    colours: list[UInt8] = field(default_factory=list)
    tags: list[UInt8] = field(default_factory=list)
    materials: list[UInt8] = field(default_factory=list)
    ids: list[UInt32] = field(default_factory=list)
    labels: list[Int32] = field(default_factory=list)

    def triangles(self, corners: Float64, appearance: Appearance) -> None:
        """Add (N, 3, 3) triangles, metres, with one colour or (N, 3) colours."""
        count = len(corners)
        if not count:
            return
        self.corners.append(np.asarray(corners, dtype=np.float32))
        self.colours.append(np.broadcast_to(np.asarray(appearance.colour, dtype=np.uint8), (count, 3)))
        self.tags.append(np.full(count, appearance.tag, dtype=np.uint8))
        self.materials.append(np.full(count, appearance.material, dtype=np.uint8))
        self.ids.append(np.full(count, appearance.object_id, dtype=np.uint32))
        self.labels.append(np.full(count, appearance.label, dtype=np.int32))

    def quads(self, corners: Float64, appearance: Appearance) -> None:
        """Add (N, 4, 3) quads with corners in order."""
        corners = np.asarray(corners, dtype=np.float64).reshape(-1, 4, 3)
        colour = np.asarray(appearance.colour)
        if colour.ndim == 2:
            appearance = replace(appearance, colour=np.repeat(colour, 2, axis=0))
        self.triangles(corners[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3), appearance)

    def ribbon(self, left: Float64, right: Float64, appearance: Appearance) -> None:
        """Add the quads between two (N, 3) borders."""
        self.quads(np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1), appearance)

    def mesh_parts(self, mesh: Mesh, vertices_m: Float64, object_id: int) -> None:
        """Add a mesh with its vertices replaced by (V, 3) ``vertices_m``."""
        self.corners.append(vertices_m[mesh.triangles].astype(np.float32))
        self.colours.append(mesh.colour_rgb)
        self.tags.append(mesh.tag)
        self.materials.append(mesh.material)
        self.ids.append(np.full(len(mesh.triangles), object_id, dtype=np.uint32))
        self.labels.append(np.zeros(len(mesh.triangles), dtype=np.int32))

    def finish(self) -> tuple[Mesh, Int32]:
        """Return the mesh, sorted by tile with shared vertices, and the (T,) label of each triangle."""
        corners = np.concatenate(self.corners)
        a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        solid = np.linalg.norm(np.cross(a, b), axis=1) > 1e-6
        middle = corners.mean(axis=1)
        tile = np.floor(middle[:, :2] / TILE_M).astype(np.int64)
        order = np.lexsort((tile[:, 0], tile[:, 1]))
        order = order[solid[order]]
        corners = corners[order]
        points = np.round(corners.reshape(-1, 3), 4)
        vertices, numbers = _share(points)
        mesh = Mesh(
            vertices_m=vertices,
            triangles=numbers.reshape(-1, 3),
            colour_rgb=np.ascontiguousarray(np.concatenate(self.colours)[order]),
            tag=np.concatenate(self.tags)[order],
            material=np.concatenate(self.materials)[order],
            object_id=np.concatenate(self.ids)[order],
        )
        return mesh, np.concatenate(self.labels)[order]


def _share(points: Float32) -> tuple[Float32, Int32]:
    """Return (V, 3) vertices in order of first use, and the (N,) vertex number of each point."""
    keys = np.ascontiguousarray(points + np.float32(0.0)).view([("x", "f4"), ("y", "f4"), ("z", "f4")]).reshape(-1)
    order = np.lexsort((keys["z"], keys["y"], keys["x"]))
    ordered = points[order]
    new = np.concatenate([[True], np.any(ordered[1:] != ordered[:-1], axis=1)])
    group = np.cumsum(new) - 1
    first = np.minimum.reduceat(order, np.flatnonzero(new))
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    numbers = np.empty(len(points), dtype=np.int32)
    numbers[order] = rank[group]
    vertices = np.empty((len(first), 3), dtype=np.float32)
    vertices[rank] = points[first]
    return vertices, numbers


def jitter(colour: RGB, count: int, spread: int, rng: np.random.Generator) -> UInt8:
    """Return (count, 3) uint8 random shades of a colour."""
    shift = rng.integers(-spread, spread + 1, size=(count, 1))
    return np.clip(np.asarray(colour) + shift, 0, 255).astype(np.uint8)
