"""Checks that CARLA's client, which has another parser, reads the same roads from a file.

Measured with ``carla.Map(name, text)`` of 0.9.16: it uses the leading digits of an id, so that roads replace each other,
crashes (signal 11) or raises at missing elements, and returns NaN positions on arcs without curvature.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from headless_simulator.towns.network import DRIVABLE, Road, Section
from headless_simulator.towns.xml_nodes import Node

_LARGEST_ID: Final = 2**32 - 1
_NARROWEST_M: Final = 0.05  # below zero: rounding of editors
_GAP_M: Final = 1.0  # without a reference line; the client puts all of it at one point


def client_id(text: str) -> int:
    """Return the client's number of an id."""
    sign, hexadecimal, digits = re.match(r"\s*([-+]?)(?:0[xX]([0-9a-fA-F]+)|(\d*))", text, re.ASCII).groups()  # type: ignore[union-attr]
    number = int(hexadecimal, 16) if hexadecimal else int(digits[:20] or 0)
    return 0 if sign == "-" else min(number, _LARGEST_ID)


def check_client_reading(roads: Mapping[str, Road], nodes: Mapping[str, Node], junctions: list[Node]) -> None:
    """Refuse a file that the client cannot read, or reads with other roads.

    Args:
        roads: roads by id.
        nodes: road elements by id.
        junctions: elements of all junctions.

    Raises:
        OpenDriveRefused: with the road's id and what to change.
    """
    by_client_id: dict[int, Road] = {}
    for number, road in roads.items():
        twin = by_client_id.setdefault(client_id(number), road)
        if twin is not road:
            raise nodes[number].refuse(
                f"CARLA's client reads ids {twin.number!r} and {number!r} as the same road; use different integers"
            )
    junction_ids: dict[int, str] = {}
    for node in junctions:
        number = node.word("id")
        if client_id(number) in junction_ids:
            twin_id = junction_ids[client_id(number)]
            raise node.refuse(
                f"CARLA's client reads ids {twin_id!r} and {number!r} as the same junction; use different integers"
            )
        junction_ids[client_id(number)] = number
    signals = {signal.word("id") for node in nodes.values() for signal in _signals(node, "signal")}
    for number, road in roads.items():
        for problem in (
            *_problems(road),
            *_broken_links(road, by_client_id),
            *_lost_references(nodes[number], signals),
        ):
            raise nodes[number].refuse(f"road {number!r}: {problem}")


def _problems(road: Road) -> Iterator[str]:
    """Yield the problems of one road alone."""
    if road.length_m <= 0:
        yield "its length is 0; leave it out"
    if road.plan[0].s > 0:
        yield f"its first <geometry> begins at s {road.plan[0].s:g}, not 0"
    ends = [*(piece.s for piece in road.plan[1:]), road.length_m]
    for piece, end in zip(road.plan, ends, strict=True):
        if end - piece.s - piece.length_m > _GAP_M:
            yield f"it has no <geometry> from s {piece.s + piece.length_m:g} to {end:g}"
        if piece.length_m > 0 and piece.kind == "arc" and piece.values[0] == 0:
            yield f"the <arc> at s {piece.s:g} has no curvature; write a <line>"
        if piece.length_m > 0 and piece.kind == "spiral" and piece.values[0] == piece.values[1]:
            yield f"the <spiral> at s {piece.s:g} has one curvature; write an <arc> or a <line>"
    for name, records in (("elevation", road.elevation), ("laneOffset", road.lane_offset)):
        if len(records.starts) and records.starts[0] > 0:
            yield f"its first <{name}> begins at s {records.starts[0]:g}, not 0"
    if any(before.s == after.s for before, after in pairwise(road.sections)):
        yield "two of its lane sections begin at one s"
    for section in road.sections:
        yield from _section_problems(road, section)


def _section_problems(road: Road, section: Section) -> Iterator[str]:
    drives = any(lane.kind in DRIVABLE for lane in section.lanes.values())
    if section.s < 0 or section.s > road.length_m or (drives and section.s == road.length_m):
        yield f"its lane section at s {section.s:g} is not within its length of {road.length_m:g} m"
    if 0 not in section.lanes:
        yield f"its lane section at s {section.s:g} has no lane 0 in <center>"
    for lane in section.lanes.values():
        if lane.number and len(lane.width.starts) and lane.width.starts[0] > 0:
            yield f"the first <width> of lane {lane.number} begins at sOffset {lane.width.starts[0]:g}, not 0"
        if lane.number and lane.kind in DRIVABLE and not len(lane.width.starts):
            yield f"lane {lane.number} has no <width>; the client reads no <border>"
        if lane.kind in DRIVABLE and (lane.width.coefficients[:, :1] < -_NARROWEST_M).any():
            yield f"lane {lane.number} has a negative width"


def _broken_links(road: Road, by_client_id: Mapping[int, Road]) -> Iterator[str]:
    """Yield links to junctions with a road's id, and lane links to missing lanes."""
    for link in (road.predecessor, road.successor):
        if link is not None and link.element == "junction" and client_id(link.number) in by_client_id:
            yield f"it leads to junction {link.number!r}, but a road has the same id, and the client follows that road"
    for index, section in enumerate(road.sections):
        for lane in section.lanes.values():
            goes_on = lane.number <= 0
            target, link = (lane.successor, road.successor) if goes_on else (lane.predecessor, road.predecessor)
            others = road.sections[index + 1 :] if goes_on else road.sections[:index]
            where = "the next lane section"
            if not others:
                neighbour = by_client_id.get(client_id(link.number)) if link is not None else None
                others = neighbour.sections if neighbour is not None else ()
                where = f"road {neighbour.number!r}" if neighbour is not None else ""
            if target and others and not any(target in other.lanes for other in others):
                yield f"its lane {lane.number} leads to lane {target} of {where}, which does not exist"


def _lost_references(road: Node, signals: set[str]) -> Iterator[str]:
    for reference in _signals(road, "signalReference"):
        if reference.word("id") not in signals:
            yield f"its <signalReference> {reference.word('id')!r} names no signal of the file"


def _signals(road: Node, tag: str) -> Iterator[Node]:
    group = road.first("signals")
    return group.all(tag) if group is not None else iter(())
