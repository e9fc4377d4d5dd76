"""Data model of an OpenDRIVE file; metres, radians, the file's frame (``map``)."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from uavsim.geometry.geographic import DEFAULT_ORIGIN_DEG_M, GeographicOrigin
from uavsim.maps.opendrive.cubics import ZERO, Cubics
from uavsim.maps.opendrive.plan_view import PlanView
from uavsim.typing import FloatArray

FINE_M = 0.01  # tolerance of chords
_BEFORE_M = 1e-6  # before the end of a section, where the next lane offset may jump
_RAMP_M = 0.5  # length of the ramp of a border that jumps
_RAMP_AT_BEGIN_M = 0.05  # the same at the start of a road
_SAME_M = 1e-4  # points nearer to an end are the end
_WIDE_M = 12.0  # distance from the reference line up to which the tolerance holds


class Fault(NamedTuple):
    """An omitted or invalid part of a file."""

    road: str
    s_m: float
    text: str

    def __str__(self) -> str:
        return f"road {self.road}, s {self.s_m:.2f}: {self.text}" if self.road else self.text


class RoadLink(NamedTuple):
    """The link of a road's end; ``kind`` is road or junction."""

    kind: str
    id: str


class Mark(NamedTuple):
    """The road mark on a lane's outer border from ``s_m`` on: OpenDRIVE's type and colour."""

    s_m: float
    type: str
    colour: str


class Speed(NamedTuple):
    """The speed limit from ``s_m`` on, m/s; None for no limit."""

    s_m: float
    limit_mps: float | None


@dataclass(slots=True, eq=False)
class Lane:
    """One lane of a section; ids increase to the left, 0 is the centre line.

    Attributes:
        heights: (N, 3) s from the section's begin, and heights of inner and outer border above the road, metres.
    """

    id: int
    type: str
    width: Cubics
    is_border: bool = False
    level: bool = False
    heights: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    marks: list[Mark] = field(default_factory=list)
    speeds: list[Speed] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    successors: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Section:
    """A lane section from ``s_m`` to ``end_m``."""

    s_m: float
    end_m: float
    lanes: dict[int, Lane]

    def side(self, sign: int) -> list[Lane]:
        """Return the lanes left (1) or right (-1) of the reference line, from it outwards."""
        return [self.lanes[i] for i in sorted(self.lanes, key=abs) if i * sign > 0]


@dataclass(slots=True, eq=False)
class RoadObject:
    """An object beside or on a road.

    Attributes:
        outline: (N, 3) corners u, v, z in the object's frame, or s, t, z if ``on_road``; (0, 3) without an outline.
        size_m: length, width.
    """

    id: str
    type: str
    name: str
    s_m: float
    t_m: float
    z_m: float
    heading_rad: float
    size_m: tuple[float, float]
    outline: FloatArray
    on_road: bool = False


@dataclass(slots=True, eq=False)
class Signal:
    """A signal or a reference to a signal of another road (``reference``), with the ranges of lanes that it controls."""

    id: str
    type: str
    name: str
    s_m: float
    t_m: float
    z_m: float
    heading_rad: float
    orientation: str
    size_m: tuple[float, float]
    lanes: list[tuple[int, int]]
    dynamic: bool = False
    reference: bool = False


