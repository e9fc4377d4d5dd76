"""The lanes of a network: borders as points, directions of traffic, and connections.

A piece is a lane of one section. Pieces of one road that only follow each other are one ``LaneRecord``.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from uavsim.errors import InputError
from uavsim.maps.opendrive.model import FINE_M, Fault, Lane, Network, Road, Section
from uavsim.typing import FloatArray

DRIVING: Final = frozenset(
    {
        "driving",
        "bidirectional",
        "entry",
        "exit",
        "onRamp",
        "offRamp",
        "connectingRamp",
        "slipLane",
        "bus",
        "taxi",
        "HOV",
    }
)
"""Types of driving lanes; traffic on a ``bidirectional`` one has the direction of its side of the road."""

Key: TypeAlias = tuple[str, int, int]
"""Id of the road, index of its section, id of the lane."""

_NEAR_M: Final = 1e-3
_WILD_M: Final = 1000.0
_MOST_TURNED_RAD: Final = 40.0
_PART_OF_WIDTH: Final = 0.004
_PROBES: Final = 9
_MOST_POINTS: Final = 3_000_000
_MOST_LANES_M: Final = 5e6


@dataclass(slots=True, eq=False)
class LanePiece:
    """A lane of one section, in the direction of its traffic.

    Attributes:
        key: key of the lane.
        road: road of the lane.
        section: section of the lane.
        lane: the lane.
        forward: whether traffic runs along s.
        s_m: (M,) s in the direction of traffic.
        left_m: (M, 3) left border in the map frame.
        right_m: (M, 3) right border in the map frame.
        centre_m: (M, 3) centre line.
        yaw_rad: (M,) direction of the centre line.
    """

    key: Key
    road: Road
    section: Section
    lane: Lane
    forward: bool
    s_m: FloatArray
    left_m: FloatArray
    right_m: FloatArray
    centre_m: FloatArray
    yaw_rad: FloatArray

    @property
    def ring_m(self) -> FloatArray:
        """(2 M, 3) polygon, counter-clockwise."""
        return np.concatenate([self.right_m, self.left_m[::-1]])


@dataclass(slots=True, eq=False)
class LaneRecord:
    """Pieces of one road that follow each other.

    Attributes:
        pieces: the pieces in the direction of traffic.
        is_change: whether it is a lane change, with a single piece across two lanes.
        is_isolated: whether no lane leads to it or from it, such as a turning strip between the directions.
    """

    pieces: list[LanePiece]
    is_change: bool = False
    is_isolated: bool = False

    @property
    def is_connector(self) -> bool:
        """Whether it is inside a junction or a lane change."""
        return self.road.in_junction or self.is_change

    @property
    def road(self) -> Road:
        """The road of the lane."""
        return self.pieces[0].road

    @property
    def forward(self) -> bool:
        """Whether traffic runs along s."""
        return self.pieces[0].forward

    def joined(self, name: str) -> FloatArray:
        """Return an (M, ...) array of all pieces, end to end, without duplicate points."""
        parts: list[FloatArray] = [getattr(piece, name) for piece in self.pieces]
        return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])

    @property
    def ring_m(self) -> FloatArray:
        """(2 M, 3) polygon, counter-clockwise."""
        return np.concatenate([self.joined("right_m"), self.joined("left_m")[::-1]])


def lengths_m(line_m: FloatArray) -> FloatArray:
    """Return (N,) horizontal lengths from the begin of a line to its (N, 3) points, metres."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line_m[:, :2], axis=0), axis=1))])


def points_at(at: FloatArray, along: FloatArray, line_m: FloatArray) -> FloatArray:
    """Return (M, 3) points of a line at (M,) lengths; ``along`` are the (N,) lengths of its (N, 3) points."""
    return np.stack([np.interp(at, along, line_m[:, axis]) for axis in range(3)], axis=1)


def lane_pieces(network: Network) -> Iterator[LanePiece]:
    """Yield the lanes of all sections and types, except lanes with zero or invalid width.

    Raises:
        InputError: the lanes are too long or have too many points.
    """
    points, length_m = 0, 0.0
    for road in network.roads.values():
        for number, section in enumerate(road.sections):
            if section.end_m - section.s_m > 1e-9:
                for piece in _section_pieces(network, road, number, section):
                    points += len(piece.s_m)
                    length_m += (section.end_m - section.s_m) * (piece.lane.type in DRIVING)
                    if points > _MOST_POINTS or length_m > _MOST_LANES_M:
                        most = f"{_MOST_LANES_M / 1000:,.0f} km, or {_MOST_POINTS:,} points, of lanes"
                        raise InputError(f"{network.name}: more than {most}; split the map")
                    yield piece


def _section_pieces(network: Network, road: Road, number: int, section: Section) -> Iterator[LanePiece]:
    s = road.grid(section.s_m, section.end_m, lanes=section, within_m=_within_m(section))
    inside = np.clip(s, section.s_m, section.end_m - 1e-9)  # the next section's widths begin at its end
    borders = road.borders_m(section, inside)
    step = min(_NEAR_M, (section.end_m - section.s_m) / 4)
    before, after = np.maximum(s - step, section.s_m), np.minimum(s + step, section.end_m - 1e-9)
    near = [road.borders_m(section, at) for at in (before, after)]
    for sign in (1, -1):
        inner = 0
        for lane in section.side(sign):
            ids, inner = (inner, lane.id), lane.id
            across = np.stack([borders[ids[0]], borders[ids[1]]])
            if not (np.isfinite(across).all() and np.abs(across).max() < _WILD_M):
                network.faults.append(
                    Fault(road.id, section.s_m, f"lane {lane.id} is left out: its width is impossible")
                )
                continue
            if np.abs(across[1] - across[0]).max() < 1e-3:
                continue
            points = road.xyz(s, across, _heights(lane, inside - section.s_m))
            if lane.level:
                points[1, :, 2] += points[0, :, 2] - points[1, :, 2]
            ends = [road.xyz(at, (t[ids[0]] + t[ids[1]]) / 2) for at, t in zip((before, after), near, strict=True)]
            ahead = (ends[1] - ends[0])[:, :2]
            yaw = np.arctan2(ahead[:, 1], ahead[:, 0])
            if np.abs((np.diff(yaw) + np.pi) % (2 * np.pi) - np.pi).sum() > _MOST_TURNED_RAD:
                text = f"lane {lane.id} is left out: it makes too many turns"
                network.faults.append(Fault(road.id, section.s_m, text))
                continue
            yield _turned(road, number, section, lane, s, points, yaw)


