"""Traffic lights: one controller per junction cycles through its stages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import kernel
from headless_simulator.scene import Float64, Int32, SignalHead, UInt8
from headless_simulator.world import contact
from headless_simulator.world.table import Columns, Rows

RED: Final = 0
YELLOW: Final = 1
GREEN: Final = 2
OFF: Final = 3

GREEN_S: Final = 10.0
YELLOW_S: Final = 3.0
RED_S: Final = 2.0  # all red between two stages


@dataclass(slots=True, eq=False)
class _Junction:
    stages: list[list[int]]  # light numbers by stage
    stage: int = 0
    phase: int = GREEN
    elapsed_s: float = 0.0


@dataclass(slots=True, eq=False)
class Signals:
    """Every traffic light of a town, in the town's order.

    Attributes:
        heads: the town's descriptions.
        state: (N,) uint8 RED, YELLOW, GREEN or OFF.
        times_s: (N, 4) green, yellow, red, and time since the last change; columns ``green_s``, ``yellow_s``, ``red_s``,
            ``elapsed_s``.
        forced: (N,) bool, set by a client: such a light keeps its state until its junction's next phase change.
        frozen: True stops all cycles.
        held: like ``frozen``, but not reported to clients: a replay controls the lights.
        places: (N,) index of each light in its junction.
        opendrive_ids: (N,) signal ids as bytes.
    """

    heads: tuple[SignalHead, ...]
    state: UInt8 = field(init=False)
    times_s: Float64 = field(init=False)
    green_s: Float64 = field(init=False)
    yellow_s: Float64 = field(init=False)
    red_s: Float64 = field(init=False)
    elapsed_s: Float64 = field(init=False)
    forced: npt.NDArray[np.bool_] = field(init=False)
    places: Int32 = field(init=False)
    opendrive_ids: npt.NDArray[np.bytes_] = field(init=False)
    frozen: bool = False
    held: bool = False
    _junctions: list[_Junction] = field(init=False)
    _triggers: Float64 = field(init=False)

    def __post_init__(self) -> None:
        self.state = np.zeros(len(self.heads), np.uint8)
        self.times_s = np.tile([GREEN_S, YELLOW_S, RED_S, 0.0], (len(self.heads), 1))
        self.green_s, self.yellow_s, self.red_s, self.elapsed_s = self.times_s.T
        self.forced = np.zeros(len(self.heads), np.bool_)
        before: Counter[int] = Counter()
        self.places = np.zeros(len(self.heads), np.int32)
        for number, head in enumerate(self.heads):
            self.places[number] = before[head.group]
            before[head.group] += 1
        self.opendrive_ids = np.array([head.opendrive_id.encode() for head in self.heads], np.bytes_)
        groups: dict[int, dict[int, list[int]]] = {}
        for number, head in enumerate(self.heads):
            groups.setdefault(head.group, {}).setdefault(head.stage, []).append(number)
        self._junctions = [_Junction([stages[s] for s in sorted(stages)]) for _, stages in sorted(groups.items())]
        triggers = np.array([head.trigger for head in self.heads], np.float64).reshape(-1, 7)
        self._triggers = np.ascontiguousarray(triggers[:, [0, 1, 2, 6, 3, 4, 5]])  # boxes of ``contact``
        self.reset()

    def reset(self) -> None:
        """Restart every junction's cycle, so that images do not depend on earlier time."""
        for junction in self._junctions:
            junction.stage, junction.phase, junction.elapsed_s = 0, GREEN, 0.0
            self._show(junction)
        self.forced[:], self.elapsed_s[:] = False, 0.0

    def step(self, dt: float) -> None:
        """Advance the cycles by ``dt`` seconds."""
        if self.frozen or self.held:
            return
        self.elapsed_s += dt
        for junction in self._junctions:
            junction.elapsed_s += dt
            if junction.elapsed_s >= self._duration_s(junction) - 1e-9:
                self._advance(junction)

    def force(self, number: int, state: int) -> None:
        """Force the state of one light."""
        self.state[number] = state
        self.forced[number], self.elapsed_s[number] = True, 0.0

    def group_of(self, number: int) -> list[int]:
        """Return the light numbers of the same junction, including ``number``."""
        group = self.heads[number].group
        return [n for n, head in enumerate(self.heads) if head.group == group]

    def reset_group(self, number: int) -> None:
        """Restart the cycle of one light's junction."""
        for junction in self._junctions:
            if any(number in stage for stage in junction.stages):
                junction.stage, junction.phase, junction.elapsed_s = 0, GREEN, 0.0
                self._release(junction)
                self._show(junction)

    def at_lights(self, rows: Rows, columns: Columns) -> None:
        """Write the light number of each vehicle in (N,) rows to ``columns.signal``."""
        if len(self._triggers):
            _find_lights(rows, columns.signal, (columns.pose, columns.half, columns.offset), self._triggers)

    def _duration_s(self, junction: _Junction) -> float:
        times_s = {GREEN: self.green_s, YELLOW: self.yellow_s, RED: self.red_s}[junction.phase]
        return float(times_s[junction.stages[junction.stage][0]])

    def _advance(self, junction: _Junction) -> None:
        junction.elapsed_s = 0.0
        if junction.phase == RED:
            junction.stage = (junction.stage + 1) % len(junction.stages)
            junction.phase = GREEN
        else:
            junction.phase = YELLOW if junction.phase == GREEN else RED
        self._release(junction)
        self._show(junction)

    def _release(self, junction: _Junction) -> None:
        for stage in junction.stages:
            self.forced[stage] = False

    def _show(self, junction: _Junction) -> None:
        for order, stage in enumerate(junction.stages):
            for number in stage:
                colour = junction.phase if order == junction.stage else RED
                if not self.forced[number] and self.state[number] != colour:
                    self.state[number], self.elapsed_s[number] = colour, 0.0


@kernel(error_model="python")
def _find_lights(rows: Rows, signal: Int32, bodies: tuple[Float64, Float64, Float64], triggers: Float64) -> None:
    """Find the light of each vehicle: the trigger box that any part of it overlaps, as in CARLA's overlap events."""
    pose, half, offset = bodies
    boxes = contact.boxes_of(rows, pose, half, offset)
    for n, row in enumerate(rows):
        signal[row] = contact.first_hit(boxes[n], triggers)
