"""``uavsim evaluate swarm``: recall and AP of one or two results by groups of boxes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.dataset.tables import iter_rows
from uavsim.errors import InputError
from uavsim.records.ingredients import AGENT_KINDS
from uavsim.registry import pick
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.bootstrap import interval_of, jackknife, scene_draws
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.frame_check import FrameCheck
from uavsim_benchmarks.evaluate.nuscenes.detection import CLASSES
from uavsim_benchmarks.evaluate.nuscenes.result_input import WIDE_RANGE_M, only_version, reader_of, scored_samples
from uavsim_benchmarks.evaluate.outcome import Curve, EvaluationRequest, Outcome, Row, Table
from uavsim_benchmarks.evaluate.ranges import range_on_ground
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth, read_truth
from uavsim_benchmarks.evaluate.swarm.scores import (
    FOUND_WITHIN_M,
    Matched,
    SwarmCounter,
    bins_of,
    group_ap,
    group_recall,
    score_group,
)

__all__ = ["compare_results", "evaluate_swarm"]

_DISTANCES_M: Final = (0.0, 25.0, 50.0, 75.0, WIDE_RANGE_M)
_PIXELS: Final = (0.0, 100.0, 400.0, 1600.0)
_OCCLUSIONS: Final = (0.0, 0.1, 0.4, 0.7)
_LEVELS: Final = ("none", "v0-40", "v40-60", "v60-80", "v80-100")
_BITS: Final = {kind.letter: 1 << bit for bit, kind in enumerate(AGENT_KINDS.values())}
_DRAWS: Final = 200
_MOST_DRAWS: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class _Grouping:
    """A grouping: the bin of each box and, if defined, a function that bins predictions."""

    names: list[str]
    of_box: IntArray
    of_prediction: Callable[[Matched], IntArray] | None = None


def evaluate_swarm(request: EvaluationRequest) -> Outcome:
    """Score detections by number of drones and kinds of agents that see a box, occlusion, distance, pixels and weather.

    Options: ``against=FILE`` compares with a second result; ``ego`` is the agent at the origin of ranges; ``min_score``,
    ``range`` (metres), ``draws``, ``seed`` and ``ignore_regions``.

    Raises:
        InputError: the results are refused, or the dataset lacks the drones that see each box.
    """
    version = only_version(request)
    channel = _ego_channel(request, version)
    truth = read_truth(request.truth, version, labels=CLASSES, split=request.split, ego_channel=channel)
    if (truth.drones < 0).any():
        raise InputError(f"{request.truth / version}: annotations lack uav_seen_by, the drones that see a box")
    limit_m = request.number("range", WIDE_RANGE_M)
    ring_m = (FOUND_WITHIN_M if "_id_v" in channel else 0.0, limit_m)  # excludes the box of a car that is the ego
    kinds = _kinds_that_measure(request.truth / version / "visibility_detail.json", truth.key)
    evaluated = ((truth.drones > 0) | (kinds > 0)) & _in_ring(truth.boxes, truth, ring_m)
    scored, matched = _matched(request, truth, truth.boxes.take(evaluated), ring_m)
    evaluated &= scored[truth.boxes.sample]
    true_boxes = truth.boxes.take(evaluated)
    scenes = np.unique(truth.scene[scored])
    rng = np.random.default_rng(request.count("seed", 0))
    draws = np.zeros((request.count("draws", _DRAWS, most=_MOST_DRAWS), len(truth.scenes)))
    draws[:, scenes] = scene_draws(len(scenes), len(draws), rng)
    groupings = _groupings(request.truth / version, truth, true_boxes, evaluated)
    if kinds.any():
        groupings["kinds"] = _by_kinds(kinds[evaluated])
    scores, tables = _group_scores(matched, groupings, draws)
    summary: JsonDict = {
        "found_within_m": FOUND_WITHIN_M, "range_m": limit_m, "scenes": len(scenes), "samples": int(scored.sum()),
        "draws": len(draws),
    }  # fmt: skip
    overall = score_group(matched, np.ones(len(true_boxes), bool), np.ones(len(matched.score), bool), draws)
    summary |= {"recall": overall.recall.value, "ap": overall.ap.value, "overall": overall.as_json(), **scores}
    other = request.path("against")
    if other is not None:
        other_scored, second = _matched(replace(request, results=other), truth, truth.boxes.take(evaluated), ring_m)
        if not np.array_equal(other_scored, scored):
            raise InputError(f"{other}: covers other scenes than {request.results}; select one --split")
        summary["comparison"] = compare_results(matched, second, draws, [truth.scenes[n] for n in scenes], scenes)
        tables = (*tables, _comparison_table(summary["comparison"]))
    return Outcome("swarm", request.mode, summary, ("recall", "ap"), tables, _curves(scores))


def _ego_channel(request: EvaluationRequest, version: str) -> str:
    """Return a channel of the ego agent, drone 0 by default."""
    ego = request.options.get("ego")
    if ego is None:
        return "LIDAR_TOP"
    channels = [str(row["channel"]) for row in iter_rows(request.truth / version / "sensor.json")]
    by_agent = {channel.rpartition("_id_")[2]: channel for channel in reversed(channels) if "_id_" in channel}
    return pick(by_agent, ego, what="agent")


def _in_ring(boxes: Boxes, truth: Truth, ring_m: tuple[float, float]) -> BoolArray:
    away_m = range_on_ground(boxes, truth.ego_m)
    return (away_m >= ring_m[0]) & (away_m < ring_m[1])


def _matched(
    request: EvaluationRequest, truth: Truth, boxes: Boxes, ring_m: tuple[float, float]
) -> tuple[BoolArray, Matched]:
    reader = reader_of(request, truth, CLASSES, regions=True)
    check = FrameCheck(boxes, truth)
    counter = SwarmCounter(boxes, truth.scene, min_score=request.number("min_score", 0.0), ego_m=truth.ego_m)
    for block in reader.blocks():
        check.add(block)
        counter.add(block.take(_in_ring(block, truth, ring_m)))
    check.raise_if_wrong(request.results)
    scored = scored_samples(request, truth, reader)
    return scored, counter.matched(scored)


def _groupings(tables: Path, truth: Truth, boxes: Boxes, evaluated: BoolArray) -> dict[str, _Grouping]:
    drones = truth.drones[evaluated]
    most_drones = int(drones.max(initial=1))
    away, away_names = bins_of(range_on_ground(boxes, truth.ego_m), _DISTANCES_M)
    weather, of_scene = _weather(tables)
    groupings = {
        "drones": _Grouping([str(n) for n in range(1, most_drones + 1)], drones - 1),
        "distance_m": _Grouping(away_names, away, lambda matched: bins_of(matched.found_range_m, _DISTANCES_M)[0]),
        "visibility": _Grouping(list(_LEVELS), np.minimum(truth.visibility[evaluated], len(_LEVELS) - 1)),
        "weather": _Grouping(weather, of_scene[truth.scene[boxes.sample]], lambda found: of_scene[found.found_scene]),
    }
    pixels, occlusion = _views(tables / "visibility_detail.json", truth.key[evaluated])
    if pixels is not None and occlusion is not None:
        for name, value, edges in (("pixels", pixels, _PIXELS), ("occlusion", occlusion, _OCCLUSIONS)):
            bins, names = bins_of(value, edges)
            groupings[name] = _Grouping(names, bins)
    return groupings


def _weather(tables: Path) -> tuple[list[str], IntArray]:
    """Return the names of the weathers and the weather of each scene, from ``uav_weather`` of its log."""
    log = {row["token"]: str(row.get("uav_weather", "unknown")) for row in iter_rows(tables / "log.json")}
    of_scene = [log.get(row["log_token"], "unknown") for row in iter_rows(tables / "scene.json")]
    names = sorted(set(of_scene))
    return names, np.array([names.index(name) for name in of_scene], dtype=np.int64)


def _views(path: Path, key: IntArray) -> tuple[FloatArray | None, FloatArray | None]:
    """Return (N,) visible pixels and occlusion of each box in its best view; None without the table."""
    if not path.is_file():
        return None, None
    pixels, occlusion = np.full(len(key), np.nan), np.full(len(key), np.nan)
    for row, box in _rows_of_boxes(path, key):
        if row["views"]:
            best = max(row["views"], key=lambda view: int(view["visible_px"]))
            pixels[box], occlusion[box] = best["visible_px"], best["occlusion"]
    return pixels, occlusion


def _rows_of_boxes(path: Path, key: IntArray) -> Iterator[tuple[JsonDict, int]]:
    """Yield the rows of ``visibility_detail`` with the number of their box, of (N,) hashes of the boxes' tokens."""
    order = np.argsort(key)
    for row in iter_rows(path):
        token = hash(row["sample_annotation_token"])
        position = int(np.searchsorted(key, token, sorter=order))
        if position < len(key) and key[order[position]] == token:
            yield row, int(order[position])


