"""Writer of CARLA-compatible OpenDRIVE 1.4: lines and arcs, one-way connecting roads, lights with controllers.

Two-way connecting roads and spirals with equal curvatures make CARLA's map or Traffic Manager fail; this module
cannot write them.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final
from xml.sax.saxutils import quoteattr

from headless_simulator.towns.lane_changes import changes_along
from headless_simulator.towns.paths import Path
from headless_simulator.towns.speeds import limit_through, limits_along


@dataclass(frozen=True, slots=True)
class LaneSpec:
    """One lane to write; the width changes smoothly from ``width_m`` to ``end_width_m``."""

    kind: str
    width_m: float
    mark: str = "none"
    mark_colour: str = "white"
    change: str = "none"
    end_width_m: float | None = None


@dataclass(frozen=True, slots=True)
class SignalSpec:
    """A light or sign on a road; ``s`` and ``t`` in the road's frame."""

    number: int
    kind: str
    s: float
    t: float
    orientation: str
    lanes: tuple[int, int]
    name: str = ""
    value: float = -1.0


@dataclass(frozen=True, slots=True)
class CrosswalkSpec:
    """A crosswalk straight across a road, ``length_m`` along it, from t ``right_m`` to ``left_m``."""

    number: int
    s: float
    length_m: float
    right_m: float
    left_m: float


@dataclass(slots=True)
class RoadSpec:
    """One road to write; lanes run from the centre outward. A connecting road has one driving lane, on its right.

    ``speed_kmh`` applies to straight parts; bends have lower limits.
    ``lane_ends`` are the (predecessor, successor) lane numbers of lane -1 of a connecting road.
    """

    number: int
    path: Path
    left: tuple[LaneSpec, ...]
    right: tuple[LaneSpec, ...]
    speed_kmh: float
    kind: str = "town"
    name: str = ""
    junction: int = -1
    predecessor: tuple[str, int, str] | None = None
    successor: tuple[str, int, str] | None = None
    lane_ends: tuple[int, int] | None = None
    elevation: tuple[tuple[float, float, float, float, float], ...] = ()
    centre_mark: str = "none"
    lane_offset_m: float = 0.0
    signals: list[SignalSpec] = field(default_factory=list)
    crosswalks: list[CrosswalkSpec] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ConnectionSpec:
    """One way through a junction."""

    incoming: int
    connecting: int
    from_lane: int


@dataclass(slots=True)
class JunctionSpec:
    """A junction; ``stages`` are the signal ids that are green together."""

    number: int
    connections: list[ConnectionSpec] = field(default_factory=list)
    stages: list[list[int]] = field(default_factory=list)


# ``carla.Waypoint.next_until_lane_end`` of a step that divides the lane exactly fails ("distance > 0.0"): lanes of CARLA's own
# towns never have such lengths. The cut is below the resolution of the ground's vertices (float32): a wider gap is a hole.
_STEP_M: Final = 0.05
_CUT_M: Final = 1e-6


def _n(value: float) -> str:
    return f"{value:.9g}" if abs(value) > 1e-12 else "0"


def write_opendrive(
    name: str,
    roads: Sequence[RoadSpec],
    junctions: Sequence[JunctionSpec],
    *,
    origin_deg: tuple[float, float] = (0.0, 0.0),
) -> str:
    """Return the text of a map.

    Args:
        name: town name.
        roads: all roads, including connecting ones.
        junctions: all junctions.
        origin_deg: latitude and longitude of x = y = 0.
    """
    ends = [pose for road in roads for pose in (road.path.start, road.path.end)]
    xs, ys = [pose.x for pose in ends], [pose.y for pose in ends]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<OpenDRIVE>",
        f'  <header revMajor="1" revMinor="4" name={quoteattr(name)} version="1" date="2026-01-01T00:00:00" '
        f'north="{_n(max(ys))}" south="{_n(min(ys))}" east="{_n(max(xs))}" west="{_n(min(xs))}" vendor="uavsim">',
        f"    <geoReference><![CDATA[+proj=tmerc +lat_0={_n(origin_deg[0])} +lon_0={_n(origin_deg[1])} +k=1 +x_0=0 +y_0=0 "
        "+datum=WGS84 +units=m +geoidgrids=egm96_15.gtx +vunits=m +no_defs]]></geoReference>",
        "  </header>",
    ]
    for road in roads:
        lines += _road(road)
    controller = 1
    tail = []
    for junction in junctions:
        tail.append(f'  <junction id="{junction.number}" name="junction{junction.number}">')
        for count, way in enumerate(junction.connections):
            tail.append(
                f'    <connection id="{count}" incomingRoad="{way.incoming}" connectingRoad="{way.connecting}" '
                f'contactPoint="start"><laneLink from="{way.from_lane}" to="-1"/></connection>'
            )
        for sequence, stage in enumerate(junction.stages):
            lines.append(f'  <controller name="ctrl{controller}" id="{controller}" sequence="{sequence}">')
            lines += [f'    <control signalId="{signal}" type="0"/>' for signal in stage]
            lines.append("  </controller>")
            tail.append(f'    <controller id="{controller}" type="0" sequence="{sequence}"/>')
            controller += 1
        tail.append("  </junction>")
    return "\n".join([*lines, *tail, "</OpenDRIVE>", ""])


