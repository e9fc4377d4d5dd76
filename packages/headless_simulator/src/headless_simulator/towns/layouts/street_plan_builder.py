"""A builder for street plans: nodes by name, streets between them, roundabouts, slip roads."""

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

from headless_simulator.towns.layouts.profiles import one_way
from headless_simulator.towns.paths import Path, Point, Pose, arc, rounded
from headless_simulator.towns.streets import Node, Plan, Profile, Street


@dataclass(slots=True)
class StreetPlanBuilder:
    """Builder of a plan; points are OpenDRIVE's x, y, metres."""

    plan: Plan
    at: dict[str, Point] = field(default_factory=dict)

    def node(self, name: str, position_m: Point, node: Node) -> None:
        """Add a junction."""
        self.at[name] = position_m
        self.plan.nodes[name] = node

    def street(
        self,
        start: str,
        end: str,
        profile: Profile,
        *,
        via: tuple[Point, ...] = (),
        radius_m: float | list[float] = 20.0,
        heights: tuple[tuple[float, float], ...] = (),
        level_m: float = 0.0,
    ) -> None:
        """Add a street through points with rounded corners."""
        path = rounded([self.at[start], *via, self.at[end]], radius_m)
        self.plan.streets.append(Street(start, end, path, profile, heights, level_m=level_m))

    def line(self, names: str, profile: Profile) -> None:
        """Add straight streets along nodes, given as "a b c"."""
        for start, end in pairwise(names.split()):
            self.street(start, end, profile)

    def roundabout(self, name: str, centre: Point, *, radius_m: float, arms_deg: tuple[float, ...], node: Node) -> None:
        """Add a ring of one-way streets; its nodes are ``name0``, ``name1``, ... at the arms' angles, in that order.

        Args:
            name: prefix of its nodes.
            centre: centre of the ring.
            radius_m: radius of the inner lane's inner edge.
            arms_deg: angles of the arms, counter-clockwise, increasing.
            node: template of its junctions.
        """
        ring = one_way(2, lane_m=4.0, sidewalk_m=3.5, island_m=0.6, speed_kmh=30.0)
        for number, angle in enumerate(arms_deg):
            turn = math.radians(angle)
            position_m = (centre[0] + radius_m * math.cos(turn), centre[1] + radius_m * math.sin(turn))
            self.node(f"{name}{number}", position_m, replace(node, ring=True))
        for number, angle in enumerate(arms_deg):
            after = (number + 1) % len(arms_deg)
            sweep = math.radians((arms_deg[after] - angle) % 360.0)
            start = Pose(*self.at[f"{name}{number}"], math.radians(angle) + math.pi / 2)
            path = arc(start, radius_m, sweep)
            self.plan.streets.append(Street(f"{name}{number}", f"{name}{after}", path, ring, setback_m=(9.0, 9.0)))

    def spoke(self, ring_node: str, end: str, profile: Profile, centre: Point) -> None:
        """Add a street that leaves a roundabout."""
        path = rounded([self.at[ring_node], self.at[end]], 20.0)
        reach = math.dist(centre, self.at[ring_node])
        back = 8.0 + math.sqrt(max(reach, 1.0)) * 2.6
        self.plan.streets.append(Street(ring_node, end, path, profile, setback_m=(back, None)))

    def slip(
        self, main: str, end: str, profile: Profile, way: tuple[Pose, tuple[Point, ...]], *, leaving: bool
    ) -> None:
        """Add a slip road that leaves (or joins) a motorway beside its outer lane.

        Args:
            main: node on the motorway.
            end: its other node.
            profile: one-way.
            way: pose beside the outer lane at the exit, in the exit's direction, and points on the path to ``end``.
            leaving: False reverses the road, so that it joins.
        """
        pose, points = way
        ahead = pose.ahead(30.0)
        path = rounded([(pose.x, pose.y), (ahead.x, ahead.y), *points, self.at[end]], 40.0)
        if leaving:
            self.plan.streets.append(Street(main, end, path, profile, setback_m=(52.0, None)))
            return
        pieces = tuple((length, -bend) for length, bend in reversed(path.pieces))
        self.plan.streets.append(Street(end, main, Path(path.end.turned(), pieces), profile, setback_m=(None, 52.0)))
