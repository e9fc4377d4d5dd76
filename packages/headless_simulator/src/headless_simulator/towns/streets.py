"""From streets between nodes to OpenDRIVE: trims streets back to their junctions and lays the ways through them."""

import math
from dataclasses import dataclass, field

import numpy as np

from headless_simulator.towns.paths import Path, Pose, connect, wrap
from headless_simulator.towns.speeds import SPEED_SIGNS, limits_along
from headless_simulator.towns.xodr_writer import (
    ConnectionSpec,
    CrosswalkSpec,
    JunctionSpec,
    LaneSpec,
    RoadSpec,
    SignalSpec,
    write_opendrive,
)

_U_TURN_RAD = math.radians(140)
_STRAIGHT_RAD = math.radians(55)
_CROSSWALK_M = 3.4  # along the road
_EDGE_M = 0.4
_MINOR_RAD = math.radians(5)
_SPEED_SIGN_M = 15.0  # behind the place where its limit begins
_ORIGIN_FREE_M = 30.0  # from signs' roads: AirSim's drones take off at the origin
_STOP_BEHIND_M = 5.6  # stop line to the end of the road where there is a crosswalk


@dataclass(frozen=True, slots=True)
class Profile:
    """A street's cross-section, lanes from the centre lane outward on each side; one-way streets have no ``left``.

    ``offset_m`` shifts the centre lane to the left of the path: a median is one lane of the left side, and the street
    stays in the middle of its path.
    """

    left: tuple[LaneSpec, ...]
    right: tuple[LaneSpec, ...]
    speed_kmh: float
    centre_mark: str = "solid"
    kind: str = "town"
    offset_m: float = 0.0

    def pavement_m(self, side: str) -> float:
        """Width from the path to the kerb."""
        shift = self.offset_m if side == "left" else -self.offset_m
        return shift + sum(lane.width_m for lane in self._side(side) if lane.kind != "sidewalk")

    def sidewalk_m(self, side: str) -> float:
        """Width of the side's sidewalk, 0 without one."""
        return sum(lane.width_m for lane in self._side(side) if lane.kind == "sidewalk")

    def _side(self, side: str) -> tuple[LaneSpec, ...]:
        return self.left if side == "left" else self.right


@dataclass(frozen=True, slots=True)
class Node:
    """A junction: fillet radius of its kerbs, lights or not, crosswalks or not, height.

    At a ``ring`` node, part of a roundabout, every lane may leave: else the inner lane would fill and never empty.
    At a ``u_turns`` node on a street with a median ("Michigan left"), the inner lanes may turn round.
    """

    corner_m: float = 8.0
    lights: bool = False
    crosswalks: bool = False
    z_m: float = 0.0
    stop_signs: bool = False
    ring: bool = False
    u_turns: bool = False


@dataclass(frozen=True, slots=True)
class Street:
    """A street between two nodes; ``heights`` are (share of its length, z) between ends that are level for ``level_m``."""

    start: str
    end: str
    path: Path
    profile: Profile
    heights: tuple[tuple[float, float], ...] = ()
    setback_m: tuple[float | None, float | None] = (None, None)
    level_m: float = 0.0


@dataclass(frozen=True, slots=True)
class _Arm:
    """One street's end at a junction; ``pose`` looks into the junction."""

    street: int
    at_end: bool
    pose: Pose
    profile: Profile

    @property
    def inward(self) -> list[tuple[int, float, float]]:
        """(lane number, distance of its inner edge from the path, width) of driving lanes that lead in."""
        return self._driving("right" if self.at_end else "left")

    @property
    def outward(self) -> list[tuple[int, float, float]]:
        """The same for lanes that lead out."""
        return self._driving("left" if self.at_end else "right")

    @property
    def right_side(self) -> str:
        """Return which side of the street is on the right of someone who looks into the junction."""
        return "right" if self.at_end else "left"

    @property
    def left_side(self) -> str:
        """The other side."""
        return "left" if self.at_end else "right"

    def _driving(self, side: str) -> list[tuple[int, float, float]]:
        lanes = self.profile.left if side == "left" else self.profile.right
        rows, edge = [], self.profile.offset_m if side == "left" else -self.profile.offset_m
        for count, lane in enumerate(lanes, start=1):
            if lane.kind == "driving":
                rows.append((count if side == "left" else -count, edge, lane.width_m))
            edge += lane.width_m
        return rows


