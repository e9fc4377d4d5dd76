"""Compare the areas of a town's lanes with the exact integral over a lane of the file's own curvatures and widths."""

from itertools import pairwise
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import shapely

from uavsim.maps.lanes import DRIVING, lane_pieces
from uavsim.maps.opendrive.read import read_network
from uavsim.maps.vector_map import polygons_of

__all__ = ["areas_by_integral", "compare_areas"]

WITHIN, LEAST_M2, STEP_M = 0.005, 1.0, 0.1
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)  # exact to degree 15; these are polynomials of degree 7


def areas_by_integral(data: bytes) -> dict[tuple[str, int, int], float]:
    """Return the area of every lane, m^2, by road, section and lane.

    A strip between t1(s) and t2(s) beside a line of curvature k(s) has the integral of (t2 - t1) - k (t2^2 - t1^2) / 2. Roads
    that are not lines, arcs and spirals, or are banked, are excluded.
    """
    found: dict[tuple[str, int, int], float] = {}
    for road in ElementTree.fromstring(data).iter("road"):
        geometry = [(_number(g, "s"), _number(g, "length"), g[0]) for g in road.iterfind("planView/geometry")]
        leans = any(float(e.get(c, "0")) for e in road.iter("superelevation") for c in "abcd")
        if leans or any(shape.tag not in {"line", "arc", "spiral"} for _, _, shape in geometry):
            continue
        offset = [(_number(e, "s"), _cubic(e)) for e in road.iterfind("lanes/laneOffset")]
        sections = road.findall("lanes/laneSection")
        ends = [*(_number(section, "s") for section in sections), _number(road, "length")]
        for number, section in enumerate(sections):
            _add_section(
                found, (road.get("id", ""), number), section, (ends[number], ends[number + 1]), geometry, offset
            )
    return found


def _add_section(found: Any, key: Any, section: Element, span: Any, geometry: Any, offset: Any) -> None:
    for side, sign in (("left", 1.0), ("right", -1.0)):
        inner: list[list[Any]] = []
        for lane in sorted(section.iterfind(f"{side}/lane"), key=lambda e: abs(int(e.get("id", "0")))):
            outer = [*inner, [(span[0] + _number(w, "sOffset"), _cubic(w)) for w in lane.iterfind("width")]]
            s, weight = _nodes(
                span, [*(g[0] for g in geometry), *(k for k, _ in offset), *(k for w in outer for k, _ in w)]
            )
            t1, t2 = (
                _value(offset, s) + sign * sum((np.maximum(_value(w, s), 0.0) for w in ws), 0.0 * s)
                for ws in (inner, outer)
            )
            strip = (t2 - t1) - _curvature(geometry, s) * (t2**2 - t1**2) / 2
            found[(*key, int(lane.get("id", "0")))] = float(abs(np.sum(weight * strip)))
            inner = outer


def _nodes(span: Any, knots: list[float]) -> tuple[Any, Any]:
    inside = sorted({*span, *(k for k in knots if span[0] < k < span[1])})
    middle = np.array([(a + b) / 2 for a, b in pairwise(inside)])
    half = np.array([(b - a) / 2 for a, b in pairwise(inside)])
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _WEIGHTS).ravel()


def _value(pieces: Any, s: Any) -> Any:
    if not pieces:
        return np.zeros_like(s)
    begins = np.array([k for k, _ in pieces])
    which = np.maximum(np.searchsorted(begins, s, side="right") - 1, 0)
    a, b, c, d = np.array([cubic for _, cubic in pieces])[which].T
    ds = s - begins[which]
    return a + b * ds + c * ds**2 + d * ds**3


def _curvature(geometry: Any, s: Any) -> Any:
    which = np.maximum(np.searchsorted([g[0] for g in geometry], s, side="right") - 1, 0)
    ends = {"line": ("0", "0"), "arc": ("curvature", "curvature"), "spiral": ("curvStart", "curvEnd")}
    first, last = (np.array([float(g[2].get(ends[g[2].tag][end], "0")) for g in geometry])[which] for end in (0, 1))
    begin, length = (np.array([g[column] for g in geometry])[which] for column in (0, 1))
    return first + (last - first) * (s - begin) / length


def _number(element: Element, name: str) -> float:
    return float(element.get(name, "0"))


def _cubic(element: Element) -> list[float]:
    return [_number(element, name) for name in "abcd"]


def compare_areas(data: bytes, name: str) -> dict[str, Any]:
    """Return relative differences of areas: of all lanes together, and of deviating lanes."""
    network = read_network(data, name=name)
    pieces = [piece for piece in lane_pieces(network) if piece.lane.type in DRIVING]
    ours = shapely.area(polygons_of([piece.ring_m for piece in pieces]))
    exact = areas_by_integral(data)
    return {"lanes": len(pieces), "integral": _differences(pieces, ours, exact)}


def _differences(pieces: Any, ours: Any, theirs: dict[tuple[str, int, int], float]) -> dict[str, Any]:
    judged = np.array([theirs.get(piece.key, np.nan) for piece in pieces])
    known = np.isfinite(judged) & np.isfinite(ours)
    off = np.where(known & (judged > LEAST_M2), np.abs(ours - judged) / np.maximum(judged, LEAST_M2), 0.0)
    worst = np.argsort(-off)[: int((off > WITHIN).sum())]
    return {
        "judged": int(known.sum()),
        "all": float(abs(ours[known].sum() / judged[known].sum() - 1)),
        "worst": float(off.max()),
        "off": [(*pieces[row].key, round(float(ours[row]), 2), round(float(judged[row]), 2)) for row in worst],
    }
