"""Measure by how much a shift by an index misjudges late messages: ``scripts/trial asynchrony [FOLDER ...]``.

    scripts/trial asynchrony out/async-cost [out/other ...] [--jitter-ms 5 ...] [--draw FILE.png [--features FILE.json]]
        [--json FILE.json]

Each folder is a dataset as ``async-cost``: keyframes as often as the clocks fire; without one it is flown. Several differ in
their cameras' jitter. A detector without mistakes gives the boxes that an image's instance mask shows, where they are at that
image's instant, so that only time is wrong. At each keyframe, boxes of the others are fused with drone 0's own, and scored
against what any drone sees at that very instant. True messages are firings by the others' clocks that have arrived by then;
the shortcut takes the others' keyframes some indices older. Motion is compensated by the sender's last two boxes of an object
and the difference of the two agents' clocks. ``--features`` draws what ``asynchronous-training --json`` wrote beside. Ends
with 0 only if no message is of the future.
"""

import argparse
import json
import tempfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

import uavsim
from tools.common import ROOT
from tools.common.program import run_uavsim
from uavsim.access.images import Image
from uavsim.access.scenes import Sample, Scene
from uavsim.ingredients.clocks.tables import CLOCK, CLOCK_READING, ClockRow
from uavsim.records.channels import agent_id
from uavsim.typing import BoolArray, FloatArray
from uavsim_benchmarks.evaluate.bootstrap import interval_of, scene_draws
from uavsim_benchmarks.evaluate.nuscenes.detection import average_precision, class_curves

LATENCIES_MS: Final = tuple(range(0, 401, 50))
OFFSETS_MS: Final = (0, 10, 20, 50, 100, 200)
SPREADS_MS: Final = (0, 25, 50, 75, 100)
AT_MS: Final = 100  # latency of the curves over offset and jitter
WAIT_MS: Final = 50  # for the next firing, on average: half a period
FIRST_KEYFRAME: Final = 7  # earlier ones have no messages of the longest latency
SEEN_PX: Final = 20
NEAR_M: Final = 2.0  # of two fused boxes nearer than this, the better is kept
MATCH_M: Final = 1.0
MOVING_MPS: Final = 1.0
DRAWS: Final = 500


@dataclass(frozen=True, slots=True)
class Seen:
    """Boxes that one drone's images of one instant show.

    Attributes:
        timestamp_us: true time.
        centre_m: (2,) by token of the object, frame map.
    """

    timestamp_us: int
    centre_m: Mapping[str, FloatArray]


class Flight(NamedTuple):
    """Boxes that the drones of a scene see at keyframes and at firings of their own clocks, in the order of time."""

    keyframes: Mapping[str, Sequence[Seen]]
    firings: Mapping[str, Sequence[Seen]]
    moving: Sequence[frozenset[str]]  # objects, by keyframe
    clock: Mapping[str, Callable[[float], float]]  # true time, us -> how far it is ahead, us


Heard = Callable[[Flight, str, int], tuple[Seen, Seen | None, float] | None]
"""A sender's newest boxes at a keyframe, those before, and their age as the receiver reckons it, seconds."""


def read_flight(scene: Scene) -> Flight:
    """Read a scene."""
    by_clock = {row["sample_data_token"] for row in scene.rows(CLOCK_READING)}
    start_us = scene.samples[0].timestamp_us
    keys = {sample.timestamp_us for sample in scene.samples}
    channels = {image.channel for image in scene.samples[0].images}
    taken = [image for channel in sorted(channels) for image in scene.images_of(channel)]
    keyframes: dict[str, list[Seen]] = {}
    firings: dict[str, list[Seen]] = {}
    for image in sorted(taken, key=lambda image: image.timestamp_us):
        agent = agent_id(image.channel)
        found = Seen(image.timestamp_us, _shown(scene, image))
        if image.timestamp_us in keys:
            keyframes.setdefault(agent, []).append(found)
        if image.token in by_clock:
            firings.setdefault(agent, []).append(found)
    return Flight(
        keyframes, firings, [_moving(sample) for sample in scene.samples], _clocks(scene.rows(CLOCK), start_us)
    )


def _clocks(rows: Sequence[ClockRow], start_us: int) -> dict[str, Callable[[float], float]]:
    def ahead(drift_ppm: float, offset_us: float) -> Callable[[float], float]:
        return lambda time_us: (time_us - start_us) * drift_ppm * 1e-6 + offset_us

    return {str(row["agent"]): ahead(float(row["drift_ppm"]), float(row["offset_us"])) for row in rows}


