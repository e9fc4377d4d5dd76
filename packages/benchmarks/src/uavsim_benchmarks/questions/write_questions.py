"""``uavsim questions``: label a dataset, draw questions of every task, check them, and write them with the report."""

import itertools
import time
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Dataset
from uavsim.config.events import EventThresholds
from uavsim.errors import InputError
from uavsim.files.results import ResultPath
from uavsim.files.whole import to_json_bytes, write_whole
from uavsim.pool import in_order
from uavsim.typing import JsonDict
from uavsim_benchmarks.labels.jobs import jobs_of
from uavsim_benchmarks.labels.write_events import default_workers
from uavsim_benchmarks.questions.checks import check_questions
from uavsim_benchmarks.questions.draw import draw_task
from uavsim_benchmarks.questions.facts import groups_of
from uavsim_benchmarks.questions.items import TASKS

QUESTION_FILE: Final = "questions.json"
REPORT_FILE: Final = "report.json"


def write_questions(
    data: Dataset,
    out: Path,
    thresholds: EventThresholds,
    *,
    seed: int,
    per_task: int,
    workers: int | None = None,
) -> JsonDict:
    """Write questions and their quality report; returns the report.

    Args:
        data: the dataset.
        out: result folder.
        thresholds: thresholds of the labels.
        seed: equal seeds give equal files.
        per_task: largest number of questions per task.
        workers: processes; default: one per core, one for few images.

    Raises:
        InputError: the dataset has no samples, or gives no question.
        DatasetError: a file is damaged.
        StorageError: the output cannot be written.
    """
    began = time.monotonic()
    jobs = jobs_of(data)
    first = next(jobs, None)
    if first is None:
        raise InputError(f"{data.root}: has no samples to ask about")
    images = len(first.images) * sum(length for _, length in data.scene_lengths)
    work = partial(groups_of, thresholds=thresholds)
    found = in_order(work, itertools.chain([first], jobs), workers=workers or default_workers(images))
    groups = [group for of_sample in found for group in of_sample]
    name = str(data.info.get("dataset", "uavsim"))
    questions = [
        question
        for number, task in enumerate(TASKS)
        for question in draw_task(task, groups, count=per_task, dataset=name, rng=np.random.default_rng([seed, number]))
    ]
    if not questions:
        raise InputError(f"{data.root}: no questions; each needs four different answers and images of two drones")
    report = check_questions(questions, {task.name: task.needs for task in TASKS})
    report |= {"dataset": name, "seed": seed, "images": images}
    folder = ResultPath.open(out)
    write_whole(folder / QUESTION_FILE, to_json_bytes({"dataset": name, "results": questions}))
    write_whole(folder / REPORT_FILE, to_json_bytes(report))
    return report | {"seconds": round(time.monotonic() - began, 2)}
