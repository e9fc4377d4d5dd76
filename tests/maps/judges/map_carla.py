"""Compare with ``carla.Map``: positions, heights and areas of lanes, successors, lights and crossings."""

import time
from typing import Any

import carla
import numpy as np
import shapely

from uavsim.maps.build import build
from uavsim.maps.lanes import DRIVING, LanePiece, lane_pieces, lane_records
from uavsim.maps.opendrive.read import read_network
from uavsim.maps.vector_map import VectorMap, polygons_of

__all__ = ["compare"]


def compare(data: bytes, name: str, *, places: int, seed: int) -> dict[str, Any]:
    """Return the largest differences over random points on lanes, and the lanes with different successors."""
    begun = time.monotonic()
    network = read_network(data, name=name)
    town = build(network, name)
    seconds = round(time.monotonic() - begun, 1)
    pieces = {piece.key: piece for piece in lane_pieces(network) if piece.lane.type in DRIVING}
    judge = carla.Map(name, data.decode())
    rng = np.random.default_rng(seed)
    driving_pieces = list(pieces.values())
    lengths = np.array([abs(piece.s_m[-1] - piece.s_m[0]) for piece in driving_pieces])
    off, high, missing = [0.0], [0.0], 0
    for number in rng.choice(len(driving_pieces), places, p=lengths / lengths.sum()):
        piece = driving_pieces[number]
        s = rng.uniform(*sorted((piece.s_m[0], piece.s_m[-1])))
        waypoint = judge.get_waypoint_xodr(int(piece.key[0]), piece.key[2], float(s))
        if waypoint is None:
            missing += 1
            continue
        at, centre_m = waypoint.transform.location, _centre(piece, s)
        off.append(float(np.hypot(at.x - centre_m[0], -at.y - centre_m[1])))
        high.append(float(abs(at.z - centre_m[2])))
    return {
        "seconds": seconds,
        "records": sum(map(len, town.layers.values())),
        "lanes": len(driving_pieces),
        "missing": missing,
        "worst_m": max(off),
        "worst_height_m": max(high),
        "connectivity_differs": _different_ways(network, pieces, judge),
        **_areas(pieces, judge),
        "crossings_off": _crossings(town, judge),
        "lights_differ": _different_lights(town, judge),
    }


def _areas(pieces: Any, judge: Any) -> dict[str, float]:
    """Return relative differences of lane areas: of all lanes, and of the worst one of at least 50 m^2.

    The reference area is the sampled width times the length of the centre line.
    """
    ours = shapely.area(polygons_of([piece.ring_m for piece in pieces.values()]))
    theirs = np.array([_sampled_area(piece, judge) for piece in pieces.values()])
    known = np.isfinite(theirs)
    large = known & (ours > 50.0)
    worst = float(np.abs(theirs[large] / ours[large] - 1).max()) if large.any() else 0.0
    return {"areas_off": float(abs(theirs[known].sum() / ours[known].sum() - 1)), "worst_area_off": worst}


def _sampled_area(piece: LanePiece, judge: Any) -> float:
    low, high = sorted((float(piece.s_m[0]), float(piece.s_m[-1])))
    at = np.linspace(low + 1e-4, high - 1e-4, max(int((high - low) / 0.5), 2) + 1)
    points = [judge.get_waypoint_xodr(int(piece.key[0]), piece.key[2], float(s)) for s in at]
    if any(point is None for point in points):
        return float("nan")
    places = np.array([(p.transform.location.x, p.transform.location.y) for p in points])
    widths = np.array([p.lane_width for p in points])
    return float(np.sum((widths[1:] + widths[:-1]) / 2 * np.linalg.norm(np.diff(places, axis=0), axis=1)))


def _crossings(town: VectorMap, judge: Any) -> float:
    """Return the relative difference of the area of all crossings."""
    ours = float(shapely.area(town.layer("ped_crossing").shapes).sum())
    theirs = float(sum(shapely.area(ring) for ring in _rings([(p.x, -p.y) for p in judge.get_crosswalks()])))
    return abs(theirs / ours - 1) if ours else theirs


def _different_lights(town: VectorMap, judge: Any) -> list[str]:
    """Return the traffic lights with different lanes, by the file's validities as CARLA reads them."""
    lanes = {
        token: (row["uav_road"], row["uav_lane"])
        for kind in ("lane", "lane_connector")
        for token, row in zip(town.layer(kind).tokens, town.layer(kind).fields, strict=True)
    }
    ours = {
        row["uav_signal"]: {lanes[token] for token in row["uav_lane_tokens"] if token in lanes}
        for row in town.layer("traffic_light").fields
    }
    theirs: dict[str, set[tuple[str, int]]] = {}
    for landmark in judge.get_all_landmarks():
        if landmark.id in ours:
            ranges = [sorted(pair) for pair in landmark.get_lane_validities()]
            ids = {lane for low, high in ranges for lane in range(low, high + 1) if lane}
            theirs.setdefault(landmark.id, set()).update((str(landmark.road_id), lane) for lane in ids)
    known = {lane for found in ours.values() for lane in found} | set(lanes.values())
    return [signal for signal, found in theirs.items() if found & known and found & known != ours[signal]]


def _rings(corners: list[tuple[float, float]]) -> list[Any]:
    """Return the polygons of a list of corners with closed rings, without unclosed rings."""
    found, at = [], 0
    while at < len(corners):
        ends = (n for n in range(at + 3, min(at + 20, len(corners))) if np.allclose(corners[n], corners[at], atol=1e-3))
        end = next(ends, at)
        found += [shapely.polygons(corners[at : end + 1])] if end > at else []
        at = end + 1
    return found


def _centre(piece: LanePiece, s_m: float) -> Any:
    """Return the centre of a lane at a station."""
    s = np.array([s_m])
    borders = piece.road.borders_m(piece.section, s)
    side = [0, *(lane.id for lane in piece.section.side(1 if piece.lane.id > 0 else -1))]
    inner = side[side.index(piece.lane.id) - 1]
    return piece.road.xyz(s, (borders[inner] + borders[piece.lane.id]) / 2)[0]


def _different_ways(network: Any, pieces: Any, judge: Any) -> list[Any]:
    records, edges = lane_records(network, pieces)
    where = {piece.key: number for number, record in enumerate(records) for piece in record.pieces}
    ahead: dict[int, set[Any]] = {number: set() for number in range(len(records))}
    for before, after in edges:
        ahead[before].add(after)
    differ = []
    for number, record in enumerate(records):
        piece = record.pieces[-1]
        begin, end = piece.s_m[0], piece.s_m[-1]
        step = min(0.01, abs(end - begin) / 10)
        waypoint = judge.get_waypoint_xodr(int(piece.key[0]), piece.key[2], float(end - np.sign(end - begin) * step))
        found = (
            set()
            if waypoint is None
            else {
                where.get((str(w.road_id), w.section_id, w.lane_id), (w.road_id, w.section_id, w.lane_id))
                for w in waypoint.next(2 * step + 0.001)
            }
            - {number}
        )
        if found != ahead[number]:
            ours, theirs = (
                [k if isinstance(k, tuple) else records[k].pieces[0].key for k in s] for s in (ahead[number], found)
            )
            differ.append({"lane": piece.key, "ours": ours, "carla": theirs})
    return differ
