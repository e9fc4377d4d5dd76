"""Two-wheelers with their riders, people on foot, props and the drone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from headless_simulator.models.catalogue import PropSpec, VehicleSpec, WalkerSpec
from headless_simulator.models.sketch import BODY, RGB, Point, Sketch, Skin
from headless_simulator.scene import FOLIAGE, GLASS, HEAD_LIGHT, PAINT, TAIL_LIGHT, Mesh

RIDER_TAG: Final = 13
PEDESTRIAN_TAG: Final = 12
_DARK: Final[RGB] = (30, 31, 34)
_JACKETS: Final[tuple[RGB, ...]] = ((36, 38, 44), (150, 34, 30), (34, 66, 120), (196, 180, 60), (70, 78, 70))


def _rider(sketch: Sketch, spec: VehicleSpec, *, seat: Point, hands: Point, feet: Point, lean_m: float) -> None:
    """Sit a person on a two-wheeler: points are metres, ``hands`` and ``feet`` those of the right side."""
    choice = sum(map(ord, spec.blueprint))
    jacket = Skin(_JACKETS[choice % len(_JACKETS)], tag=RIDER_TAG)
    trousers = Skin((44, 48, 62), tag=RIDER_TAG)
    skin = Skin((198, 150, 120), tag=RIDER_TAG)
    helmet = Skin((224, 224, 220) if choice % 2 else (150, 30, 30), tag=RIDER_TAG)
    neck = (seat[0] + lean_m, 0.0, seat[2] + 0.50)
    sketch.tube((seat[0], 0.0, seat[2] - 0.04), neck, 0.17, jacket, sides=6, taper=0.95)
    sketch.ball((neck[0] + 0.05, 0.0, neck[2] + 0.17), (0.13, 0.11, 0.15), skin, cap=helmet)
    for side in (-1, 1):
        shoulder = (neck[0], side * 0.17, neck[2] - 0.06)
        sketch.tube(shoulder, (hands[0], side * hands[1], hands[2]), 0.055, jacket, sides=4)
        knee = ((seat[0] + feet[0]) / 2 + 0.20, side * 0.16, (seat[2] + feet[2]) / 2 + 0.14)
        sketch.tube((seat[0], side * 0.10, seat[2]), knee, 0.085, trousers, sides=4)
        sketch.tube(knee, (feet[0], side * feet[1], feet[2]), 0.065, trousers, sides=4)


def motorbike(spec: VehicleSpec) -> Mesh:
    """Draw a motorbike or scooter with its rider."""
    sketch = Sketch(tag=spec.tag)
    hx, hy, _ = spec.half_extent_m
    paint, dark, metal = Skin(BODY, PAINT), Skin(_DARK), Skin((128, 130, 134))
    scooter, cruiser = spec.shape == "scooter", spec.shape == "cruiser"
    radius_m = 0.23 if scooter else 0.32
    for x in (-hx + radius_m, hx - radius_m):
        sketch.wheel((x, 0.0, radius_m), radius_m, 0.055, sides=10)
    sketch.box((-0.30, -0.13, 0.22), (0.28, 0.13, 0.58), metal if not scooter else paint)
    sketch.box((-0.02, -0.15, 0.56), (0.42, 0.15, 0.82 if not cruiser else 0.74), paint, top=0.72)
    sketch.box((-hx + 0.16, -0.13, 0.60), (0.02, 0.13, 0.74), dark)
    front = hx - radius_m
    sketch.tube((front, 0.0, radius_m), (front - 0.30, 0.0, 0.98), 0.05, metal)
    sketch.tube((front - 0.28, -hy, 0.98), (front - 0.28, hy, 0.98), 0.025, dark, sides=4)
    if not cruiser:
        sketch.box((front - 0.34, -0.17, 0.62), (front - 0.04, 0.17, 1.00), paint, top=0.6)
    lamp = [
        (front - 0.02, -0.08, 0.80),
        (front - 0.02, 0.08, 0.80),
        (front - 0.04, 0.08, 0.92),
        (front - 0.04, -0.08, 0.92),
    ]
    sketch.polygon(lamp, Skin((232, 232, 222), HEAD_LIGHT), inside=(0.0, 0.0, 0.8))
    tail = [(-hx + 0.15, -0.07, 0.64), (-hx + 0.15, 0.07, 0.64), (-hx + 0.15, 0.07, 0.72), (-hx + 0.15, -0.07, 0.72)]
    sketch.polygon(tail, Skin((150, 18, 20), TAIL_LIGHT), inside=(0.0, 0.0, 0.7))
    lean_m = 0.30 if spec.shape == "sport" else 0.06
    _rider(
        sketch,
        spec,
        seat=(-0.28, 0.0, 0.82),
        hands=(front - 0.30, hy * 0.8, 0.99),
        feet=(0.10, 0.18, 0.30),
        lean_m=lean_m,
    )
    return _fit(sketch, spec.half_extent_m, spec.box_offset_m)


def bicycle(spec: VehicleSpec) -> Mesh:
    """Draw a bicycle with its rider."""
    sketch = Sketch(tag=spec.tag)
    hx, hy, _ = spec.half_extent_m
    paint, dark = Skin(BODY, PAINT), Skin(_DARK)
    radius_m = 0.34
    back, front = (-hx + radius_m, 0.0, radius_m), (hx - radius_m, 0.0, radius_m)
    for hub in (back, front):
        sketch.wheel(hub, radius_m, 0.022, sides=10)
    crank, saddle, head = (-0.06, 0.0, 0.30), (-0.22, 0.0, 0.92), (front[0] - 0.16, 0.0, 0.90)
    for start, end in ((crank, saddle), (crank, head), (saddle, head), (back, crank), (back, saddle), (front, head)):
        sketch.tube(start, end, 0.022, paint, sides=4)
    sketch.box((-0.34, -0.07, 0.92), (-0.10, 0.07, 0.97), dark)
    sketch.tube((head[0] + 0.05, -hy, 1.02), (head[0] + 0.05, hy, 1.02), 0.02, dark, sides=4)
    lean_m = 0.06 if "omafiets" in spec.blueprint else 0.26
    _rider(
        sketch,
        spec,
        seat=(-0.22, 0.0, 0.98),
        hands=(head[0] + 0.04, hy * 0.85, 1.03),
        feet=(0.02, 0.12, 0.18),
        lean_m=lean_m,
    )
    return _fit(sketch, spec.half_extent_m, spec.box_offset_m)


def person(spec: WalkerSpec) -> Mesh:
    """Draw somebody in mid-stride: head with hair, torso, arms, legs, shoes."""
    sketch = Sketch(tag=PEDESTRIAN_TAG)
    height_m = 2 * spec.half_extent_m[2]
    top, bottom, skin, hair = Skin(spec.top), Skin(spec.bottom), Skin(spec.skin), Skin(spec.hair)

    def at(x: float, y: float, z: float) -> Point:
        return (x * height_m, y * height_m, z * height_m)

    sketch.ball(at(0.01, 0, 0.925), at(0.058, 0.050, 0.079), skin, cap=hair)
    sketch.tube(at(0, 0, 0.82), at(0.005, 0, 0.88), 0.032 * height_m, skin)
    chest = [
        at(x, y, 0.82)
        for x, y in ((-0.05, -0.10), (0.05, -0.10), (0.06, 0.0), (0.05, 0.10), (-0.05, 0.10), (-0.06, 0.0))
    ]
    waist = [
        at(x, y, 0.50)
        for x, y in ((-0.05, -0.078), (0.05, -0.078), (0.062, 0.0), (0.05, 0.078), (-0.05, 0.078), (-0.062, 0.0))
    ]
    sketch.rings([waist, chest], top)
    hips = [
        at(x, y, 0.45)
        for x, y in ((-0.05, -0.085), (0.05, -0.085), (0.055, 0.0), (0.05, 0.085), (-0.05, 0.085), (-0.055, 0.0))
    ]
    belt = [
        at(x, y, 0.51)
        for x, y in ((-0.048, -0.075), (0.048, -0.075), (0.056, 0.0), (0.048, 0.075), (-0.048, 0.075), (-0.056, 0.0))
    ]
    sketch.rings([hips, belt], bottom)
    for side in (-1, 1):
        swing = 0.10 * side
        sketch.tube(at(0, side * 0.05, 0.48), at(swing * 0.6, side * 0.052, 0.26), 0.050 * height_m, bottom, taper=0.8)
        sketch.tube(
            at(swing * 0.6, side * 0.052, 0.27), at(swing, side * 0.055, 0.04), 0.040 * height_m, bottom, taper=0.7
        )
        sketch.box(
            at(swing - 0.03, side * 0.055 - 0.026, 0.0), at(swing + 0.085, side * 0.055 + 0.026, 0.045), Skin(_DARK)
        )
        sketch.tube(at(0, side * 0.115, 0.80), at(-swing * 0.5, side * 0.135, 0.62), 0.032 * height_m, top)
        sketch.tube(
            at(-swing * 0.5, side * 0.135, 0.62), at(-swing * 0.9 + 0.03, side * 0.13, 0.46), 0.026 * height_m, skin
        )
    return _fit(sketch, spec.half_extent_m, (0.0, 0.0, 0.0))


def _fit(sketch: Sketch, half_m: Point, centre_m: Point) -> Mesh:
    low = (centre_m[0] - half_m[0], centre_m[1] - half_m[1], centre_m[2] - half_m[2])
    high = (centre_m[0] + half_m[0], centre_m[1] + half_m[1], centre_m[2] + half_m[2])
    return sketch.mesh(low, high)


def _round(sketch: Sketch, levels: tuple[tuple[float, float], ...], skins: tuple[Skin, ...], sides: int = 8) -> None:
    """Stack rings of (radius, height) into solids, one look each."""
    turns = np.arange(sides) * 2 * np.pi / sides
    rings = [[(r * float(np.cos(t)), r * float(np.sin(t)), z) for t in turns] for r, z in levels]
    for i, skin in enumerate(skins):
        sketch.rings(rings[i : i + 2], skin)


def _cone(sketch: Sketch, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    sketch.box((-1, -1, 0), (1, 1, 0.08), Skin(_DARK))
    _round(sketch, ((0.72, 0.08), (0.50, 0.40), (0.34, 0.64), (0.12, 1.0)), (main, accent, main))


def _barrel(sketch: Sketch, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    _round(
        sketch,
        ((0.90, 0.0), (1.0, 0.45), (1.0, 0.55), (0.90, 0.95), (0.80, 1.0)),
        (main, accent, main, accent),
        sides=10,
    )


def _box(sketch: Sketch, spec: PropSpec) -> None:
    sketch.box((-1, -1, 0), (1, 1, 0.90), Skin(spec.colour))
    sketch.box((-0.94, -0.94, 0.90), (0.94, 0.94, 1.0), Skin(spec.accent))


def _barrier(sketch: Sketch, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    for y in (-0.86, 0.86):
        sketch.box((-1, y - 0.14, 0), (1, y + 0.14, 0.06), Skin(_DARK))
        sketch.box((-0.18, y - 0.05, 0.06), (0.18, y + 0.05, 1.0), accent)
    for i in range(5):
        sketch.box((-0.24, -1 + 0.4 * i, 0.66), (0.24, -0.6 + 0.4 * i, 0.96), (main, accent)[i % 2])
    sketch.box((-0.2, -0.9, 0.30), (0.2, 0.9, 0.42), main)


def _sign(sketch: Sketch, spec: PropSpec) -> None:
    sketch.box((-1, -0.6, 0), (1, 0.6, 0.04), Skin(_DARK))
    sketch.box((-0.2, -0.10, 0.04), (0.2, 0.10, 0.6), Skin((110, 112, 116)))
    sketch.box((-0.3, -1.0, 0.52), (0.3, 1.0, 1.0), Skin(spec.accent))
    for side in (-1, 1):
        face = [(side * 0.36, y, z) for y, z in ((-0.9, 0.55), (0.9, 0.55), (0.9, 0.97), (-0.9, 0.97))]
        sketch.polygon(face, Skin(spec.colour), inside=(0, 0, 0.8))


def _bench(sketch: Sketch, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    for y in (-0.84, 0.84):
        sketch.box((-0.9, y - 0.05, 0), (0.9, y + 0.05, 0.48), accent)
    for i in range(3):
        sketch.box((-0.9 + 0.6 * i, -1, 0.48), (-0.42 + 0.6 * i, 1, 0.56), main)
    sketch.box((-1.0, -1, 0.62), (-0.86, 1, 0.78), main)
    sketch.box((-1.0, -1, 0.84), (-0.86, 1, 1.0), main)


def _table(sketch: Sketch, spec: PropSpec) -> None:
    for x in (-0.8, 0.8):
        for y in (-0.8, 0.8):
            sketch.box((x - 0.07, y - 0.07, 0), (x + 0.07, y + 0.07, 0.9), Skin(spec.accent))
    sketch.box((-1, -1, 0.9), (1, 1, 1), Skin(spec.colour))


def _chair(sketch: Sketch, spec: PropSpec) -> None:
    for x in (-0.8, 0.8):
        for y in (-0.8, 0.8):
            sketch.box((x - 0.09, y - 0.09, 0), (x + 0.09, y + 0.09, 0.46), Skin(spec.accent))
    sketch.box((-0.95, -0.95, 0.46), (1, 0.95, 0.52), Skin(spec.colour))
    sketch.box((-1, -1, 0.50), (-0.82, 1, 1), Skin(spec.colour))


def _cart(sketch: Sketch, spec: PropSpec) -> None:
    for x in (-0.6, 0.6):
        for y in (-0.8, 0.8):
            sketch.box((x - 0.12, y - 0.08, 0), (x + 0.12, y + 0.08, 0.2), Skin(_DARK))
    sketch.box((-0.8, -1, 0.2), (1, 1, 0.8), Skin(spec.colour), top=1.0, roof=Skin(spec.accent))
    sketch.box((-1, -0.9, 0.84), (-0.86, 0.9, 1), Skin(spec.accent))


def _shelter(sketch: Sketch, spec: PropSpec) -> None:
    for x, y in ((-0.9, -0.95), (-0.9, 0.95), (0.9, -0.95), (0.9, 0.95)):
        sketch.box((x - 0.05, y - 0.03, 0), (x + 0.05, y + 0.03, 0.94), Skin(spec.colour))
    sketch.box((-0.95, -0.9, 0.1), (-0.9, 0.9, 0.9), Skin(spec.accent, GLASS))
    sketch.box((-1, -1, 0.94), (1, 1, 1), Skin(spec.colour))


def _plant(sketch: Sketch, spec: PropSpec) -> None:
    pot, leaf = Skin(spec.colour), Skin(spec.accent, FOLIAGE)
    _round(sketch, ((0.62, 0.0), (0.82, 0.42)), (pot,))
    _round(sketch, ((0.6, 0.42), (1.0, 0.62), (0.8, 0.86), (0.3, 1.0)), (leaf, leaf, leaf), sides=7)


def _drone(sketch: Sketch, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    sketch.box((-0.34, -0.22, 0.2), (0.34, 0.22, 0.8), main, top=0.7)
    for x in (-0.7, 0.7):
        for y in (-0.7, 0.7):
            sketch.tube((x * 0.3, y * 0.2, 0.6), (x, y, 0.7), 0.06, main, sides=4)
            turns = np.arange(8) * np.pi / 4 + np.pi / 8
            for z0, z1 in ((0.9, 1.0),):
                rings = [[(x + 0.3 * float(np.cos(t)), y + 0.3 * float(np.sin(t)), z) for t in turns] for z in (z0, z1)]
                sketch.rings(rings, accent if x > 0 else Skin((70, 72, 76)))
            sketch.box((x - 0.05, y - 0.05, 0.0), (x + 0.05, y + 0.05, 0.9), main)


_PROP_SHAPES: Final[dict[str, Callable[[Sketch, PropSpec], None]]] = {
    "cone": _cone, "barrel": _barrel, "box": _box, "barrier": _barrier, "sign": _sign, "bench": _bench, "table": _table,
    "chair": _chair, "cart": _cart, "shelter": _shelter, "plant": _plant, "drone": _drone,
}  # fmt: skip


def prop(spec: PropSpec) -> Mesh:
    """Draw a prop of any shape, standing on its origin (a drone: around it)."""
    sketch = Sketch(tag=spec.tag)
    _PROP_SHAPES[spec.shape](sketch, spec)
    half = spec.half_extent_m
    return _fit(sketch, half, (0.0, 0.0, 0.0 if spec.shape == "drone" else half[2]))


TWO_WHEELERS: Final[dict[str, Callable[[VehicleSpec], Mesh]]] = {
    **dict.fromkeys(("cruiser", "sport", "scooter"), motorbike),
    "bicycle": bicycle,
}
