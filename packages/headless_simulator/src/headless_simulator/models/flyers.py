"""Intruders of air-to-air encounters: aircraft and birds, in metres around their centre, x forward, y right, z up.

CARLA has no such blueprints: a real server refuses them.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from headless_simulator.models.catalogue import DYNAMIC, NAVY, ORANGE, RED, WHITE, YELLOW, PropSpec
from headless_simulator.models.mesh_builder import DARK, MeshBuilder, Point, Skin
from headless_simulator.models.props import draw_drone
from headless_simulator.scene import GLASS, Mesh

_STEEL: Final = (90, 94, 100)
_FLOCK: Final = 12

FLYERS: Final[dict[str, PropSpec]] = {
    spec.blueprint: spec
    for spec in (
        PropSpec("static.prop.aeroplane", (4.15, 5.5, 1.35), "aeroplane", WHITE, RED, DYNAMIC),
        PropSpec("static.prop.helicopter", (5.5, 5.0, 1.65), "helicopter", NAVY, YELLOW, DYNAMIC),
        PropSpec("static.prop.drone", (0.6, 0.6, 0.25), "drone", (46, 48, 52), ORANGE, DYNAMIC),
        PropSpec("static.prop.bird", (0.3, 0.65, 0.125), "bird", (70, 58, 48), (46, 40, 36), DYNAMIC),
        PropSpec("static.prop.flock", (4.5, 4.5, 2.0), "flock", (86, 90, 98), (60, 64, 72), DYNAMIC),
    )
}
"""Intruders of air-to-air encounters, not in CARLA; their origin is their centre."""


def _along(
    builder: MeshBuilder, sections: tuple[tuple[float, float, float, float], ...], skins: tuple[Skin, ...]
) -> None:
    """Add a fuselage of rings (x, half width, half height, centre's height), with one skin per section."""
    turns = np.arange(8) * np.pi / 4 + np.pi / 8
    rings: list[list[Point]] = [
        [(x, wide * float(np.cos(t)), middle + high * float(np.sin(t))) for t in turns]
        for x, wide, high, middle in sections
    ]
    for i, skin in enumerate(skins):
        builder.rings(rings[i : i + 2], skin)


def _aeroplane(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a single-engined four-seater with a high wing."""
    main, accent, glass = Skin(spec.colour), Skin(spec.accent), Skin((40, 52, 62), GLASS)
    sections = (
        (4.0, 0.20, 0.22, 0.0), (3.5, 0.50, 0.48, 0.0), (2.0, 0.58, 0.58, 0.0), (1.2, 0.60, 0.78, 0.15),
        (-0.4, 0.58, 0.72, 0.12), (-1.6, 0.42, 0.45, 0.05), (-4.0, 0.10, 0.16, 0.15),
    )  # fmt: skip
    _along(builder, sections, (accent, main, glass, main, main, main))
    builder.box((0.0, -5.5, 0.86), (1.5, 5.5, 1.02), main)
    for side in (-1.0, 1.0):
        builder.box((0.0, side * 5.5 - 0.9 * (side > 0), 0.85), (1.5, side * 5.5 + 0.9 * (side < 0), 1.03), accent)
        builder.tube((0.7, side * 0.5, -0.4), (0.8, side * 2.4, 0.86), 0.05, main, sides=4)
        builder.tube((0.3, side * 0.4, -0.4), (0.2, side * 1.25, -1.1), 0.07, Skin(_STEEL), sides=4)
        builder.wheel((0.2, side * 1.25, -1.12), 0.22, 0.08)
    builder.wheel((3.1, 0.0, -1.12), 0.2, 0.07)
    builder.tube((3.1, 0.0, -0.4), (3.1, 0.0, -1.0), 0.06, Skin(_STEEL), sides=4)
    builder.box((-4.15, -1.75, 0.16), (-3.2, 1.75, 0.26), main)
    builder.box((-4.2, -0.06, 0.2), (-3.0, 0.06, 1.55), accent, top=0.75)
    builder.box((4.02, -0.95, -0.09), (4.10, 0.95, 0.09), Skin(DARK))


def _helicopter(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a light helicopter on skids; the rotor does not turn."""
    main, accent, glass = Skin(spec.colour), Skin(spec.accent), Skin((40, 52, 62), GLASS)
    sections = (
        (4.2, 0.15, 0.20, -0.35), (3.5, 0.65, 0.62, -0.25), (2.3, 0.85, 0.95, 0.0), (0.4, 0.85, 1.0, 0.05),
        (-0.9, 0.45, 0.55, 0.30), (-6.3, 0.12, 0.14, 0.45),
    )  # fmt: skip
    _along(builder, sections, (glass, glass, main, main, accent))
    builder.box((-6.6, -0.05, 0.0), (-5.7, 0.05, 1.45), accent, top=0.7)
    builder.box((-5.6, -0.9, 0.40), (-5.1, 0.9, 0.46), main)
    builder.tube((1.2, 0.0, 1.0), (1.2, 0.0, 1.75), 0.12, Skin(DARK), sides=6)
    for x, y in ((1.0, 0.0), (0.0, 1.0)):
        low = (1.2 - 5.0 * x - 0.12 * y, -5.0 * y - 0.12 * x, 1.68)
        builder.box(low, (1.2 + 5.0 * x + 0.12 * y, 5.0 * y + 0.12 * x, 1.75), Skin(DARK))
    builder.box((-6.45, 0.06, 0.0), (-6.30, 0.12, 1.5), Skin(DARK))
    for side in (-1.0, 1.0):
        builder.tube((-0.9, side * 1.0, -1.5), (3.0, side * 1.0, -1.5), 0.06, Skin(_STEEL), sides=4)
        for x in (0.0, 2.2):
            builder.tube((x, side * 0.5, -0.7), (x, side * 1.0, -1.5), 0.05, Skin(_STEEL), sides=4)


def _bird(builder: MeshBuilder, spec: PropSpec, *, at: Point = (0.0, 0.0, 0.0), lift: float = 0.12) -> None:
    """Draw a gliding bird."""
    x, y, z = at
    main, accent = Skin(spec.colour), Skin(spec.accent)
    builder.ball((x + 0.02, y, z), (0.22, 0.075, 0.07), main)
    builder.ball((x + 0.25, y, z + 0.03), (0.07, 0.045, 0.045), accent)
    builder.box((x - 0.32, y - 0.07, z - 0.01), (x - 0.15, y + 0.07, z + 0.01), main)
    for side in (-1.0, 1.0):
        sections = ((0.05, 0.13, -0.10, 0.02), (0.34, 0.14, -0.05, 0.6), (0.66, 0.02, -0.05, 1.0))
        rings: list[list[Point]] = []
        for out, front, back, rise in sections:
            up = z + 0.02 + lift * rise
            rings.append(
                [
                    (x + front, y + side * out, up),
                    (x + back, y + side * out, up),
                    (x + back, y + side * out, up + 0.012),
                    (x + front, y + side * out, up + 0.012),
                ]
            )
        builder.rings(rings, accent)


def _flock(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a dozen birds in a loose line."""
    rng = np.random.default_rng(12)
    for bird in range(_FLOCK):
        offset = rng.uniform(-1.0, 1.0, 3) * (4.0, 4.0, 1.7)
        at = (float(offset[0]), float(offset[1]), float(offset[2]))
        _bird(builder, spec, at=at, lift=-0.1 + 0.05 * (bird % 6))


_SHAPES: Final[dict[str, Callable[[MeshBuilder, PropSpec], None]]] = {
    "aeroplane": _aeroplane, "helicopter": _helicopter, "drone": draw_drone, "bird": _bird, "flock": _flock,
}  # fmt: skip


def flyer(spec: PropSpec) -> Mesh:
    """Draw an intruder around its origin."""
    builder = MeshBuilder(tag=spec.tag)
    _SHAPES[spec.shape](builder, spec)
    return builder.mesh_in_box(spec.half_extent_m, (0.0, 0.0, 0.0))
