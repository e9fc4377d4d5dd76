"""Formation shapes as (drones, 3) offsets from the reference point, metres, x forward, y left, z up. Drone 0 is the ego.

Drone numbers follow UAV3D where it has a shape: cross is 0 centre, 1 front, 2 back, 3 left, 4 right; further drones repeat
this order one spacing farther out.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from uavsim.config.formation import Shape
from uavsim.registry import pick
from uavsim.typing import FloatArray


def offsets(shape: Shape, *, drones: int) -> FloatArray:
    """Return (drones, 3) offsets of a shape, metres."""
    return pick(SHAPES, shape.shape, what="formation shape")(shape, drones)


def _cross(shape: Shape, drones: int) -> FloatArray:
    """Arms front, back, left, right, in turn."""
    number = np.arange(1, drones)
    arms = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]])
    ring = (number - 1) // 4 + 1
    return np.concatenate([np.zeros((1, 3)), arms[(number - 1) % 4] * (ring * shape.spacing_m)[:, None]])


def _vee(shape: Shape, drones: int) -> FloatArray:
    """Drone 0 at the point, odd numbers on the left arm, even ones on the right, both falling back."""
    number = np.arange(drones)
    along_m = (number + 1) // 2 * shape.spacing_m
    angle = np.radians(shape.angle_deg)
    side = np.where(number % 2 == 1, 1.0, -1.0)
    return np.stack([-along_m * np.cos(angle), side * along_m * np.sin(angle), np.zeros(drones)], axis=1)


def _line(shape: Shape, drones: int) -> FloatArray:
    """Side by side: drone 0 in the middle, odd numbers to the left, even ones to the right."""
    number = np.arange(drones)
    y_m = (number + 1) // 2 * np.where(number % 2 == 1, 1.0, -1.0) * shape.spacing_m
    return np.stack([np.zeros(drones), y_m, np.zeros(drones)], axis=1)


def _column(shape: Shape, drones: int) -> FloatArray:
    """One behind the other, drone 0 ahead."""
    x_m = -np.arange(drones) * shape.spacing_m
    return np.stack([x_m, np.zeros(drones), np.zeros(drones)], axis=1)


def _diamond(shape: Shape, drones: int) -> FloatArray:
    """On the outline of a square that stands on a corner: drone 0 at the front corner, then counter-clockwise.

    Neighbours are ``spacing_m`` apart along the outline.
    """
    corner = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, 0.0]])
    corner *= drones * shape.spacing_m / 4.0 / np.sqrt(2.0)
    at = np.arange(drones) * 4.0 / drones
    outline = np.stack([np.interp(at, np.arange(5), corner[:, i]) for i in (0, 1)], axis=1)
    return np.concatenate([outline if drones > 1 else outline * 0.0, np.zeros((drones, 1))], axis=1)


def _grid(shape: Shape, drones: int) -> FloatArray:
    """Rows and columns around the reference point; the drone nearest to it is number 0, then outwards."""
    columns = min(shape.columns or int(np.ceil(np.sqrt(drones))), drones)
    row, column = np.divmod(np.arange(drones), columns)
    cells = np.stack([-(row - row.max() / 2.0), -(column - (columns - 1) / 2.0), np.zeros(drones)], axis=1)
    outwards = np.lexsort((np.arange(drones), np.round(np.hypot(cells[:, 0], cells[:, 1]), 9)))
    return cells[outwards] * shape.spacing_m


def _circle(shape: Shape, drones: int) -> FloatArray:
    """Evenly on a circle, neighbours ``spacing_m`` apart: drone 0 in front, then counter-clockwise."""
    radius_m = shape.spacing_m / (2.0 * np.sin(np.pi / drones)) if drones > 1 else 0.0
    angle = 2.0 * np.pi * np.arange(drones) / drones
    return radius_m * np.stack([np.cos(angle), np.sin(angle), np.zeros(drones)], axis=1)


def _free(shape: Shape, drones: int) -> FloatArray:
    """As given, one place a drone."""
    return np.array(shape.offsets_m, dtype=np.float64).reshape(drones, 3)


SHAPES: Final[dict[str, Callable[[Shape, int], FloatArray]]] = {
    "cross": _cross,
    "vee": _vee,
    "line": _line,
    "column": _column,
    "diamond": _diamond,
    "grid": _grid,
    "circle": _circle,
    "free": _free,
}
