"""Reader of nuScenes result files in blocks of samples: ``{"meta": ..., "results": {sample_token: [box, ...]}}``."""

from array import array
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.errors import InputError
from uavsim.registry import nearest
from uavsim.typing import FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.boxes import ATTRIBUTES, NOTHING, Boxes, yaw_of_quat
from uavsim_benchmarks.evaluate.readers.json_stream import JsonStream
from uavsim_benchmarks.evaluate.readers.pickles import read_pickle

_SAMPLES_PER_BLOCK: Final = 64
_PICKLES: Final = {".pkl", ".pickle"}
_LARGEST: Final = 1e9  # metres, or metres a second: squares of larger values lose precision
_VECTORS: Final = {"translation": 3, "size": 3, "rotation": 4, "velocity": 2}


@dataclass(slots=True)
class ResultReader:
    """One result file.

    Args:
        path: the file.
        index: numbers of the evaluated samples, by token.
        known: all samples of the dataset, by token; other tokens are refused.
        labels: the benchmark's classes in order.
        task: ``detection`` or ``tracking``: the prefix of the boxes' keys.
        max_boxes: per sample.
        without: filter of boxes.

    After ``blocks`` is exhausted, ``samples`` holds the numbers of samples in the file, ``ignored`` counts its samples
    that are not evaluated, ``tracks`` maps names of tracks to numbers, and ``left_out`` counts boxes that ``without``
    removed.
    """

    path: Path
    index: Mapping[str, int]
    known: Mapping[str, int]
    labels: tuple[str, ...]
    task: str = "detection"
    max_boxes: int = 500
    meta: JsonDict = field(default_factory=dict)
    samples: set[int] = field(default_factory=set)
    tracks: dict[str, int] = field(default_factory=dict)
    ignored: int = 0
    without: Callable[[Boxes], Boxes] | None = None
    left_out: int = 0

    def blocks(self) -> Iterator[Boxes]:
        """Yield boxes of complete samples; memory is bounded by the largest sample.

        Raises:
            InputError: the file has another format, or the benchmark refuses a box or sample.
        """
        if self.path.suffix in _PICKLES:
            yield from self._blocks(self._unpickled())
            return
        with JsonStream(self.path) as stream:
            found = False
            for key in stream.members("the file"):
                if key == "results":
                    found = True
                    yield from self._blocks((token, stream.value()) for token in stream.members("'results'"))
                elif key == "meta":
                    meta = stream.value()
                    if not isinstance(meta, dict):
                        raise InputError(f"{self.path}: 'meta' is not a JSON object")
                    self.meta = meta
                else:
                    stream.value()
            stream.end()
        if not found:
            raise InputError(f"{self.path}: not a nuScenes result file: key 'results' is missing")

    def require(self, samples: IntArray) -> None:
        """Require (S,) evaluated samples in the file, as the devkit does.

        Raises:
            InputError: a sample is missing.
        """
        missing = sorted(set(samples.tolist()) - self.samples)
        if missing:
            first = next(token for token, number in self.index.items() if number == missing[0])
            raise InputError(
                f"{self.path}: {len(missing)} of {len(samples)} samples are missing, first {first}; write an empty list for a "
                "sample without boxes, or use --mode corrected"
            )

    def _unpickled(self) -> Iterator[tuple[str, Any]]:
        content = read_pickle(self.path)
        results = content.get("results") if isinstance(content, dict) else None
        if not isinstance(results, dict):
            raise InputError(
                f"{self.path}: the pickle has no nuScenes results; set mmdet3d's jsonfile_prefix, and evaluate the "
                "results_nusc.json that it writes"
            )
        yield from ((str(token), boxes) for token, boxes in results.items())

    def _blocks(self, samples: Iterator[tuple[str, Any]]) -> Iterator[Boxes]:
        numbers: list[int] = []
        rows: list[JsonDict] = []
        for token, boxes in samples:
            if not isinstance(boxes, list):
                raise InputError(f"{self.path}: sample {token}: not a list of boxes")
            number = self._number(token, len(boxes))
            if number is None:
                continue
            numbers += [number] * len(boxes)
            rows += boxes
            if len(self.samples) % _SAMPLES_PER_BLOCK == 0:
                yield self._boxes(numbers, rows)
                numbers, rows = [], []
        if rows:
            yield self._boxes(numbers, rows)

    def _number(self, token: str, count: int) -> int | None:
        number = self.index.get(token)
        if number is None:
            if token not in self.known:
                raise InputError(f"{self.path}: sample {token!r} is not in the dataset")
            self.ignored += 1
            return None
        if count > self.max_boxes:
            raise InputError(
                f"{self.path}: sample {token} has {count} boxes; only {self.max_boxes} per sample are allowed"
            )
        if number in self.samples:
            raise InputError(f"{self.path}: sample {token} occurs twice")
        self.samples.add(number)
        return number

    def _boxes(self, numbers: list[int], rows: list[JsonDict]) -> Boxes:
        try:
            found = boxes_of_rows(numbers, rows, labels=self.labels, task=self.task, tracks=self.tracks)
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from error
        filtered = found if self.without is None else self.without(found)
        self.left_out += len(found) - len(filtered)
        return filtered


