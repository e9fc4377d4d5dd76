"""Pixels of a dynamic vision sensor, which report level crossings of their brightness.

Source: the behaviour of CARLA's DVS camera. Each pixel stores the level of its last event. Brightness is interpolated
linearly between two images; an event is due whenever it differs by one threshold from that level.
"""

# ruff: noqa: PLR0917, D417 (kernels take their buffers by place)
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import Number, kernel
from headless_simulator.scene import Float32, Int32, UInt8

Int64: TypeAlias = npt.NDArray[np.int64]
Events: TypeAlias = npt.NDArray[np.void]

EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("t_ns", "<i8"), ("brighter", "?")])
"""One event in CARLA's packing: column, row, simulated time in ns, whether it became brighter."""

_LEAST_STEP: Final = 0.01  # CARLA's least noisy threshold; also keeps a threshold of 0 from endless events
_LEAST_CHANGE: Final = 1e-6
_MOST_EVENTS: Final = 1 << 23  # an image (104 MiB)


@dataclass(frozen=True, slots=True)
class Tuning:
    """Parameters of the pixels.

    Attributes:
        thresholds: brightness steps up and down per event: natural logarithms, or grey levels (0..255).
        sigmas: standard deviations of both.
        refractory_ns: dead time of a pixel after an event.
        log_eps: added to grey / 255 before the logarithm; None for brightness in grey levels.
    """

    thresholds: tuple[float, float]
    sigmas: tuple[float, float]
    refractory_ns: int
    log_eps: float | None


class EventPixels:
    """State of one sensor's pixels between images.

    Args:
        tuning: parameters of the pixels.
        rng: random generator of noisy thresholds.
    """

    def __init__(self, tuning: Tuning, rng: np.random.Generator) -> None:
        self._tuning, self._rng = tuning, rng
        self._steps = np.array([*tuning.thresholds, *tuning.sigmas], np.float32)
        self._time_ns = 0
        self._brightness: Float32 = np.zeros(0, np.float32)
        self._level: Float32 = np.zeros(0, np.float32)
        self._last_ns: Int64 = np.zeros(0, np.int64)

    def update(self, bgra: UInt8, time_ns: int) -> Events:
        """Process the next image.

        Args:
            bgra: (H, W, 4) uint8.
            time_ns: simulated time.

        Returns:
            (N,) ``EVENT`` by time, then row, then column; none for the first image. At most 8,388,608: above that, every
            second, third, ... event is reported.
        """
        now = np.empty(bgra.shape[0] * bgra.shape[1], np.float32)
        brightness(bgra.reshape(-1, 4), -1.0 if self._tuning.log_eps is None else self._tuning.log_eps, now)
        if not self._brightness.size:
            self._level, self._last_ns = now.copy(), np.zeros(now.size, np.int64)
            events: Events = np.empty(0, EVENT)
        else:
            events = self._compare(now, time_ns - self._time_ns, bgra.shape[1])
        self._brightness, self._time_ns = now, time_ns
        return events

    def _compare(self, now: Float32, delta_ns: int, width: int) -> Events:
        noisy = bool(self._steps[2:].any())
        noise = self._rng.standard_normal(now.size if noisy else 0, np.float32)
        step, crossings = np.empty(now.size, np.float32), np.empty(now.size, np.int32)
        found = count_crossings(self._level, self._brightness, now, self._steps, noise, step, crossings)
        every = -(-found // _MOST_EVENTS)
        t_ns, mark = np.empty(found, np.int64), np.empty(found, np.int64)
        reported = report_crossings(
            self._level, self._brightness, now, step, crossings, self._last_ns, self._time_ns, delta_ns,
            self._tuning.refractory_ns, max(every, 1), t_ns, mark,
        )  # fmt: skip
        order = np.argsort(t_ns[:reported], kind="stable")
        events = np.empty(reported, EVENT)
        mark = mark[order]
        events["t_ns"], events["brighter"] = t_ns[order], mark & 1
        events["y"], events["x"] = np.divmod(mark >> 1, width)
        return events


@kernel()
def brightness(bgra: UInt8, log_eps: float, out: Float32) -> None:
    """Write (P,) brightness of (P, 4) BGRA pixels: grey, or log(log_eps + grey / 255) if ``log_eps`` is above 0."""
    for i in range(out.shape[0]):
        grey = np.float32(0.2989 * bgra[i, 2] + 0.587 * bgra[i, 1] + 0.114 * bgra[i, 0])
        out[i] = math.log(log_eps + grey / 255.0) if log_eps > 0.0 else grey


@kernel()
def count_crossings(
    level: Float32, before: Float32, now: Float32, steps: Float32, noise: Float32, step: Float32, crossings: Int32
) -> int:
    """Count the levels that each pixel crosses between two images.

    Args:
        level: (P,) brightness of each pixel's last event.
        steps: (4,) thresholds up and down, their standard deviations.
        noise: (P,) standard normal, or empty.
        step: (P,) out, the pixel's threshold, negative if it became darker.
        crossings: (P,) out, number of levels.

    Returns:
        The sum of crossings.
    """
    total = 0
    for i in range(now.shape[0]):
        crossings[i] = 0
        if abs(before[i] - now[i]) <= _LEAST_CHANGE:
            continue
        rises = now[i] >= before[i]
        size = steps[0] if rises else steps[1]
        sigma = steps[2] if rises else steps[3]
        if sigma > 0.0:
            size += sigma * noise[i]
        size = max(size, np.float32(_LEAST_STEP))
        step[i] = size if rises else -size
        at: Number = np.float32(level[i] + step[i])
        while (before[i] < at <= now[i]) if rises else (before[i] > at >= now[i]):
            crossings[i] += 1
            at = np.float32(at + step[i])
        total += crossings[i]
    return total


@kernel()
def report_crossings(
    level: Float32,
    before: Float32,
    now: Float32,
    step: Float32,
    crossings: Int32,
    last_ns: Int64,
    start_ns: int,
    delta_ns: int,
    refractory_ns: int,
    every: int,
    t_ns: Int64,
    mark: Int64,
) -> int:
    """Write time and mark (pixel * 2, plus 1 for brighter) of each crossing, and update levels and last times.

    As in CARLA, a pixel in its dead time updates its level.

    Args:
        level, before, now, step, crossings, last_ns: (P,) of the pixels; ``level`` and ``last_ns`` (ns) are updated.
        every: report only every n-th crossing.
        t_ns, mark: (N,) out.

    Returns:
        The number of written events.
    """
    crossed, reported = 0, 0
    for i in range(now.shape[0]):
        for _ in range(crossings[i]):
            level[i] += step[i]
            share = (np.float64(level[i]) - before[i]) / (np.float64(now[i]) - before[i])
            at_ns = start_ns + np.int64(share * delta_ns)
            if last_ns[i] == 0 or at_ns - last_ns[i] >= refractory_ns:
                last_ns[i] = at_ns
                if crossed % every == 0:
                    t_ns[reported] = at_ns
                    mark[reported] = 2 * i + (1 if step[i] > 0 else 0)
                    reported += 1
                crossed += 1
    return reported