def _moving(sample: Sample) -> frozenset[str]:
    boxes = sample.boxes
    fast = np.hypot(*boxes.velocity_map_mps[:, :2].T) > MOVING_MPS
    return frozenset(token for token, own in zip(boxes.instance_tokens, fast.tolist(), strict=True) if own)


def _shown(scene: Scene, image: Image) -> dict[str, FloatArray]:
    ids, pixels = np.unique(image.mask()[0], return_counts=True)
    boxes = scene.boxes_at(image.timestamp_us)
    shown = np.isin(boxes.instance_id, ids[pixels >= SEEN_PX]).tolist()
    cars = [own and name.startswith("vehicle") for own, name in zip(shown, boxes.categories, strict=True)]
    centres = boxes.map_SE3_box.translation_m[:, :2]
    return {boxes.instance_tokens[row]: centres[row] for row in np.flatnonzero(cars).tolist()}


def shifted(latency_ms: float, *, every_ms: float = 100.0) -> Heard:
    """Return the shortcut: the keyframe so many indices older, the same for all senders."""
    shift = round(latency_ms / every_ms)

    def heard(flight: Flight, sender: str, key: int) -> tuple[Seen, Seen | None, float]:
        own = flight.keyframes[sender]
        age_s = (own[key].timestamp_us - own[key - shift].timestamp_us) * 1e-6
        return own[key - shift], own[key - shift - 1], age_s

    return heard


def arrived(latency_ms: float, *, offset: float = 1.0, spread_ms: float = 0.0) -> Heard:
    """Return true messages: the newest firing that has arrived, and its age by both clocks.

    Args:
        latency_ms: on average.
        offset: scales how far the clocks are off.
        spread_ms: most by which each message is earlier or later than that.
    """

    def arrival_us(sender: str, seen: Seen) -> float:
        share = 2.0 * zlib.crc32(f"{sender} {seen.timestamp_us}".encode()) / 2**32 - 1.0
        return seen.timestamp_us + (latency_ms + share * spread_ms) * 1e3

    def heard(flight: Flight, sender: str, key: int) -> tuple[Seen, Seen | None, float] | None:
        now_us = flight.keyframes[sender][key].timestamp_us
        here = [own for own in flight.firings[sender] if own.timestamp_us <= now_us >= arrival_us(sender, own)]
        if not here:
            return None
        ahead = flight.clock["0"](now_us) - flight.clock[sender](here[-1].timestamp_us)
        return here[-1], here[-2] if len(here) > 1 else None, (now_us - here[-1].timestamp_us + offset * ahead) * 1e-6

    return heard


def boxes_heard(heard: tuple[Seen, Seen | None, float], *, compensated: bool) -> dict[str, FloatArray]:
    """Return what a message says of places now: as they were, or moved on by the sender's last two boxes of each object."""
    new, old, age_s = heard
    if not compensated or old is None:
        return dict(new.centre_m)
    between_s = (new.timestamp_us - old.timestamp_us) * 1e-6  # a drift of 50 ppm in a tenth of a second is 5 us
    return {
        name: centre + (centre - old.centre_m[name]) * age_s / between_s if name in old.centre_m else centre
        for name, centre in new.centre_m.items()
    }


class Count(NamedTuple):
    """Boxes of one scene: scores, whether each hits, how many there are in truth; ages of messages, s."""

    score: FloatArray
    hit: BoolArray
    truth: int
    ages_s: FloatArray


def count_scene(flight: Flight, heard: Heard | None, *, compensated: bool) -> Count:
    """Fuse and match at every keyframe, moving objects alone."""
    scores, hits, ages, truths = list[float](), list[bool](), list[float](), 0
    for key in range(FIRST_KEYFRAME, len(flight.moving)):
        moving = flight.moving[key]
        truth = {n: c for own in flight.keyframes.values() for n, c in own[key].centre_m.items() if n in moving}
        boxes = [(1.0, centre) for name, centre in flight.keyframes["0"][key].centre_m.items() if name in moving]
        for sender in flight.firings if heard is not None else ():
            got = heard(flight, sender, key) if heard is not None and sender != "0" else None
            if got is None:
                continue
            age_s = (flight.keyframes[sender][key].timestamp_us - got[0].timestamp_us) * 1e-6
            ages.append(age_s)
            places = boxes_heard(got, compensated=compensated)
            boxes += [(0.9 / (1.0 + age_s), centre) for name, centre in places.items() if name in moving]
        kept = _fused(boxes)
        truths += len(truth)
        free = list(truth.values())
        for score, centre in kept:
            away = [float(np.hypot(*(centre - other))) for other in free]
            nearest = int(np.argmin(away)) if away else -1
            hit = bool(away) and away[nearest] < MATCH_M
            scores.append(score)
            hits.append(hit)
            if hit:
                free.pop(nearest)
    return Count(np.array(scores), np.array(hits, dtype=bool), truths, np.array(ages))


