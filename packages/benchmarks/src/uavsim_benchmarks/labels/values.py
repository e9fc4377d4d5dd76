"""``uavsim collaboration``: Shapley values of drones for each object, and the help between pairs of drones.

It reads tables, no images; ``uavsim events --collaboration`` writes the same files. A subset of drones has three values for an
object: its visible pixels in total, whether a drone of the subset sees it (has enough pixels), and the largest angle between
the viewing directions.
"""

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np

from uavsim.access import Dataset
from uavsim.config.events import EventThresholds
from uavsim.errors import InputError
from uavsim.files.results import ResultPath
from uavsim.files.whole import to_json_bytes, whole_file, write_whole
from uavsim.typing import FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.swarm.collaboration import (
    drone_gains,
    pairwise_help,
    shapley_values,
    subset_diversity_deg,
    subset_pixels,
)
from uavsim_benchmarks.labels.jobs import SampleJob, jobs_of
from uavsim_benchmarks.labels.lines import json_line

VALUES_FILE: Final = "object_value.jsonl"
VALUES_SUMMARY_FILE: Final = "collaboration.json"


@dataclass(frozen=True, slots=True, eq=False)
class ObjectValues:
    """Values of the M objects of a sample that a drone sees, for D drones and their 2**D subsets.

    Attributes:
        drones: (D,) numbers; bit d of a subset's number stands for ``drones[d]``.
        rows: (M,) of the sample's boxes.
        visible_px: (M, D) in all cameras of a drone.
        pixels: (M, 2**D).
        visible: (M, 2**D) 1 where the subset sees the object.
        diversity_deg: (M, 2**D).
    """

    drones: tuple[int, ...]
    rows: IntArray
    visible_px: IntArray
    pixels: FloatArray
    visible: FloatArray
    diversity_deg: FloatArray

    @property
    def helps(self) -> FloatArray:
        """(D, D) objects that a drone (row) sees and another (column) does not."""
        return np.asarray(pairwise_help(self.visible).sum(axis=0), dtype=np.float64)

    @property
    def helps_px(self) -> FloatArray:
        """(D, D) visible pixels in a drone (row) of objects that another drone (column) does not see."""
        lone = (self.visible_px * self.visible[:, _alone(len(self.drones))])[:, :, None]
        blind = 1.0 - self.visible[:, _alone(len(self.drones))][:, None, :]
        return np.asarray((lone * blind).sum(axis=0), dtype=np.float64)


def _alone(drones: int) -> IntArray:
    return np.asarray(1 << np.arange(drones), dtype=np.int64)


def values_of_sample(job: SampleJob, *, seen_px: int) -> ObjectValues:
    """Compute the values of all visible objects of a sample.

    Args:
        job: the sample.
        seen_px: a drone with fewer pixels of an object does not see it.
    """
    drones = tuple(sorted({image.drone for image in job.images}))
    of_drone = np.array([drones.index(image.drone) for image in job.images], dtype=np.int64)
    px = np.zeros((len(drones), len(job.annotations)), dtype=np.int64)
    np.add.at(px, of_drone, job.views.visible_px)
    rows = np.flatnonzero((px >= seen_px).any(axis=0))
    px = px[:, rows].T
    position_m = np.array([_position_m(job, drone) for drone in drones]).reshape(-1, 3)
    rays = position_m[None] - job.map_SE3_box.translation_m.reshape(-1, 3)[rows][:, None]
    sees = px >= seen_px
    return ObjectValues(
        drones=drones,
        rows=rows,
        visible_px=px,
        pixels=subset_pixels(px),
        visible=(subset_pixels(sees.astype(np.int64)) > 0).astype(np.float64),
        diversity_deg=subset_diversity_deg(rays, sees),
    )


def _position_m(job: SampleJob, drone: int) -> FloatArray:
    return next(image.map_SE3_optical.translation_m for image in job.images if image.drone == drone)


@dataclass(frozen=True, slots=True, eq=False)
class SampleValues:
    """The values of one sample's objects, and their encoded rows."""

    found: ObjectValues
    rows: bytes


def value_sample(job: SampleJob, thresholds: EventThresholds) -> SampleValues:
    """Compute the values of a sample's objects and encode their rows."""
    found = values_of_sample(job, seen_px=thresholds.objects.seen_px)
    return SampleValues(found, b"".join(map(json_line, _rows(job, found))))


