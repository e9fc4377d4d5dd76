"""Objects on the road: bags, heaps, cartons, dustbins, and the meshes that ``static.prop.mesh`` selects by asset path.

Builders draw in fractions of the box (x and y in -1..1, z in 0..1); ``finish`` stretches the drawing to the box.
"""

import itertools
from collections.abc import Callable
from typing import Final

import numpy as np

from headless_simulator.models.catalogue import PropSpec
from headless_simulator.models.mesh_builder import DARK, RGB, MeshBuilder, Point, Skin
from headless_simulator.scene import FOLIAGE

_STEEL: Final[RGB] = (142, 146, 150)
_TAPE: Final[RGB] = (214, 190, 140)


def _turns(sides: int) -> list[tuple[float, float]]:
    return [(float(np.cos(t)), float(np.sin(t))) for t in np.arange(sides) * 2 * np.pi / sides]


def _disc(builder: MeshBuilder, centre: Point, radii: tuple[float, float], height: float, skin: Skin) -> None:
    """Add a flat cylinder with its bottom at ``centre``."""
    x, y, z = centre
    rings = [[(x + radii[0] * c, y + radii[1] * s, z + dz) for c, s in _turns(14)] for dz in (0.0, height)]
    builder.rings(rings, skin)


def _bag(builder: MeshBuilder, spec: PropSpec) -> None:
    main, accent = Skin(spec.colour), Skin(spec.accent)
    builder.ball((0.0, 0.0, 0.40), (1.0, 0.95, 0.42), main, sides=9, cap=Skin(_lighter(spec.colour, 22)))
    builder.tube((0.05, 0.0, 0.74), (0.12, 0.05, 0.86), 0.20, accent, sides=6, taper=0.6)
    builder.tube((0.12, 0.05, 0.86), (0.20, 0.10, 1.0), 0.12, accent, sides=6, taper=2.4)