def _fused(boxes: Sequence[tuple[float, FloatArray]]) -> list[tuple[float, FloatArray]]:
    kept: list[tuple[float, FloatArray]] = []
    for score, centre in sorted(boxes, key=lambda box: -box[0]):
        if all(np.hypot(*(centre - other)) >= NEAR_M for _, other in kept):
            kept.append((score, centre))
    return kept


def ap_of(counts: Sequence[Count], weights: Sequence[int]) -> float:
    """Return the AP of scenes that are each counted some times."""
    used = [count for count, times in zip(counts, weights, strict=True) for _ in range(times)]
    score, hit = np.concatenate([c.score for c in used]), np.concatenate([c.hit for c in used])
    order = np.argsort(-score, kind="stable")
    curve = class_curves(score[order], hit[order], sum(c.truth for c in used))
    return average_precision(curve.precision, min_recall=0.1, min_precision=0.1)


def measure(
    flights: Sequence[Flight], heard: Heard | None, *, compensated: bool = False, less: Heard | None = None
) -> dict[str, float]:
    """Return AP with its interval over scenes, the mean age of messages, and how many boxes there are.

    Args:
        flights: of all scenes.
        heard: what the ego hears.
        compensated: whether motion is.
        less: the AP of these messages is taken off, on the same drawings of scenes.
    """
    counts = [count_scene(flight, heard, compensated=compensated) for flight in flights]
    others = [count_scene(flight, less, compensated=compensated) for flight in flights] if less else None

    def value(weights: Sequence[int]) -> float:
        return ap_of(counts, weights) - (ap_of(others, weights) if others else 0.0)

    draws = scene_draws(len(counts), DRAWS, np.random.default_rng(0))
    drawn = np.array([value(weights.tolist()) for weights in draws])
    ages = np.concatenate([count.ages_s for count in counts])
    about = {"age_ms": float(ages.mean() * 1e3) if len(ages) else 0.0, "truth": sum(c.truth for c in counts)}
    if len(ages) and ages.min() < 0:
        raise SystemExit(f"a message is {-ages.min():g} s of the future")
    return interval_of(value([1] * len(counts)), drawn).as_json() | about


def curves_of(datasets: Mapping[float, Sequence[Flight]], main: float) -> dict[str, Any]:
    """Return every curve: over latency and offset of the dataset whose jitter is ``main``, over jitter of all."""
    flights = datasets[main]
    found: dict[str, Any] = {"alone": measure(flights, None)}
    for name, how in (("true", arrived), ("shift", shifted)):
        steps = [ms for ms in LATENCIES_MS if name == "true" or ms % 100 == 0]
        for moved in (False, True):
            label = f"{name}, compensated" if moved else name
            found[f"latency: {label}"] = {ms: measure(flights, how(ms), compensated=moved) for ms in steps}
    for moved in (False, True):
        label = "true less shift, compensated" if moved else "true less shift"
        found[label] = {
            ms: measure(flights, arrived(ms), compensated=moved, less=shifted(ms))
            for ms in LATENCIES_MS if ms % 100 == 0
        }  # fmt: skip
    for moved in (False, True):
        label = "true less shift of equal age, compensated" if moved else "true less shift of equal age"
        found[label] = {
            ms: measure(flights, arrived(ms - WAIT_MS), compensated=moved, less=shifted(ms))
            for ms in LATENCIES_MS if ms % 100 == 0 < ms
        }  # fmt: skip
    largest_ms = max(
        abs(ahead(flight.keyframes[agent][0].timestamp_us)) / 1e3
        for flight in flights
        for agent, ahead in flight.clock.items()
    )
    found["offset: true, compensated"] = {
        ms: measure(flights, arrived(AT_MS, offset=ms / largest_ms), compensated=True) for ms in OFFSETS_MS
    }
    for moved in (False, True):
        label = "true, compensated" if moved else "true"
        found[f"jitter: {label}"] = {
            ms: measure(flights, arrived(AT_MS, spread_ms=ms), compensated=moved) for ms in SPREADS_MS
        }
        found[f"cameras' jitter: {label}"] = {
            ms: measure(own, arrived(AT_MS), compensated=moved) for ms, own in datasets.items()
        }
    return found


