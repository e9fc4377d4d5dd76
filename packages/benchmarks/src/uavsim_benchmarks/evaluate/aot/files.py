"""AOT's own files: ``groundtruth.json`` (or .json.gz) and result lists."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray, JsonDict
from uavsim_benchmarks.evaluate.aot.scores import AotResults, AotTruth
from uavsim_benchmarks.evaluate.readers.json_stream import JsonStream

__all__ = ["read_aot_results", "read_aot_truth"]

_LARGEST: Final = 1 << 62
_Entity: TypeAlias = tuple[str, str, int, int, str, list[float]]
"""Flight, image, frame, time, name of the object, and box, range and horizon."""


def read_aot_truth(path: Path) -> tuple[AotTruth, dict[str, int]]:
    """Return ground truth and the number of each image by name.

    Args:
        path: the file, or a folder that holds ``groundtruth.json``.

    Raises:
        InputError: not such a file.
    """
    path = _file(path)
    rows: list[_Entity] = []
    hours: dict[str, float] = {}
    with JsonStream(path) as stream:
        found = False
        for key in stream.members("the ground truth"):
            if key != "samples":
                stream.value()
                continue
            found = True
            for name in stream.members("'samples', the flights by name,"):
                sample = stream.value()
                entities = sample.get("entities") if isinstance(sample, dict) else None
                if not isinstance(entities, list):
                    raise InputError(f"{path}: flight {name} has no list of entities")
                rows += [_entity(path, name, entity) for entity in entities]
                hours[name] = _hours(path, name, sample.get("metadata") or {}, entities)
        stream.end()
    if not found:
        raise InputError(f"{path}: no ground truth of AOT: there is no key 'samples'")
    stray = next((row[0] for row in rows if row[0] not in hours), None)
    if stray is not None:
        raise InputError(f"{path}: an entity names flight {stray}, which is not among 'samples'")
    flights, flight = np.unique([row[0] for row in rows], return_inverse=True)
    images, image = np.unique([row[1] for row in rows], return_inverse=True)
    names = sorted({row[4] for row in rows if row[4]})
    code = {name: number for number, name in enumerate(names)} | {"": -1}
    numbers = np.array([[row[2], row[3], code[row[4]]] for row in rows], dtype=np.int64).reshape(-1, 3)
    values = np.array([row[5] for row in rows], dtype=np.float64).reshape(-1, 6)
    if np.isinf(values).any():
        raise InputError(f"{path}: a box or range is not finite")
    truth = AotTruth(
        flight=flight,
        image=image,
        frame=numbers[:, 0],
        time=numbers[:, 1],
        object_=numbers[:, 2],
        bird=np.array(["Bird" in row[4] or "Flock" in row[4] for row in rows], dtype=bool),
        box_px=values[:, :4],
        range_m=values[:, 4],
        above_horizon=values[:, 5],
        flight_hours=np.array([hours[name] for name in flights.tolist()], dtype=np.float64),
    )
    if not len(truth.image):
        raise InputError(f"{path}: no images; frames without objects are listed too")
    return truth, {str(name): number for number, name in enumerate(images.tolist())}


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
        for entry in stream.items("a result of AOT"):
            name = entry.get("img_name") if isinstance(entry, dict) else None
            if not isinstance(name, str) or not isinstance(entry.get("detections"), list):
                raise InputError(f"{path}: an entry has no img_name or no list of detections")
            if name not in images:
                raise InputError(f"{path}: image {name!r} is not in the ground truth")
            for row in entry["detections"]:
                try:
                    numbers.extend(float(row[key]) for key in "xywhs")
                except (KeyError, TypeError, ValueError, OverflowError) as error:
                    raise InputError(f"{path}: a detection lacks a number x, y, w, h or s: {error}") from error
                image.append(images[name])
                tracks.add(row)
        stream.end()
    values = np.array(numbers, dtype=np.float64).reshape(-1, 5)
    if not np.isfinite(values).all():
        raise InputError(f"{path}: a detection has a number that is not finite")
    return AotResults(np.array(image, dtype=np.int64), values[:, :4].copy(), values[:, 4].copy(), tracks.numbers())


class _Tracks:
    """Collects the tracks of detections; without any every detection is one of its own, as in the starter kit."""

    _KEYS = ("track_id", "object_id")

    def __init__(self) -> None:
        self._names: dict[str, list[Any]] = {key: [] for key in self._KEYS}
        self._there = dict.fromkeys(self._KEYS, False)

    def add(self, detection: JsonDict) -> None:
        for key in self._KEYS:
            self._names[key].append(detection.get(key))
            self._there[key] |= key in detection

    def numbers(self) -> FloatArray:
        """Return a number for each name; NaN for a detection without one."""
        key = next((key for key in self._KEYS if self._there[key]), None)
        if key is None:
            return np.arange(len(self._names[self._KEYS[0]]), dtype=np.float64)
        names = self._names[key]
        known = np.array([name is not None and not _is_nan(name) for name in names], dtype=bool)
        track = np.full(len(names), np.nan)
        texts = [str(name) for name, reported in zip(names, known.tolist(), strict=True) if reported]
        track[known] = np.unique(texts, return_inverse=True)[1] if texts else []
        return track


def _is_nan(name: object) -> bool:
    return isinstance(name, float) and np.isnan(name)


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    for place in (path, path / "ImageSets"):
        for name in ("groundtruth.json", "groundtruth.json.gz"):
            if (place / name).is_file():
                return place / name
    raise InputError(f"{path}: holds no groundtruth.json")


def _entity(path: Path, flight: str, entity: JsonDict) -> _Entity:
    try:
        blob, box = entity["blob"], entity.get("bb") or [np.nan] * 4
        left, top, width, height = box
        numbers = [
            left,
            top,
            width,
            height,
            blob.get("range_distance_m"),
            (entity.get("labels") or {}).get("is_above_horizon"),
        ]
        frame, time = int(blob["frame"]), int(entity["time"])
        if max(abs(frame), abs(time)) > _LARGEST:
            raise ValueError("a frame or time that is no 64-bit number")
        return (
            str(entity.get("flight_id", flight)),
            str(entity["img_name"]),
            frame,
            time,
            str(entity.get("id") or ""),
            [np.nan if number is None else float(number) for number in numbers],
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{path}: flight {flight}: an entity without frame, time, img_name or four numbers in bb"
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
            raise ValueError("a length that is not above 0")
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: flight {flight}: metadata has no usable duration, frames or fps") from error
    return hours
