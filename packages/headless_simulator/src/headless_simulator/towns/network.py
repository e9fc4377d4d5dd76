"""Records of an OpenDRIVE file's content. Stations in metres; OpenDRIVE's axes (y north)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from headless_simulator.scene import Float64
from headless_simulator.towns.planview import Geometry

DRIVABLE = frozenset(
    (
        "driving",
        "bidirectional",
        "entry",
        "exit",
        "onRamp",
        "offRamp",
        "connectingRamp",
        "slipLane",
        "mwyEntry",
        "mwyExit",
    )
) | {"bus", "taxi", "HOV"}
PAVED = (
    DRIVABLE
    | frozenset(("stop", "shoulder", "parking", "biking", "restricted", "border", "none", "tram", "rail", "roadWorks"))
    | {"special1", "special2", "special3"}
)
WALKABLE = frozenset(["sidewalk", "walking"])
SHORTEST_SECTION_M = 1e-3  # shorter lane sections have no surface


@dataclass(frozen=True, slots=True, eq=False)
class Cubics:
    """Piecewise cubic a + b ds + c ds^2 + d ds^3; rows of ``coefficients`` start at ``starts``.

    Before the first record the value is the first record's ``a``; without records it is 0.
    """

    starts: Float64
    coefficients: Float64

    @classmethod
    def of(cls, records: list[tuple[float, float, float, float, float]]) -> Cubics:
        """Build from (s, a, b, c, d) in any order."""
        table = np.array(sorted(records, key=lambda record: record[0]), dtype=np.float64).reshape(-1, 5)
        return cls(np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:]))

    def at(self, s: Float64) -> Float64:
        """Return the values at stations (metres), of the shape of ``s``."""
        if not len(self.starts):
            return np.zeros_like(s)
        row = np.clip(np.searchsorted(self.starts, s, side="right") - 1, 0, None)
        ds = np.maximum(s - self.starts[row], 0.0)
        a, b, c, d = np.moveaxis(self.coefficients[row], -1, 0)
        return np.asarray(a + ds * (b + ds * (c + ds * d)), dtype=np.float64)

    @property
    def present(self) -> bool:
        """Return whether it is not zero everywhere."""
        return bool(np.any(self.coefficients))


@dataclass(frozen=True, slots=True)
class Mark:
    """A lane's outer line from ``s_offset`` on."""

    s_offset: float
    kind: str
    colour: str
    width_m: float


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """One lane of a section; ``width`` is empty if the file has ``border`` instead."""

    number: int
    kind: str
    level: bool
    width: Cubics
    border: Cubics
    raised: Cubics
    marks: tuple[Mark, ...]
    predecessor: int | None
    successor: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """Lanes from station ``s`` on, by number (left positive, right negative, 0 the centre line)."""

    s: float
    lanes: dict[int, Lane]


@dataclass(frozen=True, slots=True)
class RoadSignal:
    """A signal, or a reference to one, on a road.

    Attributes:
        number: signal id.
        kind: OpenDRIVE type, "1000001" for lights; "" for a reference.
        orientation: "+", "-" or "none".
        lanes: lane numbers of its validity; None if unspecified: all lanes of its direction.
    """

    number: str
    kind: str
    value: str
    s: float
    t: float
    z_m: float
    orientation: str
    heading_rad: float
    lanes: tuple[int, ...] | None
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RoadObject:
    """An object beside or on a road; outline points are (u, v, z) in its own frame, or (s, t, dz) on the road."""

    number: str
    kind: str
    name: str
    s: float
    t: float
    z_m: float
    heading_rad: float
    size_m: tuple[float, float, float]
    outline_local: Float64
    outline_road: Float64


@dataclass(frozen=True, slots=True)
class Link:
    """The neighbour at a road's end: element "road" or "junction", its id, and the end of that road."""

    element: str
    number: str
    contact: str


@dataclass(frozen=True, slots=True, eq=False)
class Road:
    """One road. ``speeds`` are (station, km/h); ``junction`` is "" outside junctions; ``left_hand`` traffic."""

    number: str
    length_m: float
    junction: str
    plan: tuple[Geometry, ...]
    elevation: Cubics
    superelevation: Cubics
    lane_offset: Cubics
    sections: tuple[Section, ...]
    speeds: tuple[tuple[float, float], ...]
    signals: tuple[RoadSignal, ...]
    objects: tuple[RoadObject, ...]
    predecessor: Link | None
    successor: Link | None
    left_hand: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A whole file.

    Attributes:
        controllers: signal ids by controller id.
        junction_controllers: controller ids by junction id, in order of sequence.
        georeference: (latitude, longitude) of the origin, degrees.
    """

    roads: dict[str, Road]
    controllers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    junction_controllers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    georeference: tuple[float, float] = (0.0, 0.0)
