"""AOT's own files: ``groundtruth.json`` (or .json.gz) and result lists."""

from array import array
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.aot.scores import AotResults, AotTruth
from uavsim_benchmarks.evaluate.readers.json_stream import JsonStream
from uavsim_benchmarks.evaluate.readers.nuscenes_results import numbers_of

_LARGEST: Final = 1 << 62
_NO_BOX: Final = [np.nan] * 4
_Flight: TypeAlias = tuple[list[str], list[str], list[str], IntArray, FloatArray]
"""Flight, image and object by name, (N, 2) frame and time, and (N, 6) box, range and horizon."""


def read_aot_truth(path: Path) -> tuple[AotTruth, dict[str, int]]:
    """Return ground truth and the number of each image by name.

    Args:
        path: the file, or a folder that holds ``groundtruth.json``.

    Raises:
        InputError: not such a file.
    """
    path = _file(path)
    flights: list[_Flight] = []
    hours: dict[str, float] = {}
    with JsonStream(path) as stream:
        found = False
        for key in stream.members("the ground truth"):
            if key != "samples":
                stream.value()
                continue
            found = True
            for name in stream.members("'samples', the flights by name,"):
                sample = stream.value(begins="{", ends="}]}")
                entities = sample.get("entities") if isinstance(sample, dict) else None
                if not isinstance(entities, list):
                    raise InputError(f"{path}: flight {name} has no list of entities")
                flights.append(_flight(path, name, entities))
                hours[name] = _hours(path, name, sample.get("metadata") or {}, entities)
        stream.end()
    if not found:
        raise InputError(f"{path}: not an AOT ground-truth file: key 'samples' is missing")
    of_flight, of_image, of_object = (
        (list(chain.from_iterable(column)) for column in zip(*(part[:3] for part in flights), strict=True))
        if flights
        else ([], [], [])
    )
    stray = next((name for name in of_flight if name not in hours), None)
    if stray is not None:
        raise InputError(f"{path}: an entity has flight_id {stray}, which is not a key of 'samples'")
    names, flight = _numbered(of_flight)
    images, image = _numbered(of_image)
    objects = {name: number for number, name in enumerate(sorted({*of_object} - {""}))} | {"": -1}
    numbers = np.concatenate([np.zeros((0, 2), np.int64), *(part[3] for part in flights)])
    values = np.concatenate([np.zeros((0, 6)), *(part[4] for part in flights)])
    if np.isinf(values).any():
        raise InputError(f"{path}: a box or range is not finite")
    birds = {name for name in objects if "Bird" in name or "Flock" in name}
    truth = AotTruth(
        flight=flight,
        image=image,
        frame=numbers[:, 0],
        time=numbers[:, 1],
        object_=np.array([objects[name] for name in of_object], dtype=np.int64),
        bird=np.array([name in birds for name in of_object], dtype=bool),
        box_px=values[:, :4],
        range_m=values[:, 4],
        above_horizon=values[:, 5],
        flight_hours=np.array([hours[name] for name in names], dtype=np.float64),
    )
    if not len(truth.image):
        raise InputError(f"{path}: no images; list frames without objects as well")
    return truth, images


def _numbered(names: list[str]) -> tuple[dict[str, int], IntArray]:
    """Return numbers in the order of the names, and that of each name."""
    numbers = {name: number for number, name in enumerate(sorted(dict.fromkeys(names)))}  # in sorted runs
    return numbers, np.array([numbers[name] for name in names], dtype=np.int64)