def _kinds_that_measure(path: Path, key: IntArray) -> IntArray:
    """Return (N,) bit masks of the kinds of agents with a pixel or point of each box, in the order of ``AGENT_KINDS``.

    0 if the dataset lacks them.
    """
    kinds = np.zeros(len(key), dtype=np.int64)
    for row, box in _rows_of_boxes(path, key) if path.is_file() else ():
        if "agents" not in row:
            break  # either all rows have the column or none
        letters = {str(entry["agent"])[:1] for entry in row["agents"]}
        kinds[box] = sum({_BITS.get(letter, _BITS[""]) for letter in letters})
    return kinds


def _by_kinds(kinds: IntArray) -> _Grouping:
    """Group boxes by the kinds of agents that measure them: air, ground or both."""
    masks = np.unique(kinds)
    kinds_of = [[kind.plural for kind in AGENT_KINDS.values() if mask & _BITS[kind.letter]] for mask in masks.tolist()]
    names = [" and ".join(plurals) for plurals in kinds_of]
    return _Grouping(names, np.searchsorted(masks, kinds))


def _group_scores(
    matched: Matched, groupings: dict[str, _Grouping], draws: FloatArray
) -> tuple[JsonDict, tuple[Table, ...]]:
    scores: JsonDict = {}
    tables = []
    for kind, grouping in groupings.items():
        prediction_bins = grouping.of_prediction(matched) if grouping.of_prediction else None
        rows: list[Row] = []
        for number, name in enumerate(grouping.names):
            member = grouping.of_box == number
            if not member.any():
                continue
            candidate = np.ones(len(matched.score), bool) if prediction_bins is None else prediction_bins == number
            score = score_group(matched, member, candidate, draws)
            scores.setdefault(f"by_{kind}", {})[name] = score.as_json()
            r, a = score.recall, score.ap
            rows.append((name, score.boxes, r.value, r.low, r.high, a.value, a.low, a.high))
        columns = (kind, "boxes", "recall", "from", "to", "ap", "from", "to")
        tables.append(Table(f"by {kind.replace('_', ' ')}, 95 % intervals over scenes", columns, tuple(rows)))
    return scores, tuple(tables)


