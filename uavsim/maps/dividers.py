"""Road and lane dividers, and the paint of lane borders in nuScenes' terms."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import shapely

from uavsim.maps.areas import TownLanes
from uavsim.maps.lanes import DRIVING, Key, LanePiece, LaneRecord
from uavsim.maps.opendrive.model import Mark, Road
from uavsim.maps.vector_map import Border, Layer
from uavsim.typing import FloatArray, JsonDict

_Line: TypeAlias = tuple[FloatArray, list[str]]
"""(N, 3) map points along s, metres, and the paint after each point."""

_NONE: Final = "NIL"
_SHORTEST_M: Final = 1.0  # shortest part of a cut lane
_MIRRORED: Final = {"DOUBLE_SOLID_DASHED": "DOUBLE_DASHED_SOLID", "DOUBLE_DASHED_SOLID": "DOUBLE_SOLID_DASHED"}
_PATTERNS: Final = {
    "solid": "SINGLE_SOLID",
    "broken": "SINGLE_DASHED",
    "botts dots": "SINGLE_DASHED",
    "solid solid": "DOUBLE_SOLID",
    "broken broken": "DOUBLE_DASHED",
    "solid broken": "DOUBLE_SOLID_DASHED",
    "broken solid": "DOUBLE_DASHED_SOLID",
}


def paint_of(mark: Mark) -> str:
    """Return nuScenes' term for a road mark, such as ``SINGLE_SOLID_WHITE``, or ``NIL``."""
    pattern = _PATTERNS.get(mark.type)
    return f"{pattern}_{'YELLOW' if mark.colour == 'yellow' else 'WHITE'}" if pattern else _NONE


def _paint_along(marks: list[Mark], ds_m: FloatArray) -> list[str]:
    """Return the paint after each of (M,) positions in a section; the last one repeats the previous paint."""
    if not marks:
        return [_NONE] * len(ds_m)
    names = [paint_of(mark) for mark in marks]
    nearer = np.minimum(ds_m[1:], ds_m[:-1])
    row = np.searchsorted(np.array([mark.s_m for mark in marks]), nearer + 1e-6, side="right") - 1
    return [names[i] if i >= 0 else _NONE for i in [*row.tolist(), int(row[-1])]]


def lane_borders(record: LaneRecord) -> tuple[Border, Border]:
    """Return the left and right border of a lane with paint; borders of a lane change have none."""
    if record.is_change:
        lines = (record.joined("left_m"), record.joined("right_m"))
        return Border(lines[0], [_NONE] * len(lines[0])), Border(lines[1], [_NONE] * len(lines[1]))
    left, right = ([_piece_paint(piece, left=side) for piece in record.pieces] for side in (True, False))
    return (
        Border(record.joined("left_m"), _joined(left)),
        Border(record.joined("right_m"), _joined(right)),
    )


def lane_cuts(record: LaneRecord) -> list[int]:
    """Return the indices of border points at which a section ends, or the paint of any lane in it changes.

    All lanes of a section are cut at the same s. The begin and end of the lane are not included. A section shorter than a
    metre joins the previous section, or the next one at the start of a road.
    """
    index_at: dict[float, int] = {}
    first = 0
    for piece in record.pieces:
        section = piece.section
        lanes = [lane for lane in section.lanes.values() if lane.id == 0 or lane.type in DRIVING]
        position_m = section.s_m
        for s in sorted({mark.s_m + section.s_m for lane in lanes for mark in lane.marks}):
            if min(s - position_m, section.end_m - s) > _SHORTEST_M:
                position_m = s
                index_at[s] = first + _nearest(piece.s_m, s)
        index_at[float(piece.s_m[0])] = first
        first += len(piece.s_m) - 1
        index_at[float(piece.s_m[-1])] = first
    for section in record.road.sections:
        if section.end_m - section.s_m < _SHORTEST_M:
            index_at.pop(section.s_m if section.s_m > 0.0 else section.end_m, None)
    return sorted(set(index_at.values()) - {0, first})


def _nearest(sorted_m: FloatArray, s_m: float) -> int:
    """Return the index of the value nearest to ``s_m`` in (M,) ascending or descending values."""
    falls = sorted_m[0] > sorted_m[-1]
    index = int(np.searchsorted(-sorted_m if falls else sorted_m, -s_m if falls else s_m))
    low = max(index - 1, 0)
    return low + int(np.argmin(np.abs(sorted_m[low : index + 1] - s_m)))


