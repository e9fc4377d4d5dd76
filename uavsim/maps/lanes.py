"""The lanes of a network: their borders as points, where traffic on them goes, and which belong together.

A piece is a lane of one section. Pieces of one road that follow each other, and nothing else, are one ``LaneRecord``.
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
"""Types of lanes that vehicles drive on; traffic on a ``bidirectional`` one counts in the direction of its side."""

Key: TypeAlias = tuple[str, int, int]
"""Road, number of its section, id of the lane."""

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
        key: what it is.
        forward: whether traffic goes along s.
        s_m: (M,) places in the direction of traffic.
        left_m, right_m: (M, 3) borders in the map frame.
        centre_m: (M, 3) middle between them.
        yaw_rad: (M,) direction of the centre.
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
    def widest_m(self) -> float:
        """Its width where it is widest."""
        return float(np.linalg.norm(self.left_m[:, :2] - self.right_m[:, :2], axis=1).max())

    @property
    def ring_m(self) -> FloatArray:
        """(2 M, 3) polygon, counter-clockwise."""
        return np.concatenate([self.right_m, self.left_m[::-1]])


@dataclass(slots=True, eq=False)
class LaneRecord:
    """Pieces of one road that follow each other.

    Attributes:
        is_change: a change of lanes, whose one piece lies across two.
        is_aside: ground and no lane: none leads to it or from it, as to a strip for turning between the directions.
    """

    pieces: list[LanePiece]
    is_change: bool = False
    is_aside: bool = False

    @property
    def is_connector(self) -> bool:
        """True where lanes part, meet or are changed."""
        return self.road.in_junction or self.is_change

    @property
    def road(self) -> Road:
        """The road that it belongs to."""
        return self.pieces[0].road

    @property
    def forward(self) -> bool:
        """True where traffic goes along s."""
        return self.pieces[0].forward

    def joined(self, name: str) -> FloatArray:
        """Return an array of the pieces, end to end, without the points that come twice."""
        parts: list[FloatArray] = [getattr(piece, name) for piece in self.pieces]
        return np.concatenate([parts[0], *(part[1:] for part in parts[1:])])

    @property
    def ring_m(self) -> FloatArray:
        """(2 M, 3) polygon, counter-clockwise."""
        return np.concatenate([self.joined("right_m"), self.joined("left_m")[::-1]])


def lane_pieces(network: Network) -> Iterator[LanePiece]:
    """Yield every lane of every section, whatever its type; what has no width anywhere, or an impossible one, is left out.

    Raises:
        InputError: the lanes are several times as long, or have several times as many points, as those of any town.
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
                        raise InputError(f"{network.name}: more than {most}; no town has so many")
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
                text = f"lane {lane.id} is left out: it turns round more often than any road"
                network.faults.append(Fault(road.id, section.s_m, text))
                continue
            yield _turned(road, number, section, lane, s, points, yaw)


def _within_m(section: Section) -> float:
    """Return by how much chords may leave the borders of a section: of narrow lanes less, as their areas would be wrong."""
    places = np.linspace(0.0, section.end_m - section.s_m, _PROBES)
    widths = [float(np.mean(lane.width(places))) for lane in section.lanes.values() if lane.type in DRIVING]
    narrow = min((wide for wide in widths if wide > _NEAR_M), default=FINE_M / _PART_OF_WIDTH)
    return float(np.clip(_PART_OF_WIDTH * narrow, _NEAR_M / 2, FINE_M))


def _heights(lane: Lane, ds_m: FloatArray) -> FloatArray:
    """Return (2, M) how far a lane's inner and outer border lie above the road."""
    if not len(lane.heights):
        return np.zeros((2, len(ds_m)))
    row = np.maximum(np.searchsorted(lane.heights[:, 0], ds_m + 1e-9, side="right") - 1, 0)
    return lane.heights[row, 1:].T


def _turned(  # noqa: PLR0917 - the parts of one piece, in the order of its fields
    road: Road, number: int, section: Section, lane: Lane, s_m: FloatArray, points: FloatArray, yaw: FloatArray
) -> LanePiece:
    """Make a piece of the inner and outer border, as its traffic sees them."""
    forward = road.forward(lane.id)
    left, right = (points[1], points[0]) if lane.id > 0 else (points[0], points[1])
    centre = points.mean(axis=0)
    if not forward:
        s_m, centre, yaw = s_m[::-1], centre[::-1], yaw[::-1] + np.pi
        left, right = right[::-1], left[::-1]
    return LanePiece((road.id, number, lane.id), road, section, lane, forward, s_m, left, right, centre, yaw)


def leads_to(network: Network, key: Key) -> list[Key]:
    """Return the lanes that traffic on a lane comes to, by the links of the file.

    Which end of the next road that is follows from the direction of traffic on the next lane, as CARLA has it.
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
        network: whose links count.
        pieces: those that are lanes.

    Returns:
        Records, and which leads to which by their places in that list.
    """
    ahead = {key: [k for k in dict.fromkeys(leads_to(network, key)) if k in pieces] for key in pieces}
    behind: dict[Key, list[Key]] = defaultdict(list)
    for key, others in ahead.items():
        for other in others:
            behind[other].append(key)

    def follows(key: Key) -> Key | None:
        """Return the piece that a piece goes on as, in its own road."""
        only = ahead[key][0] if len(ahead[key]) == 1 else None
        same = only is not None and only[0] == key[0] and only[1] != key[1] and len(behind[only]) == 1
        return only if same else None

    continued = {k for k in map(follows, pieces) if k is not None}
    records: list[LaneRecord] = []
    place: dict[Key, int] = {}
    for key in pieces:
        if key in continued:
            continue
        chain, at = {key: None}, follows(key)
        while at is not None and at not in chain:
            chain[at] = None
            at = follows(at)
        place.update(dict.fromkeys(chain, len(records)))
        records.append(LaneRecord([pieces[k] for k in chain]))
    edges = {
        (place[key], place[other])
        for key, others in ahead.items()
        for other in others
        if key in place and other in place and follows(key) != other
    }
    led = {number for edge in edges for number in edge}
    for number, record in enumerate(records):
        first = record.pieces[0]
        road, section, lane = first.key
        beside = [place.get((road, section, lane + step)) for step in (-1, 1)]
        if number not in led and (first.lane.type == "bidirectional" or any(other in led for other in beside)):
            record.is_aside = True
            what = f"lane {lane} is ground and no lane: none leads to it or from it"
            network.faults.append(Fault(road, first.section.s_m, what))
    return records, sorted(edges)
