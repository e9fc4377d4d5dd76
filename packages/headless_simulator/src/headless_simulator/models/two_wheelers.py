"""Meshes of two-wheelers with their riders."""

from collections.abc import Callable
from typing import Final

from headless_simulator.models.catalogue import VehicleSpec
from headless_simulator.models.mesh_builder import BODY, DARK, RGB, MeshBuilder, Point, Skin
from headless_simulator.scene import HEAD_LIGHT, PAINT, TAIL_LIGHT, Mesh

RIDER_TAG: Final = 13
_JACKETS: Final[tuple[RGB, ...]] = ((36, 38, 44), (150, 34, 30), (34, 66, 120), (196, 180, 60), (70, 78, 70))


def _rider(builder: MeshBuilder, spec: VehicleSpec, *, seat: Point, hands: Point, feet: Point, lean_m: float) -> None:
    """Add a rider to a two-wheeler; points are metres, ``hands`` and ``feet`` are those of the right side."""
    choice = sum(map(ord, spec.blueprint))
    jacket = Skin(_JACKETS[choice % len(_JACKETS)], tag=RIDER_TAG)
    trousers = Skin((44, 48, 62), tag=RIDER_TAG)
    skin = Skin((198, 150, 120), tag=RIDER_TAG)
    helmet = Skin((224, 224, 220) if choice % 2 else (150, 30, 30), tag=RIDER_TAG)
    neck = (seat[0] + lean_m, 0.0, seat[2] + 0.50)
    builder.tube((seat[0], 0.0, seat[2] - 0.04), neck, 0.17, jacket, sides=6, taper=0.95)
    builder.ball((neck[0] + 0.05, 0.0, neck[2] + 0.17), (0.13, 0.11, 0.15), skin, cap=helmet)
    for side in (-1, 1):
        shoulder = (neck[0], side * 0.17, neck[2] - 0.06)
        builder.tube(shoulder, (hands[0], side * hands[1], hands[2]), 0.055, jacket, sides=4)
        knee = ((seat[0] + feet[0]) / 2 + 0.20, side * 0.16, (seat[2] + feet[2]) / 2 + 0.14)
        builder.tube((seat[0], side * 0.10, seat[2]), knee, 0.085, trousers, sides=4)
        builder.tube(knee, (feet[0], side * feet[1], feet[2]), 0.065, trousers, sides=4)


def motorbike(spec: VehicleSpec) -> Mesh:
    """Draw a motorbike or scooter with its rider."""
    builder = MeshBuilder(tag=spec.tag)
    hx, hy, _ = spec.half_extent_m
    paint, dark, metal = Skin(BODY, PAINT), Skin(DARK), Skin((128, 130, 134))
    scooter, cruiser = spec.shape == "scooter", spec.shape == "cruiser"
    radius_m = 0.23 if scooter else 0.32
    for x in (-hx + radius_m, hx - radius_m):
        builder.wheel((x, 0.0, radius_m), radius_m, 0.055, sides=10)
    builder.box((-0.30, -0.13, 0.22), (0.28, 0.13, 0.58), metal if not scooter else paint)
    builder.box((-0.02, -0.15, 0.56), (0.42, 0.15, 0.82 if not cruiser else 0.74), paint, top=0.72)
    builder.box((-hx + 0.16, -0.13, 0.60), (0.02, 0.13, 0.74), dark)
    front = hx - radius_m
    builder.tube((front, 0.0, radius_m), (front - 0.30, 0.0, 0.98), 0.05, metal)
    builder.tube((front - 0.28, -hy, 0.98), (front - 0.28, hy, 0.98), 0.025, dark, sides=4)
    if not cruiser:
        builder.box((front - 0.34, -0.17, 0.62), (front - 0.04, 0.17, 1.00), paint, top=0.6)
    lamp = [
        (front - 0.02, -0.08, 0.80),
        (front - 0.02, 0.08, 0.80),
        (front - 0.04, 0.08, 0.92),
        (front - 0.04, -0.08, 0.92),
    ]
    builder.polygon(lamp, Skin((232, 232, 222), HEAD_LIGHT), inside=(0.0, 0.0, 0.8))
    tail = [(-hx + 0.15, -0.07, 0.64), (-hx + 0.15, 0.07, 0.64), (-hx + 0.15, 0.07, 0.72), (-hx + 0.15, -0.07, 0.72)]
    builder.polygon(tail, Skin((150, 18, 20), TAIL_LIGHT), inside=(0.0, 0.0, 0.7))
    lean_m = 0.30 if spec.shape == "sport" else 0.06
    _rider(
        builder,
        spec,
        seat=(-0.28, 0.0, 0.82),
        hands=(front - 0.30, hy * 0.8, 0.99),
        feet=(0.10, 0.18, 0.30),
        lean_m=lean_m,
    )
    return builder.mesh_in_box(spec.half_extent_m, spec.box_offset_m)


def bicycle(spec: VehicleSpec) -> Mesh:
    """Draw a bicycle with its rider."""
    builder = MeshBuilder(tag=spec.tag)
    hx, hy, _ = spec.half_extent_m
    paint, dark = Skin(BODY, PAINT), Skin(DARK)
    radius_m = 0.34
    back, front = (-hx + radius_m, 0.0, radius_m), (hx - radius_m, 0.0, radius_m)
    for hub in (back, front):
        builder.wheel(hub, radius_m, 0.022, sides=10)
    crank, saddle, head = (-0.06, 0.0, 0.30), (-0.22, 0.0, 0.92), (front[0] - 0.16, 0.0, 0.90)
    for start, end in ((crank, saddle), (crank, head), (saddle, head), (back, crank), (back, saddle), (front, head)):
        builder.tube(start, end, 0.022, paint, sides=4)
    builder.box((-0.34, -0.07, 0.92), (-0.10, 0.07, 0.97), dark)
    builder.tube((head[0] + 0.05, -hy, 1.02), (head[0] + 0.05, hy, 1.02), 0.02, dark, sides=4)
    lean_m = 0.06 if "omafiets" in spec.blueprint else 0.26
    _rider(
        builder,
        spec,
        seat=(-0.22, 0.0, 0.98),
        hands=(head[0] + 0.04, hy * 0.85, 1.03),
        feet=(0.02, 0.12, 0.18),
        lean_m=lean_m,
    )
    return builder.mesh_in_box(spec.half_extent_m, spec.box_offset_m)


TWO_WHEELERS: Final[dict[str, Callable[[VehicleSpec], Mesh]]] = {
    **dict.fromkeys(("cruiser", "sport", "scooter"), motorbike),
    "bicycle": bicycle,
}