def _joined(parts: list[list[str]]) -> list[str]:
    return [name for part in parts[:-1] for name in part[:-1]] + parts[-1]


def _mirrored(paint: list[str]) -> list[str]:
    """Return the paint of a line in the opposite direction."""
    kinds = [kind.rpartition("_") for kind in paint]
    return [f"{_MIRRORED.get(kind, kind)}{dash}{colour}" for kind, dash, colour in kinds]


def _piece_paint(piece: LanePiece, *, left: bool) -> list[str]:
    """Return the paint along a border; of a double line the left one in the direction of traffic comes first.

    In OpenDRIVE the inner line comes first, and on the centre line the left one along s.
    """
    number = piece.lane.id
    is_inner = ((number < 0) == piece.forward) == left
    lane = piece.section.lanes.get(number - (1 if number > 0 else -1)) if is_inner else piece.lane
    paint = _paint_along([] if lane is None else lane.marks, piece.s_m - piece.section.s_m)
    return _mirrored(paint) if lane is not None and (lane.id > 0) == piece.forward else paint


def divider_layers(town: TownLanes, segments: Layer) -> tuple[dict[str, Layer], dict[str, list[str]]]:
    """Return the layers road_divider and lane_divider outside junctions, and the paint of each line by token."""
    segment_of = {
        row["uav_road"]: name for name, row in zip(segments.tokens, segments.fields, strict=True) if "uav_road" in row
    }
    rows: dict[str, list[tuple[str, object, JsonDict]]] = {"road_divider": [], "lane_divider": []}
    paint: dict[str, list[str]] = {}
    pieces = {piece.key: piece for piece in town.pieces}
    for road in town.network.roads.values():
        if road.in_junction:
            continue
        for number, (kind, parts) in enumerate(_runs(road, pieces)):
            token = town.token(kind, road.id, number)
            points = np.concatenate([parts[0][0], *(line[1:] for line, _ in parts[1:])])
            paint[token] = _joined([names for _, names in parts])
            fields = {"road_segment_token": segment_of.get(road.id, "")} if kind == "road_divider" else {}
            rows[kind].append((token, shapely.linestrings(points), fields))
    return {kind: Layer.of(found) for kind, found in rows.items()}, paint


def _runs(road: Road, pieces: Mapping[Key, LanePiece]) -> list[tuple[str, list[_Line]]]:
    """Return the dividers of a road, each as its parts in consecutive sections."""
    done: list[tuple[str, list[_Line]]] = []
    running: dict[tuple[str, int, int], list[_Line]] = {}
    for number in range(len(road.sections)):
        now: dict[tuple[str, int, int], list[_Line]] = {}
        for key, line in _section_lines(road, number, pieces):
            before = running.get(key)
            if before is not None and np.allclose(before[-1][0][-1], line[0][0], atol=0.05):
                before.append(line)
                now[key] = before
            else:
                now[key] = [line]
                done.append((key[0], now[key]))
        running = now
    return done


def _section_lines(
    road: Road, number: int, pieces: Mapping[Key, LanePiece]
) -> Iterator[tuple[tuple[str, int, int], _Line]]:
    """Yield the dividers of a section from left to right, along s."""
    section = road.sections[number]
    ids = sorted((i for i in section.lanes if i != 0), reverse=True)
    driven = [i for i in ids if section.lanes[i].type in DRIVING and (road.id, number, i) in pieces]
    for a, b in pairwise(driven):
        left, right = pieces[road.id, number, a], pieces[road.id, number, b]
        opposite = left.forward != right.forward
        beside = ids.index(b) == ids.index(a) + 1
        if not (beside or opposite):
            continue
        kind = "road_divider" if opposite else "lane_divider"
        yield (kind, a, b), _facing(right, to_left=True)
        if not beside:  # a median with two dividers
            yield (kind, b, a), _facing(left, to_left=False)


def _facing(piece: LanePiece, *, to_left: bool) -> _Line:
    """Return the left or right border of a piece along s, with its paint."""
    left = to_left == piece.forward
    points, paint = piece.left_m if left else piece.right_m, _piece_paint(piece, left=left)
    return (points, paint) if piece.forward else (points[::-1], _mirrored([*paint[-2::-1], paint[0]]))