@dataclass(slots=True)
class Plan:
    """A town's streets and junctions, and the text made from them."""

    name: str
    streets: list[Street] = field(default_factory=list)
    nodes: dict[str, Node] = field(default_factory=dict)
    origin_deg: tuple[float, float] = (0.0, 0.0)

    def opendrive(self) -> str:
        """The OpenDRIVE text."""
        return _Builder(self).text()


def _arms_by_angle(arms: list[_Arm]) -> list[_Arm]:
    return sorted(arms, key=lambda arm: arm.pose.turned().heading_rad % (2 * math.pi))


def _needed_setback(arm: _Arm, other: _Arm, *, other_is_ccw: bool, corner_m: float) -> float:
    """Return how far my end must lie from the node so that the corner towards a neighbour fits."""
    out, across = arm.pose.turned().heading_rad, other.pose.turned().heading_rad
    angle = (across - out if other_is_ccw else out - across) % (2 * math.pi)
    if not math.radians(8) < angle < math.radians(150):
        return 0.0
    # A neighbour counter-clockwise of me lies on my right as I look in.
    width_m = arm.profile.pavement_m(arm.right_side if other_is_ccw else arm.left_side)
    other_width_m = other.profile.pavement_m(other.left_side if other_is_ccw else other.right_side)
    meet = (other_width_m + width_m * math.cos(angle)) / math.sin(angle)
    return meet + corner_m / math.tan(angle / 2)