def read_aot_results(path: Path, images: dict[str, int]) -> AotResults:
    """Return detections.

    Args:
        path: a list of ``{"img_name", "detections": [{"n", "x", "y", "w", "h", "s", "track_id"}]}``; x and y are the centre.
        images: numbers by name, from the ground truth.

    Raises:
        InputError: not such a file, an unknown image, or a number that is not finite.
    """
    image, numbers = array("q"), array("d")
    tracks = _Tracks()
    with JsonStream(path) as stream:
        for batch in stream.batches("a result of AOT"):
            entries = [entry if isinstance(entry, dict) else {} for entry in batch]
            names: list[Any] = [entry.get("img_name") for entry in entries]
            found: list[Any] = [entry.get("detections") for entry in entries]
            if not all(isinstance(name, str) for name in names) or not all(isinstance(rows, list) for rows in found):
                raise InputError(f"{path}: an entry lacks img_name or a list of detections")
            of_entry = [images.get(name, -1) for name in names]
            if -1 in of_entry:
                stray = names[of_entry.index(-1)]
                raise InputError(f"{path}: image {stray!r} is not in the ground truth")
            rows = list(chain.from_iterable(found))
            try:
                numbers.extend(float(row[key]) for row in rows for key in "xywhs")
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise InputError(f"{path}: a detection lacks a number x, y, w, h or s: {error}") from error
            image.extend(number for number, of_image in zip(of_entry, found, strict=True) for _ in of_image)
            tracks.add(rows)
        stream.end()
    values = np.array(numbers, dtype=np.float64).reshape(-1, 5)
    if not np.isfinite(values).all():
        raise InputError(f"{path}: a detection has a number that is not finite")
    return AotResults(np.array(image, dtype=np.int64), values[:, :4].copy(), values[:, 4].copy(), tracks.numbers())


class _Tracks:
    """Collects the tracks of detections; without tracks every detection is its own track, as in the starter kit."""

    _KEYS = ("track_id", "object_id")

    def __init__(self) -> None:
        self._names: dict[str, list[Any]] = {key: [] for key in self._KEYS}
        self._present = dict.fromkeys(self._KEYS, False)

    def add(self, detections: list[JsonDict]) -> None:
        for key in self._KEYS:
            self._names[key] += [detection.get(key) for detection in detections]
            self._present[key] |= any(key in detection for detection in detections)

    def numbers(self) -> FloatArray:
        """Return (D,) track numbers of the detections; NaN without a name."""
        key = next((key for key in self._KEYS if self._present[key]), None)
        if key is None:
            return np.arange(len(self._names[self._KEYS[0]]), dtype=np.float64)
        names = self._names[key]
        known = np.array([name is not None and not _is_nan(name) for name in names], dtype=bool)
        track = np.full(len(names), np.nan)
        texts = [str(name) for name, is_known in zip(names, known.tolist(), strict=True) if is_known]
        track[known] = np.unique(texts, return_inverse=True)[1] if texts else []
        return track


def _is_nan(name: object) -> bool:
    return isinstance(name, float) and np.isnan(name)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    for folder in (path, path / "ImageSets"):
        for name in ("groundtruth.json", "groundtruth.json.gz"):
            if (folder / name).is_file():
                return folder / name
    raise InputError(f"{path}: holds no groundtruth.json")


def _flight(path: Path, flight: str, entities: list[JsonDict]) -> _Flight:
    try:
        blobs = [entity["blob"] for entity in entities]
        steps = [int(blob["frame"]) for blob in blobs], [int(entity["time"]) for entity in entities]
        numbers = np.array(steps, dtype=np.int64).T
        if np.any((numbers > _LARGEST) | (numbers < -_LARGEST)):
            raise ValueError("a frame or time exceeds 62 bits")
        far = [blob.get("range_distance_m") for blob in blobs]
        above = [(entity.get("labels") or {}).get("is_above_horizon") for entity in entities]
        values = np.empty((len(entities), 6))
        values[:, :4] = numbers_of([entity.get("bb") or _NO_BOX for entity in entities], 4)
        values[:, 4:] = np.array([far, above], dtype=np.float64).T
        return (
            [str(entity.get("flight_id", flight)) for entity in entities],
            [str(entity["img_name"]) for entity in entities],
            [str(entity.get("id") or "") for entity in entities],
            numbers,
            values,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{path}: flight {flight}: an entity lacks frame, time, img_name or four numbers in bb"
        ) from error


def _hours(path: Path, flight: str, metadata: JsonDict, entities: list[JsonDict]) -> float:
    """Return a flight's length: by its duration in milliseconds, else by its frames at its rate."""
    try:
        if metadata.get("duration"):
            hours = float(metadata["duration"]) / 3.6e6
        else:
            frames = metadata.get("number_of_frames") or len({str(entity["img_name"]) for entity in entities})
            hours = float(frames) / float(metadata.get("fps") or 10.0) / 3600
        if not (np.isfinite(hours) and (hours > 0 or not entities)):
            raise ValueError("the duration is not positive")
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: flight {flight}: metadata has no usable duration, frames or fps") from error
    return hours
