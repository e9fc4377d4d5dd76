"""Piecewise cubic polynomials: widths, offsets, heights and tilts along a road."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray

_JUMP_M: Final = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Cubics:
    """Pieces ``a + b ds + c ds^2 + d ds^3``, each up to the begin of the next one.

    Attributes:
        s_m: (N,) ascending begins of the pieces.
        abcd: (N, 4) coefficients.
    """

    s_m: FloatArray
    abcd: FloatArray

    def __call__(self, s_m: FloatArray) -> FloatArray:
        """Return (M,) values at (M,) s; 0 before the first piece."""
        piece, ds = self._piece(s_m)
        a, b, c, d = self.abcd[piece].T
        return np.where(ds < 0, 0.0, a + ds * (b + ds * (c + ds * d)))

    def bend(self, s_m: FloatArray) -> FloatArray:
        """Return (M,) absolute second derivatives at (M,) s."""
        piece, ds = self._piece(s_m)
        return np.asarray(np.abs(2 * self.abcd[piece, 2] + 6 * self.abcd[piece, 3] * ds))

    def jumps_m(self) -> FloatArray:
        """Return the (K,) s at which the value jumps by more than a millimetre."""
        a, b, c, d = self.abcd[:-1].T
        ds = np.diff(self.s_m)
        jumps = np.abs(self.abcd[1:, 0] - (a + ds * (b + ds * (c + ds * d)))) > _JUMP_M
        return np.asarray(self.s_m[1:][jumps])

    def part(self, low_m: float, high_m: float) -> "Cubics":
        """Return the pieces from the one at ``low_m`` to the one at ``high_m``."""
        first = max(int(np.searchsorted(self.s_m, low_m, side="right")) - 1, 0)
        last = max(int(np.searchsorted(self.s_m, high_m, side="right")), first + 1)
        return Cubics(self.s_m[first:last], self.abcd[first:last])

    @property
    def is_zero(self) -> bool:
        """Whether all values are 0."""
        return not self.abcd.any()

    def _piece(self, s_m: FloatArray) -> tuple[IntArray, FloatArray]:
        piece = np.maximum(np.searchsorted(self.s_m, s_m + 1e-9, side="right") - 1, 0)
        return piece, np.where(s_m + 1e-9 < self.s_m[0], -1.0, np.maximum(s_m - self.s_m[piece], 0.0))


ZERO = Cubics(np.zeros(1), np.zeros((1, 4)))


def cubics(rows: Iterable[tuple[float, float, float, float, float]]) -> Cubics:
    """Return the pieces of rows ``s, a, b, c, d`` in any order; the last of rows with equal s counts."""
    table = np.array(list(rows), dtype=np.float64)
    if not len(table):
        return ZERO
    table = table[np.argsort(table[:, 0], kind="stable")]
    return Cubics(table[:, 0], table[:, 1:])