def boxes_of_rows(
    numbers: list[int], rows: list[JsonDict], *, labels: tuple[str, ...], task: str, tracks: dict[str, int]
) -> Boxes:
    """Convert boxes from decoded JSON.

    Args:
        numbers: the sample's number of each row.
        rows: nuScenes' result boxes.
        labels: class names in order.
        task: ``detection`` or ``tracking``.
        tracks: track numbers by name; extended in place.

    Raises:
        InputError: a key is missing or a value is invalid for the devkit.
    """
    columns = {key: _vectors(rows, key, length) for key, length in _VECTORS.items()}
    names, scores = _values(rows, f"{task}_name"), _numbers(rows, f"{task}_score")
    foreign = [row["sample_token"] for row in rows if not isinstance(row.get("sample_token", ""), str)]
    if foreign:
        raise InputError(f"a box's sample_token is {str(foreign[0])[:60]!r}, not a string")
    codes = {name: number for number, name in enumerate(labels)}
    unknown = [name for name in names if not isinstance(name, str) or name not in codes]
    if unknown:
        guess = nearest(str(unknown[0])[:60], labels)
        raise InputError(
            f"{task}_name {str(unknown[0])[:60]!r} is not a class{f'; did you mean {guess!r}?' if guess else ''}"
        )
    extra: dict[str, Any] = {}
    if task == "detection":
        extra["attribute"] = np.array([_attribute(a) for a in _values(rows, "attribute_name")], dtype=np.int64)
    else:
        extra["track"] = np.array(
            [tracks.setdefault(str(t), len(tracks)) for t in _values(rows, "tracking_id")], dtype=np.int64
        )
    return Boxes.make(
        np.array(numbers, dtype=np.int64),
        np.array([codes[name] for name in names], dtype=np.int64),
        columns["translation"],
        size_m=columns["size"],
        yaw_rad=yaw_of_quat(columns["rotation"]),
        velocity_mps=columns["velocity"],
        score=scores,
        **extra,
    )


def _attribute(name: Any) -> int:
    if name == "":
        return NOTHING
    if name not in ATTRIBUTES:
        raise InputError(f"attribute_name {name!r} is not a nuScenes attribute")
    return ATTRIBUTES.index(name)


def _values(rows: list[JsonDict], key: str) -> list[Any]:
    try:
        return [row[key] for row in rows]
    except KeyError as error:
        raise InputError(f"a box of sample {_sample(rows, key)} has no {key!r}") from error
    except TypeError as error:
        raise InputError("a box is not a JSON object") from error


def _sample(rows: list[JsonDict], key: str) -> str:
    return str(next((row.get("sample_token", "?") for row in rows if key not in row), "?"))


def _vectors(rows: list[JsonDict], key: str, length: int) -> FloatArray:
    values = _values(rows, key)
    try:
        found = numbers_of(values, length)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"a box's {key} is not {length} numbers") from error
    fit = np.abs(found) <= _LARGEST
    bad = ~(fit | (np.isnan(found) & (key == "velocity"))).all(axis=1)
    if bad.any():
        row = rows[int(np.argmax(bad))]
        raise InputError(
            f"sample {row.get('sample_token', '?')}: a box's {key} is not finite or exceeds 1e9: {row[key]}"
        )
    return found


def numbers_of(values: list[Any], length: int) -> FloatArray:
    """Convert N lists to (N, length) numbers.

    Raises:
        TypeError: an element is not a number.
        ValueError: an element is not a number, or a list has another length.
        OverflowError: a number exceeds the range of floats.
    """
    if all(type(value) is list and len(value) == length for value in values):
        with suppress(TypeError):  # NumPy also accepts numbers as text and takes three times as long
            return np.array(array("d", list(chain.from_iterable(values)))).reshape(-1, length)
    found = np.array(values, dtype=np.float64)
    if found.shape != (len(values), length):
        raise ValueError(f"{found.shape} instead of {length} numbers each")
    return found


def _numbers(rows: list[JsonDict], key: str) -> FloatArray:
    try:
        found = np.array([row.get(key, -1.0) for row in rows], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"a box's {key} is not a number") from error
    if found.ndim != 1:
        raise InputError(f"a box's {key} is not a number")
    bad = ~np.isfinite(found)
    if bad.any():
        row = rows[int(np.argmax(bad))]
        raise InputError(f"sample {row.get('sample_token', '?')}: {key} is {row[key]}, not a finite number")
    return found
