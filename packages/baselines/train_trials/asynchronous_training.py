"""Train features that are shared late, with and without their age, by true clocks and by a shifted index.

    scripts/trial asynchronous-training FOLDER --out FOLDER [--steps 700] [--json FILE.json]

``FOLDER`` is a dataset as ``async-cost``. V2VNet is trained three times with latencies of 0 to 400 ms: on keyframes that are
some indices older, on the newest messages by the drones' own clocks, and on those with their age as a channel; and one drone
alone. On held-out scenes each is scored at fixed latencies by both ways: AP of vehicles within 2 m, with 95 % of drawings of
scenes.
"""

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from uavsim_baselines.bev.grid import inverse, map_T_grid
from uavsim_baselines.config import Config, load_profile
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.late import LateSights
from uavsim_baselines.detector.network import grid_of
from uavsim_baselines.training.checkpoints import detector_of, read_checkpoint
from uavsim_baselines.training.predict import Prediction, predict
from uavsim_baselines.training.train import train

from uavsim.typing import BoolArray, FloatArray
from uavsim_benchmarks.evaluate.bootstrap import interval_of, scene_draws
from uavsim_benchmarks.evaluate.nuscenes.detection import average_precision, class_curves

MOST_MS: Final = 400
MATCH_M: Final = 2.0
LATENCIES_MS: Final = (0, 200, 400)
SIZE_PX: Final = (200, 112)
FIRST: Final = 6  # of the samples that are scored: before, no message of the longest latency has come
DRAWS: Final = 500


class Model(NamedTuple):
    """A model to train: how others are heard, and whether their age is known."""

    sharing: str
    way: str
    time: bool


MODELS: Final = {
    "shifted index": Model("v2vnet", "shift", time=False),
    "own clocks": Model("v2vnet", "clocks", time=False),
    "own clocks, age": Model("v2vnet", "clocks", time=True),
    "alone": Model("none", "clocks", time=False),
}


def config_of(folder: Path, model: Model, *, steps: int, latency_ms: tuple[float, float], seed: int) -> Config:
    """Return the configuration of one model."""
    late = {"way": model.way, "latency_ms": list(latency_ms)}
    changes = [f"seed={seed}", f"data.late={json.dumps(late)}", f"sharing.kind={model.sharing}",
               f"sharing.time={json.dumps(model.time)}", f"training.steps={steps}",
               f"data.size_px={json.dumps(SIZE_PX)}", "training.ego=first",
               "model.bev_channels=16", "grid.cells=64"]  # fmt: skip
    return load_profile("cpu-small", changes=[f"data.folder={folder}", *changes])


class Count(NamedTuple):
    """Boxes of some samples: their scores, whether each hits, and how many there are in truth."""

    score: FloatArray
    hit: BoolArray
    truth: int


def counted(config: Config, checkpoint: Path, frames: Sequence[Frame]) -> list[Count]:
    """Predict the scored samples and match them, scene by scene."""
    trained = read_checkpoint(checkpoint)
    sights = LateSights(frames, config.data)
    scored = [frame for frame in frames if frame.number >= FIRST]
    detector, found = detector_of(trained, source=checkpoint), dict[str, list[Count]]()
    for one in predict(detector, trained.config, scored, device=torch.device("cpu"), sights=sights):
        found.setdefault(one.frame.scene, []).append(_matched(one, config))
    return [_joined(own) for own in found.values()]


def _joined(counts: Sequence[Count]) -> Count:
    score, hit = (np.concatenate([count[part] for count in counts]) for part in (0, 1))
    return Count(score, hit, sum(count.truth for count in counts))


def _matched(one: Prediction, config: Config) -> Count:
    """Match one sample's boxes, the surest first, with vehicles in the ego's grid."""
    to_ego, truth = inverse(map_T_grid(one.frame.map_T_flu[0])), one.frame.boxes
    places = truth.pick(grid_of(config).holds(truth.moved(to_ego).centre_m[:, :2])).centre_m[:, :2].numpy()
    free, hits = np.ones(len(places), dtype=bool), list[bool]()
    rows = one.boxes.score.argsort(descending=True)
    for centre_m in one.boxes.centre_m[rows, :2].numpy():
        away_m = np.where(free, np.hypot(*(places - centre_m).T), np.inf)
        hits.append(bool(len(away_m) and away_m.min() < MATCH_M))
        if hits[-1]:
            free[away_m.argmin()] = False
    return Count(one.boxes.score[rows].numpy(), np.array(hits, dtype=bool), len(places))


def ap_of(counts: Sequence[Count], weights: Sequence[int]) -> float:
    """Return the AP of scenes that are each counted some times."""
    used = _joined([count for count, times in zip(counts, weights, strict=True) for _ in range(times)])
    order = np.argsort(-used.score, kind="stable")
    curve = class_curves(used.score[order], used.hit[order], used.truth)
    return average_precision(curve.precision, min_recall=0.1, min_precision=0.1)


def main() -> int:
    """Train, score and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    table: dict[str, Any] = {}
    for name in chosen.models:
        model, folder = MODELS[name], chosen.out / name.replace(", ", "-").replace(" ", "-")
        made = partial(config_of, chosen.folder, steps=chosen.steps, seed=chosen.seed)
        checkpoint = train(made(model, latency_ms=(0, MOST_MS)), folder)
        frames = read_frames(made(model, latency_ms=(0, 0)).data, "uav_val")
        for way in ("clocks", "shift"):
            for latency in LATENCIES_MS if model.sharing != "none" else LATENCIES_MS[:1]:
                config = made(model._replace(way=way), latency_ms=(latency, latency))
                counts = counted(config, checkpoint, frames)
                draws = scene_draws(len(counts), DRAWS, np.random.default_rng(0))
                drawn = np.array([ap_of(counts, weights.tolist()) for weights in draws])
                point = interval_of(ap_of(counts, [1] * len(counts)), drawn).as_json()
                table.setdefault(name, {}).setdefault(way, {})[latency] = point
                boxes = sum(count.truth for count in counts)
                if chosen.json:
                    chosen.json.write_text(json.dumps(table, indent=1) + "\n", "utf-8")
                print(f"{name:20} {way:6} {latency:3} ms AP {point['value']:.3f} [{point['low']:.3f}, {point['high']:.3f}]"
                      f" {boxes} boxes", flush=True)  # fmt: skip
    return 0
