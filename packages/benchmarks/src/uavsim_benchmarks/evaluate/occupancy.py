"""Scores of predicted voxels: ``uavsim evaluate occupancy``.

Source: ``Metric_mIoU`` of CVPR 2023's occupancy challenge: one confusion matrix over all samples, and the mean IoU of the 17
occupied classes that ground truth or prediction has. ``rayiou`` is computed in ``rays``; ``uniocc_iou`` is UniOcc's
``ComputeIoU`` and ``ComputeIoUForCategory`` over whole grids, averaged over samples.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.errors import DatasetError, InputError
from uavsim.occupancy.classes import FREE, NAMES, UNKNOWN, uniocc_classes
from uavsim.occupancy.files import read_occ3d, read_voxels
from uavsim.occupancy.rays import RayCounts
from uavsim.registry import pick
from uavsim.typing import AnyArray, FloatArray, IntArray, UInt8Array
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest, Outcome, Row, Table

__all__ = ["confusion", "evaluate_occupancy", "iou_of_classes", "iou_of_matter", "mean_iou"]

_CLASSES: Final = FREE + 1
_UNIOCC_FREE: Final = 10
_MASKS: Final = ("camera", "lidar", "none")
_EDGES: Final = {"distance_m": (0, 20, 40, 60, 80, 1000), "height_m": (-100, 0, 2, 5, 10, 20, 1000)}


def confusion(predicted: UInt8Array, truth: UInt8Array) -> IntArray:
    """Return (18, 18) counts of voxels by true and predicted class, of (N,) each; unknown truth is left out.

    Raises:
        InputError: a predicted class is out of range.
    """
    known = truth < _CLASSES
    if (predicted[known] >= _CLASSES).any():
        raise InputError(f"a prediction has class {predicted[known].max()}; classes are 0 to {FREE}")
    pairs = truth[known].astype(np.int64) * _CLASSES + predicted[known]
    return np.bincount(pairs, minlength=_CLASSES**2).reshape(_CLASSES, _CLASSES)


def iou_of_classes(counts: IntArray) -> FloatArray:
    """Return (18,) IoU by class of (18, 18) counts; NaN for classes in neither truth nor prediction."""
    both = np.diag(counts)
    either = counts.sum(axis=0) + counts.sum(axis=1) - both
    return np.asarray(np.where(either > 0, both / np.maximum(either, 1), np.nan))


def mean_iou(counts: IntArray, *, corrected: bool = False) -> float:
    """Return the mean IoU of the 17 occupied classes of (18, 18) counts; NaN without any.

    Args:
        counts: by true and predicted class.
        corrected: leave out classes without ground truth, which the reference counts as 0 after one prediction.
    """
    iou = iou_of_classes(counts)[:FREE]
    if corrected:
        iou = np.where(counts[:FREE].sum(axis=1) > 0, iou, np.nan)
    return float(np.nanmean(iou)) if not np.isnan(iou).all() else float("nan")


def iou_of_matter(counts: IntArray) -> float:
    """Return the IoU of occupied voxels of any class, of (18, 18) counts; NaN without any."""
    both = counts[:FREE, :FREE].sum()
    either = counts.sum() - counts[FREE, FREE]
    return float(both / either) if either else float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """Ground truth of one sample: (X, Y, Z) arrays with distance and height of the voxels."""

    semantics: UInt8Array
    mask: AnyArray
    seers: UInt8Array
    distance_m: FloatArray
    height_m: FloatArray
    eyes: list[AnyArray]
    voxel_m: float


def evaluate_occupancy(request: EvaluationRequest) -> Outcome:
    """Score voxels against an output folder of ``uavsim occupancy``, as Parquet or Occ3D's files.

    Results: a folder with ``<sample token>.npz`` (key ``semantics``) or files named like the truth's. Option ``mask`` selects
    the counted voxels: camera, lidar (Occ3D's files only) or none; unknown voxels never count. Option ``eye`` is the origin of
    RayIoU's rays in Occ3D's files, ``x,y,z`` in metres (nuScenes' lidar); Parquet files have the agents' positions.

    Raises:
        InputError: there is no truth, or a prediction is missing or has another size.
    """
    mask = request.options.get("mask", "camera")
    pick(dict.fromkeys(_MASKS), mask, what="mask")
    eye_m = _eye_m(request.options.get("eye", "0.9858,0,1.8402"))
    found = sorted([*request.truth.rglob("*.parquet"), *request.truth.rglob("labels.npz")])
    if not found:
        raise InputError(f"{request.truth}: no voxels found; write them with uavsim occupancy")
    total = np.zeros((_CLASSES, _CLASSES), dtype=np.int64)
    parts: dict[tuple[str, str], IntArray] = {}
    rays, shares = RayCounts(), list[FloatArray]()
    for path in found:
        truth = _truth(path, mask, eye_m)
        predicted = _prediction(request.results, request.truth, path, truth.semantics.shape)
        rays.add(predicted, truth.semantics, truth.eyes, truth.voxel_m)
        shares.append(_uniocc_iou(predicted, truth.semantics))
        total += confusion(predicted[truth.mask], truth.semantics[truth.mask])
        for group, name, chosen in _groups(truth):
            part = parts.setdefault((group, name), np.zeros_like(total))
            part += confusion(predicted[chosen], truth.semantics[chosen])
    corrected = request.mode == "corrected"
    iou = iou_of_classes(total)[:FREE]
    of_rays, uniocc = rays.scores(), np.mean(shares, axis=0)
    scores: dict[str, Any] = {
        "miou": mean_iou(total, corrected=corrected), "iou": iou_of_matter(total),
        "iou_of_class": {name: float(value) for name, value in zip(NAMES, iou, strict=False)}, "samples": len(found),
        "rayiou": of_rays.pop("mean"), "rayiou_of": of_rays,
        "uniocc_iou": float(uniocc[0]), "uniocc_iou_of_category": dict(enumerate(uniocc[1:].tolist())),
    }  # fmt: skip
    rows: list[Row] = [
        (name, int(total[n].sum()), float(iou[n])) for n, name in enumerate(NAMES[:FREE]) if not np.isnan(iou[n])
    ]
    of_part = [(group, name, counts) for (group, name), counts in parts.items() if counts.sum()]
    for group, name, counts in of_part:
        of_one = {"miou": mean_iou(counts, corrected=corrected), "iou": iou_of_matter(counts)}
        scores.setdefault(f"by_{group}", {})[name] = of_one
    split: tuple[Row, ...] = tuple(
        (f"{group} {name}", int(counts.sum()), mean_iou(counts, corrected=corrected), iou_of_matter(counts))
        for group, name, counts in of_part
    )
    tables = (
        Table("IoU by class", ("", "voxels", "IoU"), tuple(rows)),
        Table("parts", ("", "voxels", "mIoU", "IoU"), split),
    )
    return Outcome("occupancy", request.mode, scores, ("miou", "iou", "rayiou", "uniocc_iou"), tables)


def _uniocc_iou(predicted: UInt8Array, truth: UInt8Array) -> FloatArray:
    """Return (11,) IoU of occupied voxels and of each of UniOcc's classes in a grid; 1 for classes in neither."""
    pairs = uniocc_classes(truth).ravel().astype(np.int64) * (_UNIOCC_FREE + 1) + uniocc_classes(predicted).ravel()
    counts = np.bincount(pairs, minlength=(_UNIOCC_FREE + 1) ** 2).reshape(_UNIOCC_FREE + 1, -1)
    both, free = np.diag(counts), counts[_UNIOCC_FREE, _UNIOCC_FREE]
    either = counts.sum(axis=0) + counts.sum(axis=1) - both
    matter = counts[:_UNIOCC_FREE, :_UNIOCC_FREE].sum()
    both, either = np.append(matter, both[:-1]), np.append(counts.sum() - free, either[:-1])
    return np.asarray(np.where(either > 0, both / np.maximum(either, 1), 1.0))


def _eye_m(text: str) -> FloatArray:
    try:
        eye_m = np.array([float(number) for number in text.split(",")])
    except ValueError as error:
        raise InputError(f"--option eye={text}: {error}") from error
    if eye_m.shape != (3,) or not np.isfinite(eye_m).all():
        raise InputError(f"--option eye={text}: must be x,y,z in metres, for example 0,0,60")
    return eye_m


def _groups(truth: _Sample) -> Iterator[tuple[str, str, AnyArray]]:
    """Yield the parts of a sample: kind, name and (X, Y, Z) mask."""
    for kind, values in (("distance_m", truth.distance_m), ("height_m", truth.height_m)):
        edges = _EDGES[kind]
        for low, high in pairwise(edges):
            yield kind, f"{low}..{high}", truth.mask & (values >= low) & (values < high)
    for count in range(1, int(truth.seers.max(initial=0)) + 1):
        yield "agents_that_see", str(count), truth.mask & (truth.seers == count)


def _truth(path: Path, mask: str, eye_m: AnyArray) -> _Sample:
    if path.suffix == ".parquet":
        if mask == "lidar":
            raise InputError("--option mask=lidar: only Occ3D's files have that mask")
        arrays, about = read_voxels(path)
        if "seen" not in arrays:
            raise DatasetError(f"{path}: array 'seen' is missing; write the voxels again with uavsim occupancy")
        seers = np.bitwise_count(arrays["seen"] & arrays["seen"].dtype.type((1 << len(about["seers"])) - 1))
        semantics, low_m, voxel_m = arrays["semantics"], about["grid"]["low_m"], about["grid"]["voxel_m"]
        eyes_m = about.get("eyes_m", [])  # older files have none
    else:
        semantics, seers = read_occ3d(path, "mask_lidar" if mask == "lidar" else "mask_camera")
        low_m, voxel_m = (-40.0, -40.0, -1.0), 0.4
        eyes_m = [eye_m]
    axes = [(np.arange(n) + 0.5) * voxel_m + low for n, low in zip(semantics.shape, low_m, strict=True)]
    away = np.broadcast_to(np.hypot(axes[0][:, None, None], axes[1][None, :, None]), semantics.shape)
    height = np.broadcast_to(axes[2][None, None, :], semantics.shape)
    chosen = (seers > 0) if mask != "none" else np.ones(semantics.shape, dtype=np.bool_)
    eyes = [(np.array(eye) - low_m) / voxel_m for eye in eyes_m]
    return _Sample(semantics, chosen & (semantics != UNKNOWN), seers, away, height, eyes, voxel_m)


def _prediction(results: Path, truth: Path, path: Path, size: tuple[int, ...]) -> UInt8Array:
    token = path.stem if path.suffix == ".parquet" else path.parent.name
    files = [results / f"{token}.npz", results / path.relative_to(truth)]
    file = next((each for each in files if each.exists()), None)
    if file is None:
        raise InputError(f"{results}: no prediction of sample {token}; expected {files[0].name} or {files[1]}")
    try:
        found = read_voxels(file)[0]["semantics"] if file.suffix == ".parquet" else read_occ3d(file, size=size)[0]
    except DatasetError as error:
        raise InputError(str(error)) from error
    if found.shape != size:
        raise InputError(f"{file}: semantics have the shape {found.shape}, expected {size}")
    return np.where(found == UNKNOWN, np.uint8(FREE), found)
