"""Cubic splines through knots, as SciPy computes them, to the last bit: to import it takes a third of a second and 37 MB."""

from dataclasses import dataclass

import numpy as np

from uavsim.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Spline:
    """Values (K, ...) at growing knots (K,), with the slopes there; between two knots a cubic.

    Attributes:
        knots: (K,) growing.
        values: (K, ...) there.
        slopes: (K, ...) first derivatives there.
        closed: after the last knot comes the first.
    """

    knots: FloatArray
    values: FloatArray
    slopes: FloatArray
    closed: bool = False

    def __call__(self, at: FloatArray, *, derivative: bool = False) -> FloatArray:
        """Return the (N, ...) values at (N,) places, or the first derivatives."""
        first, last = self.knots[0], self.knots[-1]
        if self.closed:
            at = first + (at - first) % (last - first)
        step = _column(np.diff(self.knots), self.values)
        chord = np.diff(self.values, axis=0) / step
        bend = (self.slopes[:-1] + self.slopes[1:] - 2 * chord) / step
        third, second = bend / step, (chord - self.slopes[:-1]) / step - bend
        leg = np.clip(np.searchsorted(self.knots, at, side="right") - 1, 0, len(step) - 1)
        along = _column(at - self.knots[leg], self.values)
        square = along * along
        if derivative:
            return np.asarray(0.0 + self.slopes[leg] + second[leg] * along * 2.0 + third[leg] * square * 3.0)
        return np.asarray(
            0.0 + self.values[leg] + self.slopes[leg] * along + second[leg] * square + third[leg] * (square * along)
        )


def smooth(knots: FloatArray, values: FloatArray, *, closed: bool) -> Spline:
    """Return the spline whose second derivative has no steps.

    Args:
        knots: (K,) growing.
        values: (K, C) there; equal at both ends where it is closed.
        closed: it goes on from the last knot at the first; else it is straight at both ends.
    """
    step, count = np.diff(knots), len(knots)
    wide = step[:, None]
    chord = np.diff(values, axis=0) / wide
    lower, diagonal, upper = np.zeros(count), np.zeros(count), np.zeros(count)
    diagonal[1:-1], upper[1:-1], lower[1:-1] = 2 * (step[:-1] + step[1:]), step[:-1], step[1:]
    right = np.empty_like(values)
    right[1:-1] = 3 * (wide[1:] * chord[:-1] + wide[:-1] * chord[1:])
    if not closed:
        diagonal[0], upper[0], right[0] = 2 * step[0], step[0], 3 * (values[1] - values[0])
        diagonal[-1], lower[-1], right[-1] = 2 * step[-1], step[-1], 3 * (values[-1] - values[-2])
        return Spline(knots, values, _solved(lower, diagonal, upper, right))
    if count < 4:
        slope = np.zeros_like(values[0]) if count < 3 else (chord / wide).sum(axis=0) / (1.0 / wide).sum(axis=0)
        return Spline(knots, values, np.broadcast_to(slope, values.shape), closed=True)
    diagonal[0], upper[0] = 2 * (step[-1] + step[0]), step[-1]
    right[0] = 3 * (wide[0] * chord[-1] + wide[-1] * chord[0])
    right[-2] = 3 * (wide[-1] * chord[-2] + wide[-2] * chord[-1])
    rows = slice(count - 2)  # without the last knot but one, whose slope is found from what the others say of it
    corner = np.zeros((count - 2, 1))
    corner[0], corner[-1] = -step[0], -step[-3]
    own = _solved(lower[rows], diagonal[rows], upper[rows], right[rows])
    other = _solved(lower[rows], diagonal[rows], upper[rows], corner)
    one = (right[-2] - step[-2] * own[0] - step[-1] * own[-1]) / (
        2 * (step[-1] + step[-2]) + step[-2] * other[0] + step[-1] * other[-1]
    )
    slopes = own + one * other
    return Spline(knots, values, np.concatenate([slopes, one[None], slopes[:1]]), closed=True)


def monotone(knots: FloatArray, values: FloatArray) -> Spline:
    """Return the spline that is never above or below the two values around (Fritsch and Butland, 1984).

    Args:
        knots: (K,) growing.
        values: (K, ...) there.
    """
    step = _column(np.diff(knots), values)
    chord = np.diff(values, axis=0) / step
    slopes = np.zeros_like(values)
    if len(knots) == 2:
        slopes[:] = chord
        return Spline(knots, values, slopes)
    ahead, behind = 2 * step[1:] + step[:-1], step[1:] + 2 * step[:-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = (ahead / chord[:-1] + behind / chord[1:]) / (ahead + behind)
        turns = (np.sign(chord[1:]) != np.sign(chord[:-1])) | (chord[1:] == 0) | (chord[:-1] == 0)
        slopes[1:-1] = np.where(turns, 0.0, 1.0 / mean)
    slopes[0] = _end_slope(step[0], step[1], chord[0], chord[1])
    slopes[-1] = _end_slope(step[-1], step[-2], chord[-1], chord[-2])
    return Spline(knots, values, slopes)


def _end_slope(step: FloatArray, next_step: FloatArray, chord: FloatArray, next_chord: FloatArray) -> FloatArray:
    """Return the slope at an end, by three points and without overshooting (Moler, Numerical Computing with MATLAB, 3.6)."""
    slope = ((2 * step + next_step) * chord - step * next_chord) / (step + next_step)
    steep = (np.sign(chord) != np.sign(next_chord)) & (np.abs(slope) > 3.0 * np.abs(chord))
    return np.where(np.sign(slope) != np.sign(chord), 0.0, np.where(steep, 3.0 * chord, slope))


def _column(numbers: FloatArray, values: FloatArray) -> FloatArray:
    return numbers.reshape(-1, *(1,) * (values.ndim - 1))


def _solved(lower: FloatArray, diagonal: FloatArray, upper: FloatArray, right: FloatArray) -> FloatArray:
    """Solve for (N, C): a row has ``lower``, ``diagonal``, ``upper``; the larger pivot of two first (LAPACK: gtsv)."""
    below, on, above, found = lower[1:].copy(), diagonal.copy(), upper[:-1].copy(), right.copy()
    second = np.zeros(len(on))  # above ``above``, where rows were exchanged
    for i in range(len(on) - 1):
        if abs(on[i]) >= abs(below[i]):
            share = below[i] / on[i]
            on[i + 1] -= share * above[i]
            found[i + 1] -= share * found[i]
            continue
        share = on[i] / below[i]
        on[i], on[i + 1], above[i] = below[i], above[i] - share * on[i + 1], on[i + 1]
        if i < len(above) - 1:
            second[i], above[i + 1] = above[i + 1], -share * above[i + 1]
        found[i], found[i + 1] = found[i + 1].copy(), found[i] - share * found[i + 1]
    for i in reversed(range(len(on))):
        if i < len(on) - 1:
            found[i] -= above[i] * found[i + 1]
        if i < len(on) - 2:
            found[i] -= second[i] * found[i + 2]
        found[i] /= on[i]
    return found
