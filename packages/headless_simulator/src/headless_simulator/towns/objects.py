"""Static objects of a town under construction: ids, boxes and faces."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from headless_simulator.scene import TAG, Float64, Mesh, StaticObject
from headless_simulator.towns.triangle_soup import TriangleSoup


@dataclass(slots=True)
class Stock:
    """The static objects and the triangle soup of their faces."""

    triangle_soup: TriangleSoup
    items: list[StaticObject] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def next_id(self) -> int:
        """Return the next object id."""
        return len(self.items) + 1

    def add(
        self,
        kind: str,
        tag: str,
        pose: tuple[float, float, float, float],
        box_m: tuple[Float64, Float64],
        blueprint: str = "",
    ) -> int:
        """Register one object.

        Args:
            kind: first part of its name.
            tag: name of the semantic tag.
            pose: x, y, z of its base, metres, and yaw, degrees.
            box_m: (3,) low and high corner in its frame, metres.
            blueprint: blueprint id of a parked vehicle.

        Returns:
            Its id.
        """
        x, y, z, yaw = pose
        number = self.next_id()
        low, high = box_m
        centre, half = (np.asarray(low) + high) / 2, (np.asarray(high) - low) / 2
        cos, sin = np.cos(np.radians(yaw)), np.sin(np.radians(yaw))
        world = (x + cos * centre[0] - sin * centre[1], y + sin * centre[0] + cos * centre[1], z + centre[2])
        self.counts[kind] += 1
        self.items.append(
            StaticObject(
                object_id=number,
                name=f"{kind}_{self.counts[kind]:04d}",
                tag=TAG[tag],
                pose=(float(x), float(y), float(z), 0.0, float(yaw), 0.0),
                box_centre_m=(float(world[0]), float(world[1]), float(world[2])),
                box_half_m=(float(half[0]), float(half[1]), float(half[2])),
                blueprint=blueprint,
            )
        )
        return number

    def add_mesh(self, kind: str, tag: str, mesh: Mesh, pose: tuple[float, float, float, float]) -> int:
        """Add one mesh with its origin at the base to the town, and return its id."""
        x, y, z, yaw = pose
        points = mesh.vertices_m.astype(np.float64)
        number = self.add(kind, tag, pose, (points.min(axis=0), points.max(axis=0)))
        self.triangle_soup.mesh_parts(mesh, to_world(points, x, y, z, yaw), number)
        return number


def to_world(points_m: Float64, x: float, y: float, z: float, yaw_deg: float) -> Float64:
    """Return (N, 3) world points of an upright body with a yaw in degrees and its base at (x, y, z)."""
    cos, sin = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))
    turned = np.empty(points_m.shape)
    turned[..., 0] = x + cos * points_m[..., 0] - sin * points_m[..., 1]
    turned[..., 1] = y + sin * points_m[..., 0] + cos * points_m[..., 1]
    turned[..., 2] = z + points_m[..., 2]
    return turned


def single(triangle_soup: TriangleSoup) -> Mesh:
    """Return a small triangle soup as a mesh in drawing order."""
    corners = np.concatenate(triangle_soup.corners).reshape(-1, 3)
    return Mesh(
        vertices_m=corners,
        triangles=np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
        colour_rgb=np.concatenate(triangle_soup.colours),
        tag=np.concatenate(triangle_soup.tags),
        material=np.concatenate(triangle_soup.materials),
        object_id=np.concatenate(triangle_soup.ids),
    )