def compare_results(first: Matched, second: Matched, draws: FloatArray, names: list[str], scenes: IntArray) -> JsonDict:
    """Compare two results on the same boxes, with intervals from the same bootstrap draws.

    Args:
        first: matches of the first result.
        second: matches of the second result; differences are ours - theirs.
        draws: (draws, scenes).
        names: names of the scored scenes.
        scenes: (names,) numbers of these scenes.

    Returns:
        Differences of recall and AP with intervals and the share of draws above 0, and contributions of the scenes: those to
        recall add up to the difference; those to AP are the loss of difference without the scene.
    """
    every = [
        (matched, np.ones(len(matched.scene), bool), np.ones(len(matched.score), bool)) for matched in (first, second)
    ]

    def recall_gap(weight: FloatArray) -> FloatArray:
        return group_recall(first, every[0][1], weight) - group_recall(second, every[1][1], weight)

    def ap_gap(weight: FloatArray) -> FloatArray:
        return group_ap(*every[0], weight) - group_ap(*every[1], weight)

    equal = np.ones((1, draws.shape[1]))
    comparison: JsonDict = {}
    for name, gap in (("recall", recall_gap), ("ap", ap_gap)):
        drawn = gap(draws)
        interval = interval_of(float(gap(equal)[0]), drawn)
        comparison[name] = interval.as_json() | {
            "share_of_draws_above_0": float(np.nanmean(drawn > 0)) if len(drawn) else None
        }

    def without(weight: FloatArray) -> float:
        full = np.zeros((1, draws.shape[1]))
        full[0, scenes] = weight
        return float(ap_gap(full)[0])

    more = np.bincount(first.scene, weights=first.found.astype(float) - second.found, minlength=draws.shape[1])
    parts = zip(names, (more[scenes] / max(len(first.scene), 1)).tolist(), jackknife(without, len(scenes)), strict=True)
    rows = [{"scene": name, "recall": recall, "ap": float(ap)} for name, recall, ap in parts]
    comparison["scenes"] = sorted(rows, key=lambda row: -abs(row["recall"]))
    return comparison


def _comparison_table(comparison: JsonDict) -> Table:
    rows: list[Row] = [
        (f"difference of {name}", comparison[name]["value"], comparison[name]["low"], comparison[name]["high"])
        for name in ("recall", "ap")
    ]
    rows += [(row["scene"], row["recall"], None, None) for row in comparison["scenes"][:5]]
    return Table(
        "against the second result; then the scenes with the largest parts of recall",
        ("", "value", "from", "to"),
        tuple(rows),
    )


def _curves(scores: JsonDict) -> tuple[Curve, ...]:
    curves = []
    for question, groups in scores.items():
        x = np.arange(len(groups) + 1, dtype=np.float64)
        lines = {
            key: (x, np.array([group[key]["value"] for group in groups.values()], dtype=np.float64))
            for key in ("recall", "ap")
        }
        title = question.replace("_", " ")
        curves.append(Curve(title, title.removeprefix("by "), "recall, AP", lines, steps=True, ticks=tuple(groups)))
    return tuple(curves)