class ValueFile:
    """Writer of a row for each seen object of each sample, and of the summary."""

    def __init__(self, out: Path, thresholds: EventThresholds) -> None:
        """Open the result folder; the context manager opens the file and publishes it when it is complete."""
        self._out, self._seen_px = ResultPath.open(out), thresholds.objects.seen_px
        self._began, self._total, self._files = time.monotonic(), _Total(), ExitStack()

    def __enter__(self) -> Self:
        self._file = self._files.enter_context(whole_file(self._out / VALUES_FILE))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.__exit__(kind, error, at)

    def add(self, values: SampleValues) -> None:
        """Append the rows of a sample."""
        self._file.write(values.rows)
        self._total.add(values.found)

    def finish(self) -> JsonDict:
        """Write and return the summary."""
        summary = self._total.summary() | {"seen_px": self._seen_px}
        write_whole(self._out / VALUES_SUMMARY_FILE, to_json_bytes(summary))
        return summary | {"seconds": round(time.monotonic() - self._began, 2)}


def write_values(data: Dataset, out: Path, thresholds: EventThresholds) -> JsonDict:
    """Write the values of a dataset and return the summary.

    Raises:
        InputError: the dataset has no samples, no table visibility_detail, or more than 16 drones.
        DatasetError: a table is damaged.
        StorageError: the output cannot be written.
    """
    jobs = jobs_of(data, pixels=False)
    first = next(jobs, None)
    if first is None:
        raise InputError(f"{data.root}: has no samples")
    with ValueFile(out, thresholds) as file:
        for job in itertools.chain([first], jobs):
            file.add(value_sample(job, thresholds))
    return file.finish()


def _rows(job: SampleJob, found: ObjectValues) -> Iterator[JsonDict]:
    games = {"pixels": found.pixels, "seen": found.visible, "diversity_deg": found.diversity_deg}
    written = {
        name: {"subsets": _short(game), "shapley": _short(shapley_values(game)), "gain": _short(drone_gains(game))}
        for name, game in games.items()
    }
    for n, row in enumerate(found.rows.tolist()):
        identity: JsonDict = {
            "sample_token": job.token,
            "sample_annotation_token": job.annotations[row],
            "instance_token": job.instances[row],
            "type": job.classes[row],
            "drones": list(found.drones),
            "visible_px": found.visible_px[n].tolist(),
        }
        yield identity | {name: {kind: rows[n] for kind, rows in game.items()} for name, game in written.items()}


def _short(values: FloatArray) -> list[list[float]]:
    """Round (M, K) values to 3 digits; whole numbers become integers, which keeps files small."""
    short = np.round(values, 3)
    if (short == np.trunc(short)).all():
        integers: list[list[float]] = short.astype(np.int64).tolist()
        return integers
    return [[int(value) if value.is_integer() else value for value in row] for row in short.tolist()]


class _Total:
    """Sums over a dataset's samples, by drone number."""

    def __init__(self) -> None:
        """Start at zero."""
        self.sums: dict[str, defaultdict[tuple[int, int], float]] = {}
        self.worth: dict[str, Counter[int]] = {}
        self.counts: Counter[str] = Counter()
        self.drones: set[int] = set()

    def add(self, found: ObjectValues) -> None:
        """Add the values of one sample."""
        self.drones.update(found.drones)
        self.counts.update(samples=1, objects=len(found.rows))
        visible = found.visible[:, _alone(len(found.drones))]
        self.counts["seen by one drone alone"] += int((visible.sum(axis=1) == 1).sum())
        for name, matrix in (("objects", found.helps), ("pixels", found.helps_px)):
            total = self.sums.setdefault(name, defaultdict(float))
            for row, giver in enumerate(found.drones):
                for column, taker in enumerate(found.drones):
                    total[giver, taker] += float(matrix[row, column])
        for name, game in (("pixels", found.pixels), ("seen", found.visible), ("diversity_deg", found.diversity_deg)):
            for kind, values in (("shapley", shapley_values(game)), ("gain", drone_gains(game))):
                into_drone = self.worth.setdefault(f"{kind}_{name}", Counter())
                for drone, value in zip(found.drones, values.sum(axis=0).tolist(), strict=True):
                    into_drone[drone] += value

    def summary(self) -> JsonDict:
        """Return the totals; matrices have a row for each helping drone and a column for each helped drone."""
        drones = sorted(self.drones)
        helps = {
            name: [[round(of[giver, taker], 3) for taker in drones] for giver in drones]
            for name, of in self.sums.items()
        }
        return {
            "samples": self.counts["samples"],
            "objects": self.counts["objects"],
            "seen_by_one_drone_alone": self.counts["seen by one drone alone"],
            "drones": drones,
            "helps": helps,
            "worth": {name: [round(of[drone], 3) for drone in drones] for name, of in self.worth.items()},
        }
