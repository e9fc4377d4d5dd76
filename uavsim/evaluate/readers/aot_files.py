"""AOT's own files: ``groundtruth.json`` (or .json.gz) and result lists."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from uavsim.errors import InputError
from uavsim.evaluate.aot import AotResults, AotTruth
from uavsim.evaluate.readers.json_stream import MAX_FILE_BYTES, read_json
from uavsim.typing import IntArray, JsonDict

__all__ = ["read_aot_results", "read_aot_truth"]


def read_aot_truth(path: Path) -> tuple[AotTruth, dict[str, int]]:
    """Return ground truth and the number of each image by name.

    Args:
        path: the file, or a folder that holds ``groundtruth.json``.

    Raises:
        InputError: not such a file.
    """
    path = _file(path)
    content = _read(path)
    samples = content.get("samples") if isinstance(content, dict) else None
    if not isinstance(samples, dict):
        raise InputError(f"{path}: no ground truth of AOT: 'samples' is not an object of flights")
    rows, hours = [], {}
    for flight, sample in samples.items():
        entities = sample.get("entities") if isinstance(sample, dict) else None
        if not isinstance(entities, list):
            raise InputError(f"{path}: flight {flight} has no list of entities")
        rows += [_entity(path, flight, entity) for entity in entities]
        hours[flight] = _hours(sample.get("metadata") or {}, entities)
    flights, flight = np.unique([row[0] for row in rows], return_inverse=True)
    images, image = np.unique([row[1] for row in rows], return_inverse=True)
    names = sorted({row[4] for row in rows if row[4]})
    code = {name: number for number, name in enumerate(names)} | {"": -1}
    numbers = np.array([[row[2], row[3], code[row[4]]] for row in rows], dtype=np.int64).reshape(-1, 3)
    values = np.array([row[5] for row in rows], dtype=np.float64).reshape(-1, 6)
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
    content = _read(path)
    if not isinstance(content, list):
        raise InputError(f"{path}: no result of AOT: not a list of images")
    rows: list[JsonDict] = []
    of_image: list[int] = []
    for entry in content:
        name = entry.get("img_name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not isinstance(entry.get("detections"), list):
            raise InputError(f"{path}: an entry has no img_name or no list of detections")
        if name not in images:
            raise InputError(f"{path}: image {name!r} is not in the ground truth")
        rows += entry["detections"]
        of_image += [images[name]] * len(entry["detections"])
    try:
        box = np.array([[row[key] for key in "xywh"] for row in rows], dtype=np.float64).reshape(-1, 4)
        score = np.array([row["s"] for row in rows], dtype=np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: a detection lacks a number x, y, w, h or s: {error}") from error
    if not (np.isfinite(box).all() and np.isfinite(score).all()):
        raise InputError(f"{path}: a detection has a number that is not finite")
    return AotResults(np.array(of_image, dtype=np.int64), box, score, _tracks(rows))


def _tracks(rows: list[JsonDict]) -> Any:
    """Return track numbers; without any track every detection is a track of its own, as in the starter kit."""
    for key in ("track_id", "object_id"):
        if any(key in row for row in rows):
            names = [row.get(key) for row in rows]
            known: IntArray = np.array([name is not None and not _is_nan(name) for name in names], dtype=bool)
            track = np.full(len(rows), np.nan)
            texts = [str(name) for name, told in zip(names, known.tolist(), strict=True) if told]
            track[known] = np.unique(texts, return_inverse=True)[1] if texts else []
            return track
    return np.arange(len(rows), dtype=np.float64)


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


def _read(path: Path) -> Any:
    if path.suffix != ".gz":
        return read_json(path)
    try:
        with gzip.open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be unpacked: {error}") from error
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{path}: unpacks to more than {MAX_FILE_BYTES / 1e9:.1f} GB")
    try:
        return json.loads(data)
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error


def _entity(path: Path, flight: str, entity: JsonDict) -> tuple[str, str, int, int, str, list[float]]:
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
        return (
            str(entity.get("flight_id", flight)),
            str(entity["img_name"]),
            int(blob["frame"]),
            int(entity["time"]),
            str(entity.get("id") or ""),
            [np.nan if number is None else float(number) for number in numbers],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}: flight {flight}: an entity without frame, time, img_name or four numbers in bb"
        ) from error


def _hours(metadata: JsonDict, entities: list[JsonDict]) -> float:
    """Return a flight's length: by its duration in milliseconds, else by its frames at its rate."""
    if metadata.get("duration"):
        return float(metadata["duration"]) / 3.6e6
    frames = metadata.get("number_of_frames") or len({entity.get("img_name") for entity in entities})
    return float(frames) / float(metadata.get("fps") or 10.0) / 3600