def _within_m(section: Section) -> float:
    """Return the tolerance of chords along the borders of a section; narrow lanes need a smaller one."""
    places = np.linspace(0.0, section.end_m - section.s_m, _PROBES)
    widths = [float(np.mean(lane.width(places))) for lane in section.lanes.values() if lane.type in DRIVING]
    narrow = min((wide for wide in widths if wide > _NEAR_M), default=FINE_M / _PART_OF_WIDTH)
    return float(np.clip(_PART_OF_WIDTH * narrow, _NEAR_M / 2, FINE_M))


def _heights(lane: Lane, ds_m: FloatArray) -> FloatArray:
    """Return (2, M) heights of a lane's inner and outer border above the road."""
    if not len(lane.heights):
        return np.zeros((2, len(ds_m)))
    row = np.maximum(np.searchsorted(lane.heights[:, 0], ds_m + 1e-9, side="right") - 1, 0)
    return lane.heights[row, 1:].T


def _turned(  # noqa: PLR0917 - the parts of one piece, in the order of its fields
    road: Road, number: int, section: Section, lane: Lane, s_m: FloatArray, points: FloatArray, yaw: FloatArray
) -> LanePiece:
    """Return a piece in the direction of traffic from (2, M, 3) inner and outer border."""
    forward = road.forward(lane.id)
    left, right = (points[1], points[0]) if lane.id > 0 else (points[0], points[1])
    centre = points.mean(axis=0)
    if not forward:
        s_m, centre, yaw = s_m[::-1], centre[::-1], yaw[::-1] + np.pi
        left, right = right[::-1], left[::-1]
    return LanePiece((road.id, number, lane.id), road, section, lane, forward, s_m, left, right, centre, yaw)


def leads_to(network: Network, key: Key) -> list[Key]:
    """Return the successors of a lane in the direction of traffic, by the links of the file.

    As in CARLA, the direction of traffic on the next lane determines the end of the next road.
    """
    road = network.roads[key[0]]
    lane = road.sections[key[1]].lanes[key[2]]
    forward = road.forward(lane.id)
    ids = lane.successors if forward else lane.predecessors
    beside = key[1] + (1 if forward else -1)
    if 0 <= beside < len(road.sections):
        return [(road.id, beside, i) for i in ids]
    link = road.successor if forward else road.predecessor
    if link is None:
        return []
    if link.kind == "road":
        return [entry for i in ids for entry in _entry(network, link.id, i)]
    junction = network.junctions.get(link.id)
    targets = junction.lanes.get((road.id, lane.id), []) if junction else []
    return [entry for other, _, i in targets for entry in _entry(network, other, i)]


def _entry(network: Network, road_id: str, lane_id: int) -> list[Key]:
    road = network.roads.get(road_id)
    if road is None:
        return []
    return [(road_id, 0 if road.forward(lane_id) else len(road.sections) - 1, lane_id)]


def lane_records(network: Network, pieces: dict[Key, LanePiece]) -> tuple[list[LaneRecord], list[tuple[int, int]]]:
    """Join pieces to records.

    Args:
        network: the network with the links.
        pieces: the driving lanes.

    Returns:
        Records, and pairs (a, b) of their indices; record a leads to record b.
    """
    ahead = {key: [k for k in dict.fromkeys(leads_to(network, key)) if k in pieces] for key in pieces}
    behind: dict[Key, list[Key]] = defaultdict(list)
    for key, others in ahead.items():
        for other in others:
            behind[other].append(key)

    def follows(key: Key) -> Key | None:
        """Return the piece that continues a piece in its road."""
        only = ahead[key][0] if len(ahead[key]) == 1 else None
        same = only is not None and only[0] == key[0] and only[1] != key[1] and len(behind[only]) == 1
        return only if same else None

    continued = {k for k in map(follows, pieces) if k is not None}
    records: list[LaneRecord] = []
    index_of: dict[Key, int] = {}
    for key in pieces:
        if key in continued:
            continue
        chain, following = {key: None}, follows(key)
        while following is not None and following not in chain:
            chain[following] = None
            following = follows(following)
        index_of.update(dict.fromkeys(chain, len(records)))
        records.append(LaneRecord([pieces[k] for k in chain]))
    edges = {
        (index_of[key], index_of[other])
        for key, others in ahead.items()
        for other in others
        if key in index_of and other in index_of and follows(key) != other
    }
    connected = {number for edge in edges for number in edge}
    for number, record in enumerate(records):
        first = record.pieces[0]
        road, section, lane = first.key
        neighbours = [index_of.get((road, section, lane + step)) for step in (-1, 1)]
        if number not in connected and (
            first.lane.type == "bidirectional" or any(other in connected for other in neighbours)
        ):
            record.is_isolated = True
            text = f"lane {lane} is left out of the lanes: no lane is connected to it"
            network.faults.append(Fault(road, first.section.s_m, text))
    return records, sorted(edges)