def _heap(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a low heap with stones on it."""
    rng = np.random.default_rng(sum(map(ord, spec.blueprint)))
    rings = [
        [(r * c * w, r * s * w, z) for (c, s), w in zip(_turns(11), rng.uniform(0.82, 1.0, 11), strict=True)]
        for r, z in ((1.0, 0.0), (0.80, 0.30), (0.35, 0.58))
    ]
    builder.rings(rings, Skin(spec.colour))
    for _ in range(13):
        away, turn = float(rng.uniform(0.0, 0.85)), float(rng.uniform(0, 2 * np.pi))
        x, y, size = away * float(np.cos(turn)), away * float(np.sin(turn)), float(rng.uniform(0.07, 0.16))
        grey = int(rng.integers(90, 170))
        low = 0.55 * (1 - away)
        builder.ball((x, y, low + 0.16), (size, size, 0.22), Skin((grey, grey - 6, grey - 14)), sides=5)


def _carton(builder: MeshBuilder, spec: PropSpec) -> None:
    flap = Skin(_lighter(spec.colour, 18))
    builder.box((-1, -1, 0), (1, 1, 0.97), Skin(spec.colour), roof=flap)
    builder.box((-1, -0.12, 0.97), (1, 0.12, 1.0), Skin(_TAPE))
    for side in (-1, 1):
        corners = [
            (side * 1.0, -0.12, 0.70),
            (side * 1.0, 0.12, 0.70),
            (side * 1.0, 0.12, 0.97),
            (side * 1.0, -0.12, 0.97),
        ]
        builder.polygon(corners, Skin(_TAPE), inside=(0, 0, 0.8))


def _suitcase(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a suitcase on wheels with an extended handle; straps distinguish it from a box seen from above."""
    builder.box((-0.94, -1, 0.07), (0.94, 1, 0.74), Skin(spec.colour))
    for y in (-0.55, 0.55):
        builder.box((-1.0, y - 0.09, 0.06), (1.0, y + 0.09, 0.76), Skin(spec.accent))
    for y in (-0.8, 0.8):
        for x in (-0.7, 0.7):
            builder.box((x - 0.2, y - 0.16, 0), (x + 0.2, y + 0.16, 0.07), Skin(DARK))
    for y in (-0.42, 0.42):
        builder.box((-0.75, y - 0.06, 0.74), (-0.55, y + 0.06, 0.97), Skin(_lighter(_STEEL, 70)))
    builder.box((-0.85, -0.55, 0.93), (-0.45, 0.55, 1.0), Skin(DARK))


def _dustbin(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a bin on two large wheels with a coloured lid and a handle bar."""
    builder.box((-0.72, -0.86, 0.06), (0.80, 0.86, 0.88), Skin(spec.colour), top=1.14)
    builder.box((-0.92, -1, 0.88), (1, 1, 1.0), Skin(spec.accent), top=0.92)
    for y in (-0.80, 0.80):
        builder.wheel((-0.72, y, 0.17), 0.17, 0.14)
    builder.box((-1.0, -0.8, 0.80), (-0.88, 0.8, 0.87), Skin(DARK))


def _vending(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a vending machine with rows of goods behind a pane on its front, towards x."""
    builder.box((-1, -1, 0), (0.96, 1, 1), Skin(spec.colour))
    pane = [(0.97, -0.85, 0.34), (0.97, 0.40, 0.34), (0.97, 0.40, 0.93), (0.97, -0.85, 0.93)]
    builder.polygon(pane, Skin((206, 222, 232)), inside=(0, 0, 0.5))
    goods = ((196, 40, 40), (238, 180, 30), (40, 120, 60), (40, 80, 170))
    for row in range(4):
        for column in range(5):
            y, z = -0.80 + 0.24 * column, 0.38 + 0.14 * row
            face = [(0.99, y, z), (0.99, y + 0.15, z), (0.99, y + 0.15, z + 0.10), (0.99, y, z + 0.10)]
            builder.polygon(face, Skin(goods[(row + column) % 4]), inside=(0, 0, 0.5))
    slot = [(0.98, -0.7, 0.10), (0.98, 0.3, 0.10), (0.98, 0.3, 0.24), (0.98, -0.7, 0.24)]
    builder.polygon(slot, Skin(DARK), inside=(0, 0, 0.5))
    builder.box((0.96, 0.52, 0.40), (1.0, 0.86, 0.80), Skin(spec.accent))


def _trolley(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a shopping trolley: an open wire basket on wheels with a push bar."""
    wire, bar = Skin(spec.colour), Skin(spec.accent)
    for x in (-0.66, 0.72):
        for y in (-0.72, 0.72):
            builder.wheel((x, y, 0.07), 0.07, 0.05)
            builder.tube((x, y, 0.10), (x * 0.95, y, 0.42), 0.035, wire, sides=4)
    for z, grow in ((0.42, 0.80), (0.60, 0.88), (0.78, 0.96)):
        corners = [(-0.78, -grow, z), (grow, -grow, z), (grow, grow, z), (-0.78, grow, z)]
        for k in range(4):
            builder.tube(corners[k], corners[(k + 1) % 4], 0.035, wire, sides=4)
    for step in np.linspace(-0.7, 0.8, 7).tolist():
        builder.tube((step, -0.78, 0.42), (step, 0.78, 0.42), 0.028, wire, sides=4)
        for side in (-1, 1):
            builder.tube((step, side * 0.80, 0.42), (step * 1.04, side * 0.96, 0.78), 0.028, wire, sides=4)
    for side in (-1, 1):
        builder.tube((-0.78, side * 0.92, 0.78), (-0.97, side * 0.92, 0.97), 0.04, wire, sides=4)
    builder.tube((-0.97, -1.0, 0.97), (-0.97, 1.0, 0.97), 0.05, bar, sides=5)


def _stall(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a cart with a counter under a striped awning."""
    builder.box((-0.7, -0.9, 0.12), (0.7, 0.9, 0.46), Skin(spec.colour), roof=Skin((206, 206, 200)))
    for y in (-0.6, 0.6):
        builder.wheel((0.0, y, 0.14), 0.14, 0.04, sides=10)
    for x in (-0.62, 0.62):
        for y in (-0.84, 0.84):
            builder.box((x - 0.05, y - 0.03, 0.46), (x + 0.05, y + 0.03, 0.86), Skin(_STEEL))
    for k in range(8):
        y = -1 + 0.25 * k
        builder.box((-1, y, 0.86), (1, y + 0.25, 1.0), Skin(spec.colour if k % 2 else spec.accent), top=0.86)


def _bale(builder: MeshBuilder, spec: PropSpec) -> None:
    builder.box((-1, -1, 0), (1, 1, 1), Skin(spec.colour), roof=Skin(_lighter(spec.colour, 16)))
    for y in (-0.5, 0.5):
        builder.box((-1.0, y - 0.03, 0.0), (1.0, y + 0.03, 1.0), Skin((120, 84, 40)))
    rng = np.random.default_rng(7)
    for x, y in rng.uniform(-0.9, 0.8, (16, 2)).tolist():
        straw = [(x, y, 1.0), (x + 0.16, y + 0.03, 1.0), (x + 0.15, y + 0.06, 1.0), (x - 0.01, y + 0.03, 1.0)]
        builder.polygon(straw, Skin((238, 214, 128)), inside=(0, 0, 0))


# ------------------------------------------------------------------ meshes selected by asset path
def _bicycle(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a bicycle without a rider; metres."""
    paint, dark = Skin(spec.colour), Skin(DARK)
    back, front, radius = (-0.52, 0.0, 0.34), (0.54, 0.0, 0.34), 0.33
    for hub in (back, front):
        rim = [(hub[0] + radius * c, 0.0, hub[2] + radius * s) for c, s in _turns(16)]
        for k in range(16):
            builder.tube(rim[k], rim[(k + 1) % 16], 0.028, dark, sides=4)
        for k in range(0, 16, 2):
            builder.tube(hub, rim[k], 0.006, Skin(_STEEL), sides=3)
    crank, saddle, head = (-0.06, 0.0, 0.30), (-0.22, 0.0, 0.90), (0.40, 0.0, 0.88)
    for start, end in ((crank, saddle), (crank, head), (saddle, head), (back, crank), (back, saddle), (front, head)):
        builder.tube(start, end, 0.024, paint, sides=5)
    builder.box((-0.36, -0.08, 0.90), (-0.10, 0.08, 0.96), dark)
    builder.tube((0.36, -0.30, 1.02), (0.36, 0.30, 1.02), 0.02, dark, sides=5)
    builder.tube(head, (0.36, 0.0, 1.02), 0.02, Skin(_STEEL), sides=4)


def _manhole(builder: MeshBuilder, _: PropSpec) -> None:
    """Draw a manhole as a black disc, because the road has no depth, with frame and cover."""
    _disc(builder, (-0.45, 0.0, 0.0), (0.47, 1.0), 0.30, Skin((128, 126, 120)))
    _disc(builder, (-0.45, 0.0, 0.30), (0.38, 0.82), 0.02, Skin((4, 4, 5)))
    _disc(builder, (0.58, 0.05, 0.0), (0.42, 0.88), 0.72, Skin((84, 70, 60)))
    for k in range(-3, 4):
        reach = float(np.sqrt(max(1 - (k / 4) ** 2, 0.0))) * 0.40
        y = 0.05 + 0.20 * k
        builder.box((0.58 - reach, y - 0.035, 0.72), (0.58 + reach, y + 0.035, 1.0), Skin((122, 104, 90)))


def _wire(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw overlapping loops of cable."""
    rng = np.random.default_rng(11)
    for loop in range(7):
        radius, tilt = rng.uniform(0.45, 0.92, 2), rng.uniform(-0.35, 0.35, 2)
        shift, height = rng.uniform(-0.16, 0.16, 2), 0.12 + 0.11 * loop
        start = float(rng.uniform(0, 2 * np.pi))
        points = [
            (
                float(shift[0] + radius[0] * np.cos(start + t) * (1 - 0.10 * t / 6)),
                float(shift[1] + radius[1] * np.sin(start + t) * (1 - 0.10 * t / 6)),
                float(np.clip(height + tilt[0] * np.cos(t) + tilt[1] * np.sin(t), 0.05, 0.95)),
            )
            for t in np.linspace(0, 5.8, 16)
        ]
        skin = Skin(spec.colour if loop % 3 else spec.accent)
        for near, far in itertools.pairwise(points):
            builder.tube(near, far, 0.042, skin, sides=4)


def _branch(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a branch with twigs and leaves."""
    rng = np.random.default_rng(5)
    wood, leaf = Skin(spec.colour), Skin(spec.accent, FOLIAGE)
    spine = [(-1.0, 0.0, 0.22), (-0.4, 0.10, 0.30), (0.2, -0.06, 0.36), (0.8, 0.10, 0.44)]
    for k, (near, far) in enumerate(itertools.pairwise(spine)):
        builder.tube(near, far, 0.065 - 0.014 * k, wood, sides=6, taper=0.8)
    for k in range(9):
        x = -0.45 + 0.15 * k
        side = -1 if k % 2 else 1
        end = (x + float(rng.uniform(0.15, 0.35)), side * float(rng.uniform(0.45, 0.9)), float(rng.uniform(0.15, 0.8)))
        builder.tube((x, 0.02, 0.33), end, 0.022, wood, sides=4, taper=0.5)
        for _ in range(3):
            at = (end[0] + float(rng.uniform(-0.16, 0.16)), end[1] + float(rng.uniform(-0.25, 0.25)), end[2])
            builder.ball(at, (0.10, 0.20, 0.16), leaf, sides=5)


def _ladder(builder: MeshBuilder, spec: PropSpec) -> None:
    rail = Skin(spec.colour)
    for side in (-1, 1):
        builder.box((-1, side - 0.22 if side > 0 else side, 0), (1, side if side > 0 else side + 0.22, 1), rail)
    for x in np.linspace(-0.88, 0.88, 9).tolist():
        builder.box((x - 0.028, -0.8, 0.30), (x + 0.028, 0.8, 0.70), Skin(spec.accent))


def _tyre(builder: MeshBuilder, spec: PropSpec) -> None:
    """Draw a flat ring."""
    rings = [
        [(r * c, r * s, z) for c, s in _turns(16)]
        for r, z in ((0.56, 0.1), (0.92, 0.0), (1.0, 0.3), (1.0, 0.7), (0.92, 1.0), (0.56, 0.9))
    ]
    rubber = Skin(spec.colour)
    for near, far in zip(rings, [*rings[1:], rings[0]], strict=True):
        for k in range(16):
            j = (k + 1) % 16
            face = [near[k], near[j], far[j], far[k]]
            middle = ((near[k][0] + far[k][0]) / 2, (near[k][1] + far[k][1]) / 2)
            length = float(np.hypot(*middle))
            builder.polygon(face, rubber, inside=(middle[0] / length * 0.78, middle[1] / length * 0.78, 0.5))
    _disc(builder, (0.0, 0.0, 0.0), (0.50, 0.50), 0.04, Skin((40, 40, 42)))


def _lighter(colour: RGB, by: int) -> RGB:
    return (min(colour[0] + by, 255), min(colour[1] + by, 255), min(colour[2] + by, 255))


DEBRIS_SHAPES: Final[dict[str, Callable[[MeshBuilder, PropSpec], None]]] = {
    "bag": _bag, "heap": _heap, "carton": _carton, "suitcase": _suitcase, "dustbin": _dustbin, "vending": _vending,
    "trolley": _trolley, "stall": _stall, "bale": _bale, "bicycle": _bicycle, "manhole": _manhole, "wire": _wire,
    "branch": _branch, "ladder": _ladder, "tyre": _tyre,
}  # fmt: skip
