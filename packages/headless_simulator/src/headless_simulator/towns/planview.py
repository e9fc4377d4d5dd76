"""Reference lines of roads: line, arc, spiral, poly3 and paramPoly3, evaluated at any stations.

Frame here: OpenDRIVE's own (x east, y north, heading counter-clockwise), metres and radians.
Source: ASAM OpenDRIVE 1.4 to 1.8, road geometry.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.scene import Float64

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)  # exact enough for several radians of turn
_TABLE: Final = 400  # points of the arc-length tables of the polynomial kinds


@dataclass(frozen=True, slots=True)
class Geometry:
    """One piece of a reference line.

    Attributes:
        s: station at which it starts.
        x, y, heading_rad: pose at its start.
        length_m: its length.
        kind: line, arc, spiral, poly3 or paramPoly3.
        values: (curvature,) for arc, (start, end curvature) for spiral, (a, b, c, d) for poly3,
            (aU, bU, cU, dU, aV, bV, cV, dV, p at the end) for paramPoly3.
    """

    s: float
    x: float
    y: float
    heading_rad: float
    length_m: float
    kind: str
    values: tuple[float, ...] = ()

    def at(self, ds_m: Float64) -> tuple[Float64, Float64, Float64]:
        """Return x, y (metres) and heading (radians) at distances along the piece, each of the shape of ``ds_m``."""
        u, v, turn = _LOCAL[self.kind](ds_m, self)
        cos, sin = np.cos(self.heading_rad), np.sin(self.heading_rad)
        return self.x + u * cos - v * sin, self.y + u * sin + v * cos, self.heading_rad + turn


_Local = tuple[Float64, Float64, Float64]


def _line(ds: Float64, _: Geometry) -> _Local:
    return ds, np.zeros_like(ds), np.zeros_like(ds)


def _arc(ds: Float64, piece: Geometry) -> _Local:
    (curvature,) = piece.values
    if abs(curvature) < 1e-12:
        return _line(ds, piece)
    turn = ds * curvature
    return np.sin(turn) / curvature, (1 - np.cos(turn)) / curvature, turn


def _spiral(ds: Float64, piece: Geometry) -> _Local:
    start, end = piece.values
    rate = (end - start) / piece.length_m if piece.length_m > 0 else 0.0
    along = ds[..., None] * (_NODES + 1) / 2
    heading = start * along + rate / 2 * along**2
    half = ds / 2
    return (
        half * (np.cos(heading) @ _WEIGHTS),
        half * (np.sin(heading) @ _WEIGHTS),
        start * ds + rate / 2 * ds**2,
    )


def _by_length(p: Float64, u: Float64, v: Float64, ds: Float64, length_m: float) -> Float64:
    """Return parameters at arc lengths ``ds`` of the curve (u, v); the ends are clipped to ``length_m``."""
    travelled = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(u), np.diff(v)))])
    if travelled[-1] > 0 and length_m > 0:
        travelled *= length_m / travelled[-1]
    return np.asarray(np.interp(ds, travelled, p), dtype=np.float64)


def _poly3(ds: Float64, piece: Geometry) -> _Local:
    a, b, c, d = piece.values
    table = np.linspace(0.0, piece.length_m, _TABLE)
    rise = a + table * (b + table * (c + table * d))
    travelled = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(table), np.diff(rise)))])
    u = np.interp(ds, travelled, table)
    return u, a + u * (b + u * (c + u * d)), np.arctan(b + u * (2 * c + 3 * d * u))


def _param_poly3(ds: Float64, piece: Geometry) -> _Local:
    au, bu, cu, du, av, bv, cv, dv, last = piece.values
    table = np.linspace(0.0, last, _TABLE)
    table_u = au + table * (bu + table * (cu + table * du))
    table_v = av + table * (bv + table * (cv + table * dv))
    p = _by_length(table, table_u, table_v, ds, piece.length_m)
    turn = np.arctan2(bv + p * (2 * cv + 3 * dv * p), bu + p * (2 * cu + 3 * du * p))
    return au + p * (bu + p * (cu + p * du)), av + p * (bv + p * (cv + p * dv)), turn


_LOCAL = {"line": _line, "arc": _arc, "spiral": _spiral, "poly3": _poly3, "paramPoly3": _param_poly3}
KINDS: Final = tuple(_LOCAL)


def evaluate(pieces: tuple[Geometry, ...], s: Float64) -> tuple[Float64, Float64, Float64]:
    """Return x, y (metres) and heading (rad) at stations, of the shape of ``s``; the line continues straight past its ends."""
    starts = np.array([piece.s for piece in pieces])
    owner = np.clip(np.searchsorted(starts, s, side="right") - 1, 0, len(pieces) - 1)
    x, y, heading = np.empty_like(s), np.empty_like(s), np.empty_like(s)
    for number in np.unique(owner):
        piece, mask = pieces[number], owner == number
        ds = s[mask] - piece.s
        inside = np.clip(ds, 0.0, piece.length_m)
        px, py, ph = piece.at(inside)
        over = ds - inside
        x[mask], y[mask], heading[mask] = px + over * np.cos(ph), py + over * np.sin(ph), ph
    return x, y, heading


def curvature_bounds(piece: Geometry) -> float:
    """Return the largest curvature of a piece, 1/m; polynomial kinds are sampled."""
    if piece.kind == "line":
        return 0.0
    if piece.kind in ("arc", "spiral"):
        return max(abs(value) for value in piece.values)
    ds = np.linspace(0.0, piece.length_m, 32)
    heading = np.unwrap(piece.at(ds)[2])
    step = max(piece.length_m / 31, 1e-6)
    return float(np.max(np.abs(np.diff(heading))) / step)
