"""OpenAD's own files: ground-truth and submission pickles, an annotation folder, and a table of similarities."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray
from uavsim_benchmarks.evaluate.openad.scores import OpenAdScene, subset_of
from uavsim_benchmarks.evaluate.readers.json_stream import read_json
from uavsim_benchmarks.evaluate.readers.pickles import read_pickle

DATASETS: Final = {"av2": 250, "kitti": 309, "nuscenes": 134, "once": 1057, "waymo": 250}
"""OpenAD's five sources, with the number of scenes of each, in the order of its 2,000 scenes."""

_UNUSABLE: Final = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError)
_Similarity = Callable[[list[str], list[str]], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class OpenAdTruth:
    """Objects by scene.

    Args:
        boxes: for each scene (G, 11): x0, y0, x1, y1, h, w, l, x, y, z, theta.
        seen: for each scene (G, sources) whether the tag occurs in a source's training set.
        tags: tags of each scene.
        source: source of each scene.
        sources: names of the sources.
        features: tag names and their text features, if the file has them.
    """

    boxes: list[FloatArray]
    in_training: list[FloatArray]
    tags: list[list[str]]
    source: list[str]
    sources: tuple[str, ...]
    features: tuple[list[str], FloatArray] | None = None


def read_openad_truth(path: Path) -> OpenAdTruth:
    """Read ``gt.pkl`` of OpenAD's evaluation, or a folder of ``annotations/<i>.txt`` with ``infos/<i>.json``.

    Raises:
        InputError: not such a file or folder.
    """
    if path.is_dir():
        return _annotations(path)
    content = read_pickle(path)
    try:
        scenes, names, features = content
        rows = [[list(row) for row in scene] for scene in scenes]
        source = _sources(len(rows))
        truth = OpenAdTruth(
            boxes=[_numbers([row[:11] for row in scene], 11) for scene in rows],
            in_training=[_numbers([row[11:-1] for row in scene], len(DATASETS)) for scene in rows],
            tags=[[str(row[-1]) for row in scene] for scene in rows],
            source=source,
            sources=tuple(DATASETS),
            features=_features(names, features),
        )
    except _UNUSABLE as error:
        raise InputError(f"{path}: not OpenAD ground truth [objects, tags, features]: {_line(error)}") from error
    if not all(np.isfinite(of_scene).all() for of_scene in (*truth.boxes, *truth.in_training)):
        raise InputError(f"{path}: an object has a number that is not finite")
    return truth


def read_openad_scenes(
    path: Path, truth: OpenAdTruth, *, dimensions: int, table: _Similarity | None
) -> tuple[list[OpenAdScene], dict[str, bool]]:
    """Read a submission ``[detections, tags, features, training_on]``.

    Args:
        path: a pickle, or JSON of ``{"detections", "training_on"}`` with a similarity table.
        truth: the objects.
        dimensions: 2 or 3.
        table: similarities of tags; default: cosines of the text features in the files.

    Returns:
        The scenes, and by source whether the detector was trained on it.

    Raises:
        InputError: the file is invalid, has another number of scenes, or no similarities.
    """
    width = 4 if dimensions == 2 else 7
    try:
        if path.suffix == ".json":
            content = read_json(path)
            found, trained, features = content["detections"], content["training_on"], None
        else:
            found, names, values, trained = read_pickle(path)
            features = _features(names, values)
        if len(found) != len(truth.boxes):
            raise InputError(f"{path}: {len(found)} scenes, the ground truth has {len(truth.boxes)}")
        boxes = [_numbers([list(row)[:width] for row in scene], width) for scene in found]
        tags = [[str(list(row)[-1]) for row in scene] for scene in found]
        trained = {str(name): bool(value) for name, value in dict(trained).items()}
    except _UNUSABLE as error:
        raise InputError(
            f"{path}: not an OpenAD submission [detections, tags, features, training_on]: {_line(error)}"
        ) from error
    if not all(np.isfinite(scene).all() for scene in boxes):
        raise InputError(f"{path}: a detection has a number that is not finite")
    compare = table or _cosines(path, truth, features)
    return [
        OpenAdScene(
            found=boxes[k],
            truth=truth.boxes[k][:, :4] if dimensions == 2 else truth.boxes[k][:, 4:],
            similarity=compare(tags[k], truth.tags[k]),
            subset=subset_of(
                _seen_classes(truth.in_training[k], truth.sources, trained),
                np.full(len(truth.tags[k]), trained.get(truth.source[k], False)),
            ),
        )
        for k in range(len(boxes))
    ], trained


def read_similarity_table(path: Path) -> _Similarity:
    """Read ``{"tag": {"other tag": similarity}}``; symmetric; equal tags have 1, missing pairs 0.

    Raises:
        InputError: not such a table.
    """
    table = read_json(path)
    try:
        known = {(str(a), str(b)): float(v) for a, row in table.items() for b, v in row.items()}
    except _UNUSABLE as error:
        raise InputError(f"{path}: not a table of similarities by two tags: {_line(error)}") from error
    if not all(np.isfinite(value) for value in known.values()):
        raise InputError(f"{path}: a similarity is not a finite number")

    def compare(found_tags: list[str], true_tags: list[str]) -> FloatArray:
        values = [[_look_up(known, a, b) for b in true_tags] for a in found_tags]
        return np.array(values, dtype=np.float64).reshape(len(found_tags), len(true_tags))

    return compare


def _look_up(known: dict[tuple[str, str], float], a: str, b: str) -> float:
    return 1.0 if a == b else known.get((a, b), known.get((b, a), 0.0))


def _cosines(path: Path, truth: OpenAdTruth, features: tuple[list[str], FloatArray] | None) -> _Similarity:
    if features is None or truth.features is None:
        raise InputError(f"{path}: text features are missing in truth or results; give --option similarity=TABLE.json")
    if features[1].shape[1] != truth.features[1].shape[1]:
        raise InputError(
            f"{path}: text features have {features[1].shape[1]} values, the ground truth's {truth.features[1].shape[1]}"
        )
    names, true_names = ({name: k for k, name in reversed(list(enumerate(f[0])))} for f in (features, truth.features))
    cosine = truth.features[1] @ features[1].T

    def compare(found_tags: list[str], true_tags: list[str]) -> FloatArray:
        try:
            rows, columns = [true_names[b] for b in true_tags], [names[a] for a in found_tags]
        except KeyError as error:
            raise InputError(f"{path}: tag {error} has no text feature") from error
        return cosine[np.ix_(rows, columns)].T

    return compare


def _seen_classes(in_training: FloatArray, sources: tuple[str, ...], trained: dict[str, bool]) -> Any:
    used = np.array([trained.get(name, False) for name in sources], dtype=bool)
    return (in_training[:, used] != 0).any(axis=1) if len(in_training) else np.zeros(0, bool)


def _sources(scenes: int) -> list[str]:
    names = [name for name, count in DATASETS.items() for _ in range(count)]
    if scenes > len(names):
        raise InputError(f"the files have {scenes} scenes; OpenAD has {len(names)}")
    return names[:scenes]


def _annotations(folder: Path) -> OpenAdTruth:
    files = sorted(
        (folder / "annotations").glob("*.txt"), key=lambda path: int(path.stem) if path.stem.isdigit() else -1
    )
    if not files:
        raise InputError(f"{folder}: holds no annotations/<number>.txt")
    boxes, in_training, tags, source = [], [], [], []
    for file in files:
        rows = [line.split() for line in _text(file).splitlines() if line.strip()]
        if any(len(row) != 20 for row in rows):
            raise InputError(f"{file}: each line must have 20 words: 5 flags, a tag without spaces, 14 numbers")
        try:
            boxes.append(_numbers([row[9:20] for row in rows], 11))
            in_training.append(_numbers([row[:5] for row in rows], 5))
        except ValueError as error:
            raise InputError(f"{file}: {error}") from error
        tags.append([row[5] for row in rows])
        info = read_json(folder / "infos" / f"{file.stem}.json")
        source.append(str(info.get("dataset", "")) if isinstance(info, dict) else "")
    return OpenAdTruth(boxes, in_training, tags, source, tuple(DATASETS))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {_line(error)}") from error


def _features(names: Any, values: Any) -> tuple[list[str], FloatArray]:
    """Return tags and their (tags, features) text features."""
    tags, features = [str(name) for name in names], np.asarray(values, dtype=np.float64)
    if features.ndim != 2 or len(features) != len(tags) or not np.isfinite(features).all():
        raise ValueError(f"expected finite text features of {len(tags)} tags, found shape {features.shape}")
    return tags, features


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _numbers(rows: list[Any], width: int) -> FloatArray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
