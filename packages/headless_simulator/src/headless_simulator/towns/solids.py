"""Simple solids for a triangle soup, in a body's frame, metres: boxes, prisms, gables, blobs."""

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.triangle_soup import Appearance, TriangleSoup

Corner = tuple[float, float, float]


def box_faces(low: Corner, high: Corner) -> Float64:
    """Return (5, 4, 3) sides (front, right, back, left) and top of a box; its floor is never visible."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    return np.array(
        [
            [(x1, y0, z0), (x1, y1, z0), (x1, y1, z1), (x1, y0, z1)],
            [(x1, y1, z0), (x0, y1, z0), (x0, y1, z1), (x1, y1, z1)],
            [(x0, y1, z0), (x0, y0, z0), (x0, y0, z1), (x0, y1, z1)],
            [(x0, y0, z0), (x1, y0, z0), (x1, y0, z1), (x0, y0, z1)],
            [(x0, y0, z1), (x1, y0, z1), (x1, y1, z1), (x0, y1, z1)],
        ],
        dtype=np.float64,
    )


def add_box(
    triangle_soup: TriangleSoup, low: Corner, high: Corner, side: Appearance, top: Appearance | None = None
) -> None:
    """Add a box without its floor."""
    faces = box_faces(low, high)
    triangle_soup.quads(faces[:4], side)
    triangle_soup.quads(faces[4:], top or side)


def add_prism(triangle_soup: TriangleSoup, ring: Float64, tip: Float64, appearance: Appearance) -> None:
    """Add sides between two (N, 3) rings, and a cap on the upper one."""
    nxt, tip_next = np.roll(ring, -1, axis=0), np.roll(tip, -1, axis=0)
    triangle_soup.quads(np.stack([ring, nxt, tip_next, tip], axis=1), appearance)
    if len(tip) > 2:
        fan = np.stack([np.broadcast_to(tip[0], (len(tip) - 2, 3)), tip[1:-1], tip[2:]], axis=1)
        triangle_soup.triangles(fan, appearance)


def ring(centre: Corner, radius_m: float, sides: int, turn_rad: float = 0.0) -> Float64:
    """Return (sides, 3) points of a level circle."""
    angle = turn_rad + np.arange(sides) * 2 * np.pi / sides
    return np.stack(
        [centre[0] + radius_m * np.cos(angle), centre[1] + radius_m * np.sin(angle), np.full(sides, centre[2])], axis=1
    )


def add_cylinder(
    triangle_soup: TriangleSoup,
    foot: Corner,
    radius_m: float,
    height_m: float,
    appearance: Appearance,
    *,
    sides: int = 6,
    taper: float = 1.0,
) -> None:
    """Add an upright cylinder or truncated cone."""
    x, y, z = foot
    add_prism(
        triangle_soup, ring(foot, radius_m, sides), ring((x, y, z + height_m), radius_m * taper, sides), appearance
    )


def add_gable_roof(
    triangle_soup: TriangleSoup,
    low: Corner,
    high: Corner,
    ridge_m: float,
    looks: tuple[Appearance, Appearance],
    *,
    overhang_m: float = 0.4,
) -> None:
    """Add a roof on the rectangle from ``low`` to ``high`` (z is the eaves) with a ridge along x, ``ridge_m`` above.

    ``looks`` are those of the roof and of the gables.
    """
    roof, wall = looks
    (x0, y0, _), (x1, y1, z) = low, high
    middle, top = (y0 + y1) / 2, z + ridge_m
    drop = ridge_m * overhang_m / max((y1 - y0) / 2, 0.1)
    ax, bx, ay, by = x0 - overhang_m, x1 + overhang_m, y0 - overhang_m, y1 + overhang_m
    triangle_soup.quads(
        np.array(
            [
                [(ax, ay, z - drop), (bx, ay, z - drop), (bx, middle, top), (ax, middle, top)],
                [(ax, by, z - drop), (bx, by, z - drop), (bx, middle, top), (ax, middle, top)],
            ]
        ),
        roof,
    )
    triangle_soup.triangles(
        np.array(
            [[(x0, y0, z), (x0, y1, z), (x0, middle, top - 0.05)], [(x1, y0, z), (x1, y1, z), (x1, middle, top - 0.05)]]
        ),
        wall,
    )


def wall_grid(
    low: Corner,
    high: Corner,
    *,
    floor_m: float,
    first_m: float,
    pitch_m: float,
    size_m: tuple[float, float],
    proud_m: float = 0.04,
) -> Float64:
    """Return (N, 4, 3) window panes slightly in front of the four walls of a box.

    Args:
        low: lowest corner.
        high: highest corner.
        floor_m: height of a storey.
        first_m: height of the lowest row's sill above the box's base.
        pitch_m: target distance between the centres of windows.
        size_m: width and height of a pane.
        proud_m: distance from the wall.
    """
    (x0, y0, z0), (x1, y1, z1) = low, high
    width, tall = size_m
    rows = np.arange(z0 + first_m, z1 - tall - 0.5, floor_m)
    panes = []
    for along, fixed, outward in ((0, y0, -1), (0, y1, 1), (1, x0, -1), (1, x1, 1)):
        start, end = (x0, x1) if along == 0 else (y0, y1)
        count = int((end - start - 0.8) // pitch_m)
        if count < 1 or not len(rows):
            continue
        gap = (end - start) / count
        middles = start + gap * (np.arange(count) + 0.5)
        half = min(width / 2, gap / 2 - 0.15)
        middle, sill = (grid.reshape(-1) for grid in np.meshgrid(middles, rows))
        pane = np.empty((len(middle), 4, 3))
        pane[:, :, along] = middle[:, None] + np.array([-half, half, half, -half])
        pane[:, :, 1 - along] = fixed + outward * proud_m
        pane[:, :, 2] = sill[:, None] + np.array([0.0, 0.0, tall, tall])
        panes.append(pane)
    return np.concatenate([*panes, np.empty((0, 4, 3))])