class _Builder:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.roads: list[RoadSpec] = []
        self.junctions: list[JunctionSpec] = []
        self.signal_number = 1000
        self.object_number = 1
        self.node_numbers = {name: 1000 + count for count, name in enumerate(plan.nodes)}
        self.paths = self._trimmed()
        self.connecting_number = len(plan.streets)

    def text(self) -> str:
        for number, street in enumerate(self.plan.streets):
            self.roads.append(self._street_road(number, street))
        for name in self.plan.nodes:
            self._junction(name)
        self._speed_signs()
        return write_opendrive(self.plan.name, self.roads, self.junctions, origin_deg=self.plan.origin_deg)

    def _arms(self, node: str, paths: list[Path]) -> list[_Arm]:
        arms = []
        for number, street in enumerate(self.plan.streets):
            if street.end == node:
                arms.append(_Arm(number, True, paths[number].end, street.profile))
            if street.start == node:
                arms.append(_Arm(number, False, paths[number].start.turned(), street.profile))
        return _arms_by_angle(arms)

    def _trimmed(self) -> list[Path]:
        paths_before = [street.path for street in self.plan.streets]
        cut: dict[tuple[int, bool], float] = {}
        for name, node in self.plan.nodes.items():
            arms = self._arms(name, paths_before)
            for index, arm in enumerate(arms):
                ccw, cw = arms[(index + 1) % len(arms)], arms[index - 1]
                need = max(
                    _needed_setback(arm, ccw, other_is_ccw=True, corner_m=node.corner_m),
                    _needed_setback(arm, cw, other_is_ccw=False, corner_m=node.corner_m),
                    4.0,
                )
                fixed = self.plan.streets[arm.street].setback_m[1 if arm.at_end else 0]
                cut[arm.street, arm.at_end] = need if fixed is None else fixed
        paths = []
        for number, street in enumerate(self.plan.streets):
            try:
                paths.append(street.path.trimmed(cut[number, False], cut[number, True]))
            except ValueError as error:
                raise ValueError(f"street {number} from {street.start} to {street.end}: {error}") from None
        return paths

    def _street_road(self, number: int, street: Street) -> RoadSpec:
        return RoadSpec(
            number=number,
            path=self.paths[number],
            left=street.profile.left,
            right=street.profile.right,
            speed_kmh=street.profile.speed_kmh,
            kind=street.profile.kind,
            predecessor=("junction", self.node_numbers[street.start], ""),
            successor=("junction", self.node_numbers[street.end], ""),
            elevation=self._elevation(number, street),
            centre_mark=street.profile.centre_mark,
            lane_offset_m=street.profile.offset_m,
        )

    def _elevation(self, number: int, street: Street) -> tuple[tuple[float, float, float, float, float], ...]:
        length = self.paths[number].length_m
        low, high = self.plan.nodes[street.start].z_m, self.plan.nodes[street.end].z_m
        knots = [(0.0, low), *((share * length, z) for share, z in street.heights), (length, high)]
        if street.level_m > 0:
            knots[1:1], knots[-1:-1] = [(street.level_m, low)], [(length - street.level_m, high)]
        s, z = (np.array(column) for column in zip(*knots, strict=True))
        slope = np.zeros_like(z)  # level where it meets a junction, so that junctions are level
        rise = np.diff(z) / np.diff(s)
        same = rise[:-1] * rise[1:] > 0  # elsewhere a top, a dip or a level stretch begins: no slope
        slope[1:-1][same] = 2 * rise[:-1][same] * rise[1:][same] / (rise[:-1] + rise[1:])[same]
        records = []
        for k in range(len(s) - 1):
            h = s[k + 1] - s[k]
            c, d = (3 * rise[k] - 2 * slope[k] - slope[k + 1]) / h, (slope[k] + slope[k + 1] - 2 * rise[k]) / h**2
            records.append((float(s[k]), float(z[k]), float(slope[k]), float(c), float(d)))
        return tuple(records)

    def _junction(self, name: str) -> None:
        node, number = self.plan.nodes[name], self.node_numbers[name]
        arms = self._arms(name, self.paths)
        spec = JunctionSpec(number)
        for arm in arms:
            for target, from_lane, to_lane in _movements(arm, arms, leave_from_all=node.ring):
                self._connector(spec, node, (arm, from_lane), (target, to_lane))
            if (
                node.u_turns and arm.inward and arm.outward
            ):  # into the outer lane: the widest turn that there is room for
                self._connector(spec, node, (arm, arm.inward[0]), (arm, arm.outward[-1]))
        for index, arm in enumerate(arms):
            self._corner(number, node, arm, arms[(index + 1) % len(arms)])
        if node.crosswalks:
            self._crosswalks(arms)
        if node.lights:
            spec.stages = self._lights(arms, node)
        else:
            self._right_of_way_signs(arms, node)
        self.junctions.append(spec)

    def _connector(
        self,
        spec: JunctionSpec,
        node: Node,
        start: tuple[_Arm, tuple[int, float, float]],
        end: tuple[_Arm, tuple[int, float, float]],
    ) -> None:
        (arm, (from_lane, from_edge, from_width)), (target, (to_lane, to_edge, to_width)) = start, end
        path = connect(arm.pose.right(from_edge), target.pose.turned().right(to_edge))
        road = self._new_road(path, (LaneSpec("driving", from_width, end_width_m=to_width),), spec.number, node)
        road.predecessor = ("road", arm.street, "end" if arm.at_end else "start")
        road.successor = ("road", target.street, "end" if target.at_end else "start")
        road.lane_ends = (from_lane, to_lane)
        road.speed_kmh = min(arm.profile.speed_kmh, target.profile.speed_kmh)
        spec.connections.append(ConnectionSpec(arm.street, road.number, from_lane))

    def _new_road(self, path: Path, right: tuple[LaneSpec, ...], junction: int, node: Node) -> RoadSpec:
        road = RoadSpec(self.connecting_number, path, (), right, 30.0, junction=junction)
        road.elevation = ((0.0, node.z_m, 0.0, 0.0, 0.0),)
        self.connecting_number += 1
        self.roads.append(road)
        return road

    def _corner(self, junction: int, node: Node, arm: _Arm, ccw: _Arm) -> None:
        """The kerb from one arm's right to its neighbour, with the sidewalk behind it where both have one."""
        width, end_width = arm.profile.sidewalk_m(arm.right_side), ccw.profile.sidewalk_m(ccw.left_side)
        walk = min(width, end_width) > 0.5
        inset = (
            0.0 if walk else _EDGE_M
        )  # without sidewalks the corner is a strip of shoulder along the pavement's edge
        start = arm.pose.right(arm.profile.pavement_m(arm.right_side) - inset)
        end = ccw.pose.turned().right(ccw.profile.pavement_m(ccw.left_side) - inset)
        if math.hypot(end.x - start.x, end.y - start.y) < 0.5 or arm.profile.pavement_m(arm.right_side) < _EDGE_M:
            return
        turn = wrap(end.heading_rad - start.heading_rad)
        if abs(turn) > _U_TURN_RAD:  # slip roads beside each other: there is no corner between them
            return
        path = connect(start, end, node.corner_m)
        lane = LaneSpec("sidewalk", width, end_width_m=end_width) if walk else LaneSpec("shoulder", _EDGE_M)
        self._new_road(path, (lane,), junction, node)

    def _crosswalks(self, arms: list[_Arm]) -> None:
        for arm in arms:
            profile = arm.profile
            if min(profile.sidewalk_m("left"), profile.sidewalk_m("right")) < 0.5:
                continue
            road = self.roads[arm.street]
            inset = 0.6 + _CROSSWALK_M / 2
            s = road.path.length_m - inset if arm.at_end else inset
            right, left = -profile.pavement_m("right"), profile.pavement_m("left")
            road.crosswalks.append(CrosswalkSpec(self.object_number, s, _CROSSWALK_M, right, left))
            self.object_number += 1

    def _signal(self, arm: _Arm, kind: str, name: str, behind_m: float, value: float = -1.0) -> int:
        """A signal for the traffic towards a junction, ``behind_m`` before the end of its road."""
        road = self.roads[arm.street]
        lanes = [lane for lane, _, _ in arm.inward]
        side = arm.profile.pavement_m(arm.right_side) + 0.7
        self.signal_number += 1
        road.signals.append(
            SignalSpec(
                number=self.signal_number,
                kind=kind,
                s=road.path.length_m - behind_m if arm.at_end else behind_m,
                t=-side if arm.at_end else side,
                orientation="+" if arm.at_end else "-",
                lanes=(min(lanes), max(lanes)),
                name=name,
                value=value,
            )
        )
        return self.signal_number

    def _lights(self, arms: list[_Arm], node: Node) -> list[list[int]]:
        """One light per arm that leads in, each green alone: drivers of CARLA's kind do not give way when they turn left."""
        behind = _STOP_BEHIND_M if node.crosswalks else 1.0
        return [[self._signal(arm, "1000001", "Signal_3Light_Post01", behind)] for arm in arms if arm.inward]

    def _right_of_way_signs(self, arms: list[_Arm], node: Node) -> None:
        """Stop or yield signs on the arms that lead less straight through the junction than others."""
        bends = {
            arm.street: min(
                abs(wrap(other.pose.turned().heading_rad - arm.pose.heading_rad))
                for other in arms
                if other is not arm and other.outward
            )
            for arm in arms
            if arm.inward
        }
        for arm in arms:
            if arm.inward and bends[arm.street] > min(bends.values()) + _MINOR_RAD:
                self._signal(arm, *(("206", "Sign_Stop") if node.stop_signs else ("205", "Sign_Yield")), 1.0)

    def _speed_signs(self) -> None:
        """Speed limit signs for both directions where a limit begins that has a sign."""
        for number, path in enumerate(self.paths):
            limits = limits_along(path, self.roads[number].speed_kmh)
            ends = [*(s for s, _ in limits[1:]), path.length_m]
            for at_end in (True, False):
                arm = _Arm(number, at_end, path.start, self.plan.streets[number].profile)
                for (start, limit), end in zip(limits, ends, strict=True):
                    s = start + _SPEED_SIGN_M if at_end else end - _SPEED_SIGN_M
                    is_clear = math.hypot(path.at(s).x, path.at(s).y) > _ORIGIN_FREE_M
                    if arm.inward and limit in SPEED_SIGNS and end - start > 2 * _SPEED_SIGN_M and is_clear:
                        self._signal(arm, "274", f"Speed_{limit:.0f}", path.length_m - s if at_end else s, limit)