@dataclass(slots=True, eq=False)
class Road:
    """One road."""

    id: str
    name: str
    length_m: float
    junction: str
    left_hand: bool
    plan: PlanView
    elevation: Cubics = ZERO
    superelevation: Cubics = ZERO
    lane_offset: Cubics = ZERO
    predecessor: RoadLink | None = None
    successor: RoadLink | None = None
    sections: list[Section] = field(default_factory=list)
    objects: list[RoadObject] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    speeds: list[Speed] = field(default_factory=list)

    @property
    def in_junction(self) -> bool:
        """Whether the road belongs to a junction."""
        return self.junction not in {"-1", ""}

    def forward(self, lane_id: int) -> bool:
        """Return whether traffic on a lane runs along s."""
        return (lane_id < 0) != self.left_hand

    def limit_mps(self, lane: Lane, section: Section, s_m: float) -> float | None:
        """Return the speed limit on a lane at s, m/s: the lane's, else the road's; None without a limit."""
        for speeds, at in ((lane.speeds, s_m - section.s_m), (self.speeds, s_m)):
            limits = [speed.limit_mps for speed in speeds if speed.s_m <= at + _BEFORE_M]
            if limits:
                return limits[-1]
        return None

    def xyz(self, s_m: FloatArray, t_m: FloatArray, dz_m: FloatArray | float = 0.0) -> FloatArray:
        """Convert road coordinates to map points.

        Args:
            s_m: (M,) s along the road.
            t_m: (M,) t to the left, or (B, M) for several lines along the road.
            dz_m: heights above the road, in the shape of ``t_m``.

        Returns:
            (M, 3) or (B, M, 3) points in the map frame, metres.
        """
        point, heading = self.plan(s_m)
        tilt = self.superelevation(s_m)
        across = t_m * np.cos(tilt)
        x, y = point[:, 0] - np.sin(heading) * across, point[:, 1] + np.cos(heading) * across
        return np.stack([x, y, self.elevation(s_m) + t_m * np.sin(tilt) + dz_m], axis=-1)

    def borders_m(self, section: Section, s_m: FloatArray) -> dict[int, FloatArray]:
        """Return (M,) t of each lane's outer border at (M,) s by lane id, metres; lane 0 is the centre line."""
        borders = {0: self.lane_offset(np.minimum(s_m, section.end_m - _BEFORE_M))}
        for sign in (1, -1):
            border_m = borders[0]
            for lane in section.side(sign):
                width_m = lane.width(s_m - section.s_m)
                border_m = borders[0] + width_m if lane.is_border else border_m + sign * np.maximum(width_m, 0.0)
                borders[lane.id] = border_m
        return borders

    def heading_rad(self, s_m: float) -> float:
        """Return the heading of the reference line in the map frame."""
        return float(self.plan(np.array([s_m]))[1][0])

    def grid(
        self, begin_m: float, end_m: float, *, lanes: Section | None = None, within_m: float = FINE_M
    ) -> FloatArray:
        """Return (M,) s, metres, so that chords between them stay within a tolerance of all borders.

        Args:
            begin_m: first s.
            end_m: last s.
            lanes: section of the borders; None for the reference line alone.
            within_m: the tolerance.
        """
        along = [
            self.lane_offset.part(begin_m, end_m),
            *(p.part(begin_m, end_m) for p in (self.elevation, self.superelevation)),
        ]
        pieces = slice(*np.searchsorted(self.plan.s_m, [begin_m, end_m]))
        knots = [self.plan.s_m[pieces], *(profile.s_m for profile in along)]
        widths = [] if lanes is None else [lane.width for lane in lanes.lanes.values()]
        shift = 0.0 if lanes is None else lanes.s_m
        knots += [width.s_m + shift for width in widths]
        marks = [] if lanes is None else [mark.s_m for lane in lanes.lanes.values() for mark in lane.marks]
        knots.append(np.array(marks) + shift)  # begins of paint
        jumps = np.concatenate([along[0].jumps_m(), *(width.jumps_m() + shift for width in widths)])
        at_begin = (jumps > begin_m) & (jumps < begin_m + _SAME_M)
        knots += [jumps - _RAMP_M, np.full(int(at_begin.any()), begin_m + _RAMP_AT_BEGIN_M)]
        inner = np.unique(np.ceil(np.concatenate(knots) * 1e6) / 1e6)  # rounded up, so that a piece holds at its knot
        ends = np.concatenate([[begin_m], inner[(inner > begin_m + _SAME_M) & (inner < end_m - _SAME_M)], [end_m]])
        low, long = ends[:-1], np.diff(ends)
        bend = self._bend(low, long, widths, shift)
        count = np.clip(np.ceil(long / np.sqrt(8 * within_m / np.maximum(bend, 1e-9))), 1, 2000).astype(np.int64)
        first = np.repeat(np.cumsum(count) - count, count)
        part = (np.arange(count.sum()) - first) / np.repeat(count, count)
        return np.concatenate([np.repeat(low, count) + part * np.repeat(long, count), [end_m]])

    def _bend(self, low: FloatArray, long: FloatArray, widths: list[Cubics], shift: float) -> FloatArray:
        """Return (N,) upper bounds of curvature in each interval, 1/m."""
        first = low + np.minimum(2 * _SAME_M, long / 2)  # skips shorter pieces
        which = np.maximum(np.searchsorted(self.plan.s_m, first, side="right") - 1, 0)
        sharp = self.plan.sharpest[which]
        bend = sharp * (1.0 + _WIDE_M * sharp)
        for at in (first, low + long * (1 - 1e-6)):
            more = sum((width.bend(at - shift) for width in widths), self.lane_offset.bend(at))
            bend = np.maximum(bend, sharp * (1.0 + _WIDE_M * sharp) + more)
        return np.minimum(bend, 1e4)


@dataclass(slots=True, eq=False)
class Junction:
    """A junction: connecting lanes by incoming lane, ``(road, lane) -> [(connecting road, contact, lane)]``."""

    id: str
    lanes: dict[tuple[str, int], list[tuple[str, str, int]]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Network:
    """A file: roads and junctions in its order, and its faults.

    Attributes:
        origin_deg_m: geographic origin of the frame, by the geoReference.
    """

    roads: dict[str, Road]
    junctions: dict[str, Junction]
    faults: list[Fault]
    name: str = ""
    origin_deg_m: GeographicOrigin = DEFAULT_ORIGIN_DEG_M
