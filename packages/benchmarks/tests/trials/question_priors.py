"""Ask models that see no image 400 questions of every task: of datasets, and of made-up scenes where those have fewer.

    scripts/trial question-priors [DATASET ...] [--per-task 400] [--made-up 12000] [--seeds 5]

Facts of all datasets go into one pool, from which as many questions of each task are drawn as there are, `--per-task` at most.
A task that has fewer is drawn from made-up groups of five images: the same drawing, with other facts. For each task and model
the accuracy is the mean over the seeds, each of which draws anew; the interval is two standard errors of guessing as
many questions once. Ends with 4 where a model is further above chance than that and five points.
"""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import uavsim
from uavsim.config.events import EventThresholds
from uavsim_benchmarks.labels.jobs import jobs_of
from uavsim_benchmarks.questions.blind import CHANCE, blind_scores
from uavsim_benchmarks.questions.checks import NEAR_CHANCE
from uavsim_benchmarks.questions.draw import draw_task
from uavsim_benchmarks.questions.facts import Group, ObjectSeen, View, groups_of
from uavsim_benchmarks.questions.items import TASKS, Task

SIDE_M = 170.0  # of the square in which made-up vehicles stand
IMAGE_M = (80.0, 45.0)  # that an image shows, 40 m below a drone
KINDS = {"car": (900, 5), "truck": (2200, 2), "bus": (3000, 1), "two-wheeler": (170, 2), "pedestrian": (160, 3)}
FAULTS = ("dark", "bright", "flat", "noisy", "blurred")
SURFACES = ("road", "open ground", "built-up", "plants", "")


def main() -> int:
    """Draw, ask, and print a line for each task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", type=Path, nargs="*", metavar="DATASET")
    parser.add_argument("--per-task", type=int, default=400)
    parser.add_argument("--made-up", type=int, default=12000, help="groups of five images")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    label = partial(groups_of, thresholds=EventThresholds())
    real = [group for path in options.datasets for job in jobs_of(uavsim.open(path)) for group in label(job)]
    images = sum(len(group.views) for group in real)
    print(f"{images} images of {len(options.datasets)} datasets, {options.made_up} made-up groups")
    made_up = made_up_groups(options.made_up, np.random.default_rng(0))
    good = True
    for number, task in enumerate(TASKS):
        count, scores = ask(task, number, real, options)
        source = "datasets"
        if count < options.per_task:
            print(f"{task.name}: {count} questions of datasets{_said(scores)}")
            (count, scores), source = ask(task, number, made_up, options), "made up"
        error = float(np.sqrt(CHANCE * (1 - CHANCE) / max(count, 1)))
        best = max(scores.values(), default=1.0)
        near = count >= options.per_task and best <= CHANCE + max(NEAR_CHANCE, 2 * error)
        good &= near
        print(
            f"{task.name}: {count} questions, {source}{_said(scores)}{'' if near else ' ABOVE CHANCE, OR TOO FEW'}",
            flush=True,
        )
    return 0 if good else 4


def ask(task: Task, number: int, groups: Sequence[Group], options: Any) -> tuple[int, dict[str, float]]:
    """Return how many questions were drawn with the first seed, and the mean accuracy of each model over the seeds."""
    drawn = [
        draw_task(task, groups, count=options.per_task, dataset="prior", rng=np.random.default_rng([seed, number]))
        for seed in range(options.seeds)
    ]
    if not drawn[0]:
        return 0, {}
    scores = [blind_scores(questions) for questions in drawn]
    return len(drawn[0]), {name: float(np.mean([score[name].accuracy for score in scores])) for name in scores[0]}


def _said(scores: dict[str, float]) -> str:
    return "".join(f", {name} {score:.3f}" for name, score in scores.items())


def made_up_groups(count: int, rng: np.random.Generator) -> list[Group]:
    """Return groups of five images straight down, over vehicles and pedestrians that stand anywhere; ten groups a scene."""
    groups = []
    for number in range(count):
        if number % 10 == 0:
            drones_m = rng.uniform(-30.0, 30.0, (5, 2))
        groups.append(Group(f"scene_{number // 10:04}", number % 10, "BOTTOM", _views(drones_m, rng)))
    return groups


def _views(drones_m: Any, rng: np.random.Generator) -> tuple[View, ...]:
    shares = np.array([share for _, share in KINDS.values()], dtype=float)
    things, is_plain = int(rng.integers(3, 50)), bool(rng.random() < 0.5)
    kinds = rng.choice(list(KINDS), things, p=shares / shares.sum())
    places_m = rng.uniform(-SIDE_M / 2, SIDE_M / 2, (things, 2))
    turn = rng.uniform(0.0, 2 * np.pi)
    heading = np.array([np.cos(turn), np.sin(turn)])
    placed = list(zip(kinds, places_m, strict=True))
    return tuple(_view(n, drones_m[n], heading, placed, is_plain=is_plain, rng=rng) for n in range(len(drones_m)))


def _view(
    drone: int, at_m: Any, heading: Any, things: list[tuple[str, Any]], *, is_plain: bool, rng: np.random.Generator
) -> View:
    """Return one image; a plain one shows all of what it shows."""
    right = np.array([heading[1], -heading[0]])
    objects = []
    for number, (kind, place_m) in enumerate(things):
        share = np.array([(place_m - at_m) @ right, -(place_m - at_m) @ heading]) / IMAGE_M + 0.5
        if ((share < -0.03) | (share > 1.03)).any():
            continue
        at_border = bool(((share < 0.03) | (share > 0.97)).any())
        if at_border and is_plain:
            continue
        cut = float(rng.uniform(0.05, 0.9)) if at_border else 0.0
        hidden = 0.0 if is_plain else float(rng.choice([0.0, 0.0, 0.0, 0.5, 1.0]))
        size_px = KINDS[kind][0] * rng.uniform(0.7, 1.3) * (1.0 if is_plain else rng.choice([0.04, 1.0, 1.0, 1.0]))
        px = round(float(size_px) * (1 - cut) * (1 - hidden))
        x, y = np.clip(np.rint(100 * share), 0, 100).astype(int).tolist()
        objects.append(ObjectSeen(str(number), kind, x, y, px, hidden, cut, alone=bool(rng.random() < 0.8)))
    fault = str(rng.choice(FAULTS)) if rng.random() < 0.4 else "none"
    return View(
        drone=drone,
        filename=f"{drone}.png",
        surface=str(rng.choice(SURFACES)),
        objects=tuple(objects),
        faults=frozenset() if fault == "none" else frozenset({fault}),
        fault=fault,
        score=float(rng.uniform(1.0, 5.0)),
        place_m=np.array([*at_m, 40.0]),
        heading=heading,
    )
