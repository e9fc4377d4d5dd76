"""Open doors of a vehicle: panels outside its box, and the dark openings."""

from typing import Final

import numpy as np

from headless_simulator.models.catalogue import VehicleSpec
from headless_simulator.models.mesh_builder import BODY, MeshBuilder, Point, Skin, joined
from headless_simulator.scene import GLASS, PAINT, Mesh

ALL_SIDE_DOORS: Final = 0b1111
"""Bit k is CARLA's door k: front left, front right, rear left, rear right."""
_HINGE: Final = {"front": 0.34, "rear": -0.10}  # of the half length
_LENGTH: Final = 0.40
_OPEN_RAD: Final = np.radians(62.0)
_SILL, _BELT, _TOP = 0.20, 0.58, 0.94  # of the height
_THICK_M: Final = 0.09


def with_doors_open(mesh: Mesh, spec: VehicleSpec, doors: int) -> Mesh:
    """Return the vehicle with some doors open; its bounding box is that with closed doors, as in CARLA."""
    builder = MeshBuilder(tag=spec.tag)
    for door in range(4):
        if doors >> door & 1:
            _door(builder, spec, hinge=_HINGE["front" if door < 2 else "rear"], side=-1 if door % 2 == 0 else 1)
    return joined(mesh, builder)


def _door(builder: MeshBuilder, spec: VehicleSpec, *, hinge: float, side: int) -> None:
    """Add one door; y grows to the right."""
    hx, hy, hz = spec.half_extent_m
    ox, oy, _ = spec.box_offset_m
    x, y, length = ox + hinge * hx, oy + side * 0.97 * hy, _LENGTH * hx
    end_x, end_y = x - length * float(np.cos(_OPEN_RAD)), y + side * length * float(np.sin(_OPEN_RAD))
    for low, high, skin in ((_SILL, _BELT, Skin(BODY, PAINT)), (_BELT, _TOP, Skin((34, 42, 50), GLASS))):
        _panel(builder, (x, y), (end_x, end_y), (low * 2 * hz, high * 2 * hz), skin)
    proud = oy + side * 0.999 * hy
    opening: list[Point] = [
        (x, proud, _SILL * 2 * hz),
        (x - length, proud, _SILL * 2 * hz),
        (x - length, proud, _BELT * 2 * hz),
        (x, proud, _BELT * 2 * hz),
    ]
    builder.polygon(opening, Skin((12, 12, 14)), inside=(x - length / 2, oy, hz))


def _panel(
    builder: MeshBuilder, hinge: tuple[float, float], end: tuple[float, float], heights: tuple[float, float], skin: Skin
) -> None:
    along = np.array(end) - hinge
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along) * _THICK_M / 2
    corners = [np.array(hinge) - across, np.array(end) - across, np.array(end) + across, np.array(hinge) + across]
    rings = [[(float(c[0]), float(c[1]), z) for c in corners] for z in heights]
    builder.rings(rings, skin)
