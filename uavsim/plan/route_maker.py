"""Generate editable YAML with routes of a town: a closed round trip over each cell of a grid."""

from typing import Final

import numpy as np

from uavsim.config.town import TownConfig
from uavsim.errors import InputError
from uavsim.typing import FloatArray

_LEAST_M: Final = 60.0  # a round trip is at least so wide, also where cells are smaller
_MOST_M: Final = 240.0
_EDGE_M: Final = 25.0  # between routes and the town's ends: a cross of 20 m then keeps 5 m
_SPEED_MPS: Final = 5.0
_CORNER: Final = 0.8  # of half the width: rounds the corners, so that the swarm never turns on the spot

_HEAD: Final = """\
# yaml-language-server: $schema=.schemas/routes.json
# {rows} rows x {columns} columns over {town}, bottom left to top right of the map (map frame: y = minus CARLA's y).
# Each route goes around its cell and starts in the west; row and column numbers are in its name, as UAV3D numbers its rows.
town: {town}
routes:
"""


def make_routes(town: TownConfig, *, rows: int, columns: int) -> str:
    """Return the text of ``flight_plans/<town>.yaml``.

    Args:
        town: the town; routes stay 25 m inside its bounds.
        rows: number of cells along y.
        columns: number of cells along x.

    Raises:
        InputError: a number is invalid, or the town is too small.
    """
    if not (1 <= rows <= 50 and 1 <= columns <= 50):
        raise InputError(f"rows and columns must be 1 to 50, not {rows} x {columns}")
    low = np.array([town.x_m[0], town.y_m[0]]) + _EDGE_M
    high = np.array([town.x_m[1], town.y_m[1]]) - _EDGE_M
    room_m = high - low
    if (room_m < 10.0).any():
        raise InputError(f"{town.name} is too small for routes {_EDGE_M:g} m inside its bounds")
    cell_m = room_m / np.array([columns, rows])
    half_m = np.minimum(np.clip(0.9 * cell_m, _LEAST_M, _MOST_M), room_m) / 2.0
    text = _HEAD.format(rows=rows, columns=columns, town=town.name)
    for row in range(rows):
        for column in range(columns):
            centre = low + (np.array([column, row]) + 0.5) * cell_m
            centre = np.clip(centre, low + half_m, high - half_m)
            loop = _round_trip(centre, half_m, left=(row + column) % 2 == 0)
            places = ", ".join(f"[{x:.1f}, {y:.1f}]" for x, y in loop + 0.0)
            text += (
                f"  {town.short_name}_row{row + 1}_col{column + 1}:\n    closed: true\n    speed_mps: {_SPEED_MPS:g}\n"
            )
            text += f"    path: [{places}]\n"
    return text


def _round_trip(centre_m: FloatArray, half_m: FloatArray, *, left: bool) -> FloatArray:
    """Return (8, 2) waypoints around a cell from its west side, metres; ``left`` is counter-clockwise."""
    c = _CORNER
    west_first = np.array([[-1, 0], [-c, -c], [0, -1], [c, -c], [1, 0], [c, c], [0, 1], [-c, c]])
    if not left:
        west_first = west_first * np.array([1.0, -1.0])
    return np.round(centre_m + west_first * half_m, 1)
