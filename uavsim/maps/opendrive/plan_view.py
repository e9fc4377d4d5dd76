"""The reference line of a road: lines, arcs, spirals and polynomials.

Spirals are integrated by Gauss-Legendre quadrature. On polynomials s is the length along the curve, so a table of lengths
gives their parameter. Source: ASAM OpenDRIVE 1.8, "Geometry".
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import FloatArray

_GAUSS: Final = np.polynomial.legendre.leggauss(20)
_TABLE: Final = 513  # rows of a polynomial's table of lengths


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """One geometry element.

    Attributes:
        s_m: s of the begin.
        x_m: x of the begin.
        y_m: y of the begin.
        heading_rad: heading at the start.
        length_m: length.
        curvature: curvature at begin and end, 1/m; None for polynomials.
        uv: (2, 4) coefficients of u and v by powers of the parameter; None for other kinds.
        parameter_end: last parameter of a polynomial.
        is_whole: the piece ends exactly at ``parameter_end``, despite rounding of its length.
    """

    s_m: float
    x_m: float
    y_m: float
    heading_rad: float
    length_m: float
    curvature: tuple[float, float] | None = None
    uv: FloatArray | None = None
    parameter_end: float = 0.0
    is_whole: bool = False

    def local(self, ds_m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return (M,) u, v, metres, and heading, radians, relative to the begin at (M,) lengths ``ds_m``."""
        if self.uv is not None:
            return self._polynomial(ds_m)
        assert self.curvature is not None
        begin, end = self.curvature
        if begin == end == 0.0:
            return ds_m, np.zeros_like(ds_m), np.zeros_like(ds_m)
        if begin == end:
            turned = begin * ds_m
            return np.sin(turned) / begin, (1.0 - np.cos(turned)) / begin, turned
        rate = (end - begin) / self.length_m
        nodes, weights = _GAUSS
        along = ds_m[:, None] * (nodes + 1.0) / 2.0
        turned = begin * along + rate * along**2 / 2.0
        scale = ds_m / 2.0
        u, v = (np.cos(turned) @ weights) * scale, (np.sin(turned) @ weights) * scale
        return u, v, begin * ds_m + rate * ds_m**2 / 2.0

    def on_map(self, ds_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (M, 2) map points, metres, and (M,) headings, radians, at (M,) lengths ``ds_m``."""
        u, v, turned = self.local(np.clip(ds_m, 0.0, self.length_m))
        cos, sin = np.cos(self.heading_rad), np.sin(self.heading_rad)
        points = np.stack([self.x_m + u * cos - v * sin, self.y_m + u * sin + v * cos], axis=-1)
        return points, self.heading_rad + turned

    def _polynomial(self, ds_m: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        assert self.uv is not None
        table = np.linspace(0.0, self.parameter_end, _TABLE)
        slopes = np.stack([np.polyval(np.polyder(row[::-1]), table) for row in self.uv])
        speed = np.hypot(*slopes)
        lengths = np.concatenate([[0.0], np.cumsum((speed[1:] + speed[:-1]) / 2.0 * np.diff(table))])
        p = np.interp(ds_m * (lengths[-1] / self.length_m) if self.is_whole else ds_m, lengths, table)
        u, v = (np.polyval(row[::-1], p) for row in self.uv)
        du, dv = (np.polyval(np.polyder(row[::-1]), p) for row in self.uv)
        return np.asarray(u), np.asarray(v), np.arctan2(dv, du)

    @property
    def sharpest(self) -> float:
        """Largest curvature, 1/m."""
        if self.uv is None:
            assert self.curvature is not None
            return max(abs(self.curvature[0]), abs(self.curvature[1]))
        table = np.linspace(0.0, self.parameter_end, 65)
        (du, dv), (ddu, ddv) = (
            [np.polyval(np.polyder(row[::-1], order), table) for row in self.uv] for order in (1, 2)
        )
        return float(np.max(np.abs(du * ddv - dv * ddu) / np.maximum(np.hypot(du, dv), 1e-6) ** 3))


class PlanView:
    """A reference line of at least one piece."""

    def __init__(self, pieces: list[Piece]) -> None:
        """Store the pieces, ascending in s."""
        self.pieces = pieces
        self.s_m = np.array([piece.s_m for piece in pieces])
        self.sharpest = np.array([piece.sharpest for piece in pieces])

    def __call__(self, s_m: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return (M, 2) map points, metres, and (M,) headings, radians, at (M,) s."""
        point, heading = np.empty((len(s_m), 2)), np.empty(len(s_m))
        which = np.maximum(np.searchsorted(self.s_m, s_m + 1e-9, side="right") - 1, 0)
        order = np.argsort(which, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(which[order])) + 1) if len(order) else ():
            piece = self.pieces[which[rows[0]]]
            point[rows], heading[rows] = piece.on_map(s_m[rows] - piece.s_m)
        return point, heading