_Lane = tuple[int, float, float]


def _movements(arm: _Arm, arms: list[_Arm], *, leave_from_all: bool = False) -> list[tuple[_Arm, _Lane, _Lane]]:
    """Ways from one arm: (target arm, its own lane, the target's lane)."""
    inward = arm.inward
    turns = []
    for other in arms:
        turn = wrap(other.pose.turned().heading_rad - arm.pose.heading_rad)
        if other is not arm and other.outward and abs(turn) < _U_TURN_RAD:
            turns.append((turn, other))
    if not inward or not turns:
        return []
    ahead = min(turns, key=lambda row: abs(row[0]))
    if abs(ahead[0]) > _STRAIGHT_RAD:
        ahead = (9.0, arm)
    ways: list[tuple[_Arm, _Lane, _Lane]] = []
    for turn, other in turns:
        outward = other.outward
        if other is ahead[1] or leave_from_all:
            ways += [(other, lane, outward[k]) for k, lane in enumerate(inward[: len(outward)])]
        elif turn > 0:
            ways.append((other, inward[0], outward[0]))
        else:
            ways.append((other, inward[-1], outward[-1]))
    led = {lane for _, lane, _ in ways}
    for index, lane in enumerate(inward):
        if lane not in led:  # no lane may end in nothing
            target = ahead[1] if ahead[1] is not arm else turns[0][1]
            ways.append((target, lane, target.outward[min(index, len(target.outward) - 1)]))
    return ways