def _end(tag: str, link: tuple[str, int, str] | None) -> str:
    if link is None:
        return ""
    contact = f' contactPoint="{link[2]}"' if link[0] == "road" else ""
    return f'<{tag} elementType="{link[0]}" elementId="{link[1]}"{contact}/>'


def _road(road: RoadSpec) -> list[str]:
    # The written length must equal the sum of the written pieces, or clients see a gap at the end.
    lengths = [float(f"{length:.9f}") for length, _ in road.path.pieces]
    if abs(math.remainder(sum(lengths), _STEP_M)) < _CUT_M:
        lengths[-1] -= _CUT_M
    through = ((0.0, limit_through(road.path, road.speed_kmh)),)
    limits = limits_along(road.path, road.speed_kmh) if road.junction < 0 else through
    lines = [
        f'  <road name={quoteattr(road.name or f"Road {road.number}")} length="{sum(lengths):.9f}" '
        f'id="{road.number}" junction="{road.junction}">',
        f"    <link>{_end('predecessor', road.predecessor)}{_end('successor', road.successor)}</link>",
        *(f'    <type s="{_n(s)}" type="{road.kind}"><speed max="{_n(v)}" unit="km/h"/></type>' for s, v in limits),
        "    <planView>",
    ]
    s = 0.0
    for length, (_, bend) in zip(lengths, road.path.pieces, strict=True):
        pose = road.path.at(s)
        shape = f'<arc curvature="{bend:.12g}"/>' if abs(bend) > 1e-12 else "<line/>"
        lines.append(
            f'      <geometry s="{s:.9f}" x="{pose.x:.9f}" y="{pose.y:.9f}" hdg="{pose.heading_rad:.12f}" '
            f'length="{length:.9f}">{shape}</geometry>'
        )
        s += length
    lines += ["    </planView>", "    <elevationProfile>"]
    for record in road.elevation or ((0.0, 0.0, 0.0, 0.0, 0.0),):
        at, a, b, c, d = (_n(value) for value in record)
        lines.append(f'      <elevation s="{at}" a="{a}" b="{b}" c="{c}" d="{d}"/>')
    lines += ["    </elevationProfile>", "    <lateralProfile/>", *_lanes(road, s)]
    lines += _objects(road) + _signals(road) + ["  </road>"]
    return lines


def _lanes(road: RoadSpec, length_m: float) -> list[str]:
    lines = ["    <lanes>"]
    if road.lane_offset_m:
        lines.append(f'      <laneOffset s="0" a="{_n(road.lane_offset_m)}" b="0" c="0" d="0"/>')
    lines.append('      <laneSection s="0">')
    if road.left:
        lines.append("        <left>")
        lines += [_lane(k, road.left[k - 1], length_m, road) for k in range(len(road.left), 0, -1)]
        lines.append("        </left>")
    marks = "".join(_written(((0.0, road.centre_mark, "none"),), road, "yellow"))
    lines.append(f'        <center><lane id="0" type="none" level="false">{marks}</lane></center>')
    if road.right:
        lines.append("        <right>")
        lines += [_lane(-k, spec, length_m, road) for k, spec in enumerate(road.right, start=1)]
        lines.append("        </right>")
    return [*lines, "      </laneSection>", "    </lanes>"]