def draw(found: Mapping[str, Any], path: Path, features: Mapping[str, Any]) -> None:
    """Draw the groups of curves beside each other.

    Args:
        found: of ``curves_of``.
        path: of the image.
        features: of trained models, by model, way and latency; {} for none.
    """
    from matplotlib.figure import Figure

    panels = 4 if features else 3
    figure = Figure(figsize=(3.8 * panels, 3.8), layout="constrained")
    subplots = figure.subplots(1, panels, sharey=True)
    colours = {"true": "C3", "true, compensated": "C1", "shift": "C0", "shift, compensated": "C2"}
    says = {"true": "own clocks", "true, compensated": "own clocks, compensated",
            "shift": "shifted index", "shift, compensated": "shifted index, compensated"}  # fmt: skip
    titles = {"latency": "latency, ms", "offset": f"clocks' largest offset, ms (latency {AT_MS} ms)",
              "jitter": f"each message's latency {AT_MS} ms +- this"}  # fmt: skip
    for axes, (group, title) in zip(subplots, titles.items(), strict=False):
        for label, colour in colours.items():
            curve = found.get(f"{group}: {label}")
            x = list(curve or (OFFSETS_MS if group == "offset" else SPREADS_MS))
            points = list(curve.values()) if curve else [found[f"latency: {label}"][AT_MS]] * len(x)
            _draw_curve(axes, x, points, colour, label=says[label], style="o-" if curve else "--")
        axes.axhline(found["alone"]["value"], color="0.5", linestyle=":", label="drone 0 alone")
        axes.set_xlabel(title)
    models = {"own clocks": "C3", "own clocks, age": "C1", "shifted index": "C0"}
    for model, colour in models.items() if features else ():
        curve = features[model]["shift" if model == "shifted index" else "clocks"]
        _draw_curve(subplots[3], list(map(int, curve)), list(curve.values()), colour, label=model)
    if features:
        subplots[3].axhline(
            features["alone"]["clocks"]["0"]["value"], color="0.5", linestyle=":", label="drone 0 alone"
        )
        subplots[3].set_xlabel("latency, ms (trained features, all vehicles, 2 m)")
        subplots[3].legend(fontsize=7, loc="upper right")
    for axes in subplots:
        axes.grid(visible=True, alpha=0.3)
        axes.set_ylim(0, 1.02)
    subplots[0].set_ylabel(f"AP of moving vehicles, {MATCH_M:g} m")
    subplots[0].legend(fontsize=7, loc="lower left")
    figure.savefig(path, dpi=110)


def _draw_curve(
    axes: Any, x: Sequence[float], points: Sequence[Any], colour: str, *, label: str, style: str = "o-"
) -> None:
    y, low, high = ([point[key] for point in points] for key in ("value", "low", "high"))
    axes.plot(x, y, style, color=colour, markersize=3, label=label)
    axes.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)


def main() -> int:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--jitter-ms", nargs="*", type=float, default=[5.0], help="of each folder; default: 5")
    parser.add_argument("--draw", type=Path)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if len(chosen.jitter_ms) != max(len(chosen.folders), 1):
        parser.error(f"--jitter-ms: {len(chosen.jitter_ms)} numbers for {len(chosen.folders)} folders")
    with tempfile.TemporaryDirectory() as made:
        folders = chosen.folders
        if not folders:
            folders = [Path(made) / "out"]
            run_uavsim("generate", "--dataset", "async-cost", "--out", str(folders[0]), cwd=ROOT)
        datasets = {
            jitter: [read_flight(scene) for scene in uavsim.open(folder)]
            for jitter, folder in zip(chosen.jitter_ms, folders, strict=True)
        }
    found = curves_of(dict(sorted(datasets.items())), chosen.jitter_ms[0])
    for name, curve in found.items():
        for x, point in ({"": curve} if "value" in curve else curve).items():
            print(f"{name:44} {x!s:>5} AP {point['value']:.3f} [{point['low']:.3f}, {point['high']:.3f}]"
                  f" age {point['age_ms']:.0f} ms, {point['truth']} boxes")  # fmt: skip
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if chosen.draw:
        draw(found, chosen.draw, json.loads(chosen.features.read_text("utf-8")) if chosen.features else {})
    return 0
