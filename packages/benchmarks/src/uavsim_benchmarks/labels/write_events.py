"""``uavsim events``: label every image and sample of a dataset, and write the labels as JSON lines."""

import itertools
import os
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from uavsim.access import Dataset
from uavsim.config.events import EventThresholds
from uavsim.errors import InputError
from uavsim.files.results import ResultPath
from uavsim.files.whole import to_json_bytes, whole_file, write_whole
from uavsim.pool import in_order
from uavsim.typing import JsonDict
from uavsim_benchmarks.labels.jobs import SampleJob, jobs_of
from uavsim_benchmarks.labels.lines import json_line
from uavsim_benchmarks.labels.twin_tables import TwinTables
from uavsim_benchmarks.labels.values import SampleValues, ValueFile, value_sample

IMAGE_FILE: Final = "image_event.jsonl"
SAMPLE_FILE: Final = "sample_event.jsonl"
SUMMARY_FILE: Final = "events.json"
_POOL_FROM_IMAGES: Final = 500  # fewer images take less time than the start of a process


@dataclass(frozen=True, slots=True)
class _Rows:
    """Encoded rows of one sample, its counts for the summary, and the values of its objects when requested."""

    images: bytes
    sample: bytes
    counts: Counter[str]
    values: SampleValues | None


def default_workers(images: int) -> int:
    """Return the default number of processes for a number of images."""
    return min(os.cpu_count() or 1, 8) if images >= _POOL_FROM_IMAGES else 1


def write_events(
    data: Dataset,
    out: Path,
    thresholds: EventThresholds,
    *,
    twins: TwinTables | None = None,
    collaboration: Path | None = None,
    workers: int | None = None,
) -> JsonDict:
    """Label a dataset and return the summary.

    Args:
        data: the dataset.
        out: result folder; its three files are published together.
        thresholds: thresholds of the labels; written into the summary.
        twins: tables of ``uavsim twins``.
        collaboration: a folder for the files of ``uavsim collaboration``; their summary becomes part of this one.
        workers: processes; default: one per core, one for few images.

    Raises:
        InputError: the dataset has no samples, no table visibility_detail, or more than 16 drones for ``collaboration``.
        DatasetError: a file is damaged.
        StorageError: the output cannot be written.
    """
    began = time.monotonic()
    jobs = jobs_of(data, twins)
    first = next(jobs, None)
    if first is None:
        raise InputError(f"{data.root}: has no samples to label")
    samples = sum(length for _, length in data.scene_lengths)
    workers = workers or default_workers(samples * len(first.images))
    counts: Counter[str] = Counter()
    work = partial(_rows_of, thresholds=thresholds, valued=collaboration is not None)
    folder = ResultPath.open(out)
    with ExitStack() as files:
        image_file = files.enter_context(whole_file(folder / IMAGE_FILE))
        sample_file = files.enter_context(whole_file(folder / SAMPLE_FILE))
        values = None if collaboration is None else files.enter_context(ValueFile(collaboration, thresholds))
        for rows in in_order(work, itertools.chain([first], jobs), workers=workers):
            image_file.write(rows.images)
            sample_file.write(rows.sample)
            counts.update(rows.counts)
            if values is not None and rows.values is not None:
                values.add(rows.values)
    summary = _summary(counts) | {
        "dataset": {"version": data.version, "dialect": data.dialect_name, "scenes": len(data)},
        "twins": twins is not None,
        "thresholds": thresholds.model_dump(mode="json"),
    }
    # Without the duration, equal labels give equal bytes.
    write_whole(folder / SUMMARY_FILE, to_json_bytes(summary))
    summary |= {"seconds": round(time.monotonic() - began, 2), "workers": workers}
    return summary if values is None else summary | {"collaboration": values.finish()}


def _rows_of(job: SampleJob, thresholds: EventThresholds, *, valued: bool) -> _Rows:
    from uavsim_benchmarks.labels.rows import (  # compiled code, which only workers need
        image_row,
        label_sample,
        sample_row,
    )

    labelled = label_sample(job, thresholds)
    rows = [image_row(labelled, number, thresholds) for number in range(len(job.images))]
    sample = sample_row(labelled, thresholds)
    values = value_sample(job, thresholds) if valued else None
    return _Rows(b"".join(map(json_line, rows)), json_line(sample), _counts(rows), values)


def _counts(rows: list[JsonDict]) -> Counter[str]:
    found: Counter[str] = Counter({"samples": 1, "images": len(rows)})
    for row in rows:
        found[f"quality {row['quality']}"] += 1
        found["not usable"] += not row["usable"]
        found["ask"] += row["collaboration"]["when"]
        found["objects"] += row["object_count"]
        for degradation in row["degradations"]:
            found[f"degradation {degradation['kind']}"] += 1
        for issue in row["perception_issues"]:
            found["issues"] += 1
            _count_occluder(found, issue)
        for cause in row["collaboration"]["why"][:1]:
            found[f"why {cause}"] += 1
    return found


def _count_occluder(found: Counter[str], issue: JsonDict) -> None:
    found["occluded"] += "occluded" in issue["kinds"]
    hides = issue.get("occluded_by")
    if hides:
        found["occluder named"] += 1
        found["with a twin"] += hides["proof"] is not None
        found["proven"] += bool(hides["proof"] and hides["proof"]["proven"])


def _summary(counts: Counter[str]) -> dict[str, Any]:
    def counts_of(prefix: str) -> dict[str, int]:
        return {name.removeprefix(prefix): counts[name] for name in sorted(counts) if name.startswith(prefix)}

    return {
        "samples": counts["samples"],
        "images": counts["images"],
        "objects_in_images": counts["objects"],
        "quality": counts_of("quality "),
        "not_usable": counts["not usable"],
        "degradations": counts_of("degradation "),
        "perception_issues": counts["issues"],
        "occluded": {
            "all": counts["occluded"],
            "occluder_named": counts["occluder named"],
            "with_a_twin": counts["with a twin"],
            "proven": counts["proven"],
        },
        "images_that_ask": counts["ask"],
        "why": counts_of("why "),
    }