def _lane(number: int, spec: LaneSpec, length_m: float, road: RoadSpec) -> str:
    ends = road.lane_ends
    link = (
        f'<link><predecessor id="{ends[0]}"/><successor id="{ends[1]}"/></link>' if ends and number == -1 else "<link/>"
    )
    a, c, d = spec.width_m, 0.0, 0.0
    if spec.end_width_m is not None and abs(spec.end_width_m - a) > 1e-9:
        change = spec.end_width_m - a
        c, d = 3 * change / length_m**2, -2 * change / length_m**3
    width = f'<width sOffset="0" a="{_n(a)}" b="0" c="{_n(c)}" d="{_n(d)}"/>'
    marks = "".join(_marks(number, spec, road))
    return f'          <lane id="{number}" type="{spec.kind}" level="false">{link}{width}{marks}</lane>'


def _marks(number: int, spec: LaneSpec, road: RoadSpec) -> Iterator[str]:
    """Yield a lane's outer line; a broken line is solid where lane changes are not allowed."""
    open_from: tuple[tuple[float, bool], ...] = ((0.0, True),)
    if spec.change != "none" and road.junction < 0:
        open_from = changes_along(road.path, road.speed_kmh, forward=number < 0)
    records = tuple((s, spec.mark, spec.change) if is_open else (s, "solid", "none") for s, is_open in open_from)
    return _written(records, road, spec.mark_colour)


def _written(records: Sequence[tuple[float, str, str]], road: RoadSpec, colour: str) -> Iterator[str]:
    """Yield (station, kind, lane change) records of one line, interrupted at crosswalks."""
    bare, length_m = _crossed(road), road.path.length_m
    stations = sorted({0.0, *(s for s, _, _ in records), *(s for span in bare for s in span if s < length_m)})
    written = ("", "")
    for station in stations:
        kind, change = [record[1:] for record in records if record[0] <= station][-1]
        if any(low <= station < high for low, high in bare):
            kind, change = "none", "none"
        if (kind, change) != written:
            written = (kind, change)
            yield (
                f'<roadMark sOffset="{_n(station)}" type="{kind}" material="standard" color="{colour}" width="0.15" '
                f'laneChange="{change}"/>'
            )


def _crossed(road: RoadSpec) -> list[tuple[float, float]]:
    """Return the (from, to) stations of crosswalks at a road's ends."""
    length_m = road.path.length_m
    return [
        (0.0, crossing.s + crossing.length_m / 2)
        if crossing.s < length_m / 2
        else (crossing.s - crossing.length_m / 2, length_m)
        for crossing in road.crosswalks
    ]


def _objects(road: RoadSpec) -> list[str]:
    if not road.crosswalks:
        return []
    lines = ["    <objects>"]
    for walk in road.crosswalks:
        half, middle = walk.length_m / 2, (walk.right_m + walk.left_m) / 2
        span = (walk.left_m - walk.right_m) / 2
        corners = [(-half, -span), (half, -span), (half, span), (-half, span), (-half, -span)]
        outline = "".join(f'<cornerLocal u="{_n(u)}" v="{_n(v)}" z="0"/>' for u, v in corners)
        lines.append(
            f'      <object id="{walk.number}" name="LadderCrosswalk" type="crosswalk" s="{walk.s:.6f}" t="{_n(middle)}" '
            f'zOffset="0" orientation="none" length="{_n(walk.length_m)}" width="{_n(2 * span)}" height="0" hdg="0" pitch="0" '
            f'roll="0"><outline>{outline}</outline></object>'
        )
    return [*lines, "    </objects>"]


def _signals(road: RoadSpec) -> list[str]:
    if not road.signals:
        return []
    lines = ["    <signals>"]
    for signal in road.signals:
        dynamic = "yes" if signal.kind == "1000001" else "no"
        low, high = min(signal.lanes), max(signal.lanes)
        lines.append(
            f'      <signal name={quoteattr(signal.name)} id="{signal.number}" s="{signal.s:.6f}" t="{_n(signal.t)}" '
            f'zOffset="0" hOffset="{0 if signal.orientation == "+" else round(math.pi, 9)}" roll="0" pitch="0" '
            f'orientation="{signal.orientation}" dynamic="{dynamic}" country="OpenDRIVE" type="{signal.kind}" subtype="-1" '
            f'value="{_n(signal.value)}" text="" height="0.6" width="0.4">'
            f'<validity fromLane="{low}" toLane="{high}"/></signal>'
        )
    return [*lines, "    </signals>"]
