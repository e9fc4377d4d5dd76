"""Meshes of props and of the drone."""

from collections.abc import Callable
from typing import Final

import numpy as np

from headless_simulator.models.catalogue import PropSpec
from headless_simulator.models.debris import DEBRIS_SHAPES
from headless_simulator.models.mesh_builder import DARK, MeshBuilder, Skin
from headless_simulator.scene import FOLIAGE, GLASS, Mesh


def _round(
    builder: MeshBuilder, levels: tuple[tuple[float, float], ...], skins: tuple[Skin, ...], sides: int = 8
) -> None:
    """Stack rings of (radius, height) into solids with one skin each."""
    turns = np.arange(sides) * 2 * np.pi / sides
    rings = [[(r * float(np.cos(t)), r * float(np.sin(t)), z) for t in turns] for r, z in levels]
    for i, skin in enumerate(skins):
        builder.rings(rings[i : i + 2], skin)


def _cone(builder: MeshBuilder, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    builder.box((-1, -1, 0), (1, 1, 0.08), Skin(DARK))
    _round(builder, ((0.72, 0.08), (0.50, 0.40), (0.34, 0.64), (0.12, 1.0)), (main, accent, main))


def _barrel(builder: MeshBuilder, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    _round(
        builder,
        ((0.90, 0.0), (1.0, 0.45), (1.0, 0.55), (0.90, 0.95), (0.80, 1.0)),
        (main, accent, main, accent),
        sides=10,
    )


def _box(builder: MeshBuilder, spec: PropSpec) -> None:
    builder.box((-1, -1, 0), (1, 1, 0.90), Skin(spec.colour))
    builder.box((-0.94, -0.94, 0.90), (0.94, 0.94, 1.0), Skin(spec.accent))


def _barrier(builder: MeshBuilder, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    for y in (-0.86, 0.86):
        builder.box((-1, y - 0.14, 0), (1, y + 0.14, 0.06), Skin(DARK))
        builder.box((-0.18, y - 0.05, 0.06), (0.18, y + 0.05, 1.0), accent)
    for i in range(5):
        builder.box((-0.24, -1 + 0.4 * i, 0.66), (0.24, -0.6 + 0.4 * i, 0.96), (main, accent)[i % 2])
    builder.box((-0.2, -0.9, 0.30), (0.2, 0.9, 0.42), main)


def _sign(builder: MeshBuilder, spec: PropSpec) -> None:
    builder.box((-1, -0.6, 0), (1, 0.6, 0.04), Skin(DARK))
    builder.box((-0.2, -0.10, 0.04), (0.2, 0.10, 0.6), Skin((110, 112, 116)))
    builder.box((-0.3, -1.0, 0.52), (0.3, 1.0, 1.0), Skin(spec.accent))
    for side in (-1, 1):
        face = [(side * 0.36, y, z) for y, z in ((-0.9, 0.55), (0.9, 0.55), (0.9, 0.97), (-0.9, 0.97))]
        builder.polygon(face, Skin(spec.colour), inside=(0, 0, 0.8))


def _bench(builder: MeshBuilder, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    for y in (-0.84, 0.84):
        builder.box((-0.9, y - 0.05, 0), (0.9, y + 0.05, 0.48), accent)
    for i in range(3):
        builder.box((-0.9 + 0.6 * i, -1, 0.48), (-0.42 + 0.6 * i, 1, 0.56), main)
    builder.box((-1.0, -1, 0.62), (-0.86, 1, 0.78), main)
    builder.box((-1.0, -1, 0.84), (-0.86, 1, 1.0), main)


def _table(builder: MeshBuilder, spec: PropSpec) -> None:
    for x in (-0.8, 0.8):
        for y in (-0.8, 0.8):
            builder.box((x - 0.07, y - 0.07, 0), (x + 0.07, y + 0.07, 0.9), Skin(spec.accent))
    builder.box((-1, -1, 0.9), (1, 1, 1), Skin(spec.colour))


def _chair(builder: MeshBuilder, spec: PropSpec) -> None:
    for x in (-0.8, 0.8):
        for y in (-0.8, 0.8):
            builder.box((x - 0.09, y - 0.09, 0), (x + 0.09, y + 0.09, 0.46), Skin(spec.accent))
    builder.box((-0.95, -0.95, 0.46), (1, 0.95, 0.52), Skin(spec.colour))
    builder.box((-1, -1, 0.50), (-0.82, 1, 1), Skin(spec.colour))


def _cart(builder: MeshBuilder, spec: PropSpec) -> None:
    for x in (-0.6, 0.6):
        for y in (-0.8, 0.8):
            builder.box((x - 0.12, y - 0.08, 0), (x + 0.12, y + 0.08, 0.2), Skin(DARK))
    builder.box((-0.8, -1, 0.2), (1, 1, 0.8), Skin(spec.colour), top=1.0, roof=Skin(spec.accent))
    builder.box((-1, -0.9, 0.84), (-0.86, 0.9, 1), Skin(spec.accent))


def _shelter(builder: MeshBuilder, spec: PropSpec) -> None:
    for x, y in ((-0.9, -0.95), (-0.9, 0.95), (0.9, -0.95), (0.9, 0.95)):
        builder.box((x - 0.05, y - 0.03, 0), (x + 0.05, y + 0.03, 0.94), Skin(spec.colour))
    builder.box((-0.95, -0.9, 0.1), (-0.9, 0.9, 0.9), Skin(spec.accent, GLASS))
    builder.box((-1, -1, 0.94), (1, 1, 1), Skin(spec.colour))


def _plant(builder: MeshBuilder, spec: PropSpec) -> None:
    pot, leaf = Skin(spec.colour), Skin(spec.accent, FOLIAGE)
    _round(builder, ((0.62, 0.0), (0.82, 0.42)), (pot,))
    _round(builder, ((0.6, 0.42), (1.0, 0.62), (0.8, 0.86), (0.3, 1.0)), (leaf, leaf, leaf), sides=7)


def draw_drone(builder: MeshBuilder, spec: PropSpec) -> None:
    """Add a quadrotor."""
    main, accent = Skin(spec.colour), Skin(spec.accent)
    builder.box((-0.34, -0.22, 0.2), (0.34, 0.22, 0.8), main, top=0.7)
    for x in (-0.7, 0.7):
        for y in (-0.7, 0.7):
            builder.tube((x * 0.3, y * 0.2, 0.6), (x, y, 0.7), 0.06, main, sides=4)
            turns = np.arange(8) * np.pi / 4 + np.pi / 8
            rings = [[(x + 0.3 * float(np.cos(t)), y + 0.3 * float(np.sin(t)), z) for t in turns] for z in (0.9, 1.0)]
            builder.rings(rings, accent if x > 0 else Skin((70, 72, 76)))
            builder.box((x - 0.05, y - 0.05, 0.0), (x + 0.05, y + 0.05, 0.9), main)


_PROP_SHAPES: Final[dict[str, Callable[[MeshBuilder, PropSpec], None]]] = {
    "cone": _cone, "barrel": _barrel, "box": _box, "barrier": _barrier, "sign": _sign, "bench": _bench, "table": _table,
    "chair": _chair, "cart": _cart, "shelter": _shelter, "plant": _plant, "drone": draw_drone, **DEBRIS_SHAPES,
}  # fmt: skip


def prop(spec: PropSpec) -> Mesh:
    """Draw a prop of any shape, standing on its origin (a drone: around it)."""
    builder = MeshBuilder(tag=spec.tag)
    _PROP_SHAPES[spec.shape](builder, spec)
    half = spec.half_extent_m
    return builder.mesh_in_box(half, (0.0, 0.0, 0.0 if spec.shape == "drone" else half[2]))
