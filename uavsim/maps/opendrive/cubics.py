"""Cubic polynomials piece by piece: widths, offsets, heights and tilts along a road."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray

_JUMP_M: Final = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Cubics:
    """Pieces ``a + b ds + c ds^2 + d ds^3``, each from its own s to the next one's.

    Attributes:
        s_m: (N,) where each begins, rising.
        abcd: (N, 4) coefficients.
    """

    s_m: FloatArray
    abcd: FloatArray

    def __call__(self, s_m: FloatArray) -> FloatArray:
        """Evaluate at (M,) places; 0 before the first piece."""
        piece, ds = self._piece(s_m)
        a, b, c, d = self.abcd[piece].T
        return np.where(ds < 0, 0.0, a + ds * (b + ds * (c + ds * d)))

    def slope(self, s_m: FloatArray) -> FloatArray:
        """Return the derivative at (M,) places; 0 before the first piece."""
        piece, ds = self._piece(s_m)
        _, b, c, d = self.abcd[piece].T
        return np.where(ds < 0, 0.0, b + ds * (2 * c + ds * 3 * d))

    def bend(self, s_m: FloatArray) -> FloatArray:
        """Return the size of the second derivative at (M,) places."""
        piece, ds = self._piece(s_m)
        return np.asarray(np.abs(2 * self.abcd[piece, 2] + 6 * self.abcd[piece, 3] * ds))

    def jumps_m(self) -> FloatArray:
        """Return where a piece begins with another value than the one before ends with, by a millimetre and more."""
        a, b, c, d = self.abcd[:-1].T
        ds = np.diff(self.s_m)
        jumps = np.abs(self.abcd[1:, 0] - (a + ds * (b + ds * (c + ds * d)))) > _JUMP_M
        return np.asarray(self.s_m[1:][jumps])

    def part(self, low_m: float, high_m: float) -> "Cubics":
        """Return the pieces between two places: the one that holds at ``low_m`` and those after it."""
        first = max(int(np.searchsorted(self.s_m, low_m, side="right")) - 1, 0)
        last = max(int(np.searchsorted(self.s_m, high_m, side="right")), first + 1)
        return Cubics(self.s_m[first:last], self.abcd[first:last])

    @property
    def is_nothing(self) -> bool:
        """True where it is 0 everywhere."""
        return not self.abcd.any()

    def _piece(self, s_m: FloatArray) -> tuple[IntArray, FloatArray]:
        piece = np.maximum(np.searchsorted(self.s_m, s_m + 1e-9, side="right") - 1, 0)
        return piece, np.where(s_m + 1e-9 < self.s_m[0], -1.0, np.maximum(s_m - self.s_m[piece], 0.0))


NOTHING = Cubics(np.zeros(1), np.zeros((1, 4)))


def cubics(rows: Iterable[tuple[float, float, float, float, float]]) -> Cubics:
    """Return the pieces of rows ``s, a, b, c, d`` in any order; of two at one s the later one counts."""
    table = np.array(list(rows), dtype=np.float64)
    if not len(table):
        return NOTHING
    table = table[np.argsort(table[:, 0], kind="stable")]
    return Cubics(table[:, 0], table[:, 1:])
