"""Removal of detections in ``ignore_region`` rows, which mark road users without a box.

A region is a rectangle of an image. A box lies in it when its centre projects there, at any distance. Boxes near ground truth
stay, so that a labelled vehicle beside an unlabelled one still counts.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.dataset.lens_columns import lens_of
from uavsim.dataset.tables import iter_rows
from uavsim.errors import InputError
from uavsim.geometry import pinhole
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth

OPTION: Final = "ignore_regions"
_NEAR_M: Final = 2.0
"""On the ground, from a true box: nuScenes' distance for the errors of true positives."""


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    map_SE3_optical: SE3
    intrinsic: FloatArray
    lens: Lens | None
    regions_px: IntArray


class IgnoredRegions:
    """A filter for boxes outside of the ignore regions of a dataset."""

    def __init__(self, tables: Path, truth: Truth) -> None:
        """Read the regions of evaluated samples.

        Args:
            tables: the version folder of a dataset in the strict dialect.
            truth: its boxes.
        """
        self._truth = truth.boxes.take(truth.boxes.counted)
        regions: dict[str, list[list[int]]] = {}
        path = tables / "ignore_region.json"
        for row in iter_rows(path) if path.is_file() else ():
            regions.setdefault(row["sample_data_token"], []).append(row["box"])
        self._views = _views(tables, truth, regions) if regions else {}

    def __call__(self, boxes: Boxes) -> Boxes:
        """Return the boxes outside of the regions, or near ground truth."""
        ignored = np.zeros(len(boxes), bool)
        for sample in np.unique(boxes.sample).tolist():
            rows = boxes.sample_rows(sample)
            for view in self._views.get(sample, ()):
                ignored[rows] |= _is_inside(boxes.centre_m[rows], view)
            true_rows = self._truth.sample_rows(sample)
            off_m = boxes.centre_m[rows, None, :2] - self._truth.centre_m[None, true_rows, :2]
            ignored[rows] &= ~(np.linalg.norm(off_m, axis=-1) < _NEAR_M).any(axis=1)
        return boxes.take(~ignored)


def regions_of(request: EvaluationRequest, version: str, truth: Truth, *, by_default: bool) -> IgnoredRegions | None:
    """Return the filter of a request, or None when its option turns it off.

    Args:
        request: its option ``ignore_regions`` is yes or no.
        version: version folder of the dataset.
        truth: its boxes.
        by_default: the value without the option; reference code has no regions, so ``official`` does not filter.

    Raises:
        InputError: the option is neither yes nor no.
    """
    choice = request.options.get(OPTION, "yes" if by_default else "no")
    if choice not in {"yes", "no"}:
        raise InputError(f"--option {OPTION}={choice}: must be yes or no")
    return IgnoredRegions(request.truth / version, truth) if choice == "yes" else None


def _views(tables: Path, truth: Truth, regions: dict[str, list[list[int]]]) -> dict[int, list[_View]]:
    shots = {row["token"]: row for row in iter_rows(tables / "sample_data.json") if row["token"] in regions}
    wanted_poses = {row["ego_pose_token"] for row in shots.values()}
    wanted_sensors = {row["calibrated_sensor_token"] for row in shots.values()}
    ego = {row["token"]: _pose(row) for row in iter_rows(tables / "ego_pose.json") if row["token"] in wanted_poses}
    sensor = {
        row["token"]: row for row in iter_rows(tables / "calibrated_sensor.json") if row["token"] in wanted_sensors
    }
    views: dict[int, list[_View]] = {}
    for token, row in shots.items():
        number = truth.samples.get(row["sample_token"])
        if number is not None:
            mount = sensor[row["calibrated_sensor_token"]]
            map_SE3_optical = ego[row["ego_pose_token"]] @ _pose(mount)
            intrinsic = np.array(mount["camera_intrinsic"], dtype=np.float64)
            lens = lens_of(mount, size_px=(row["width"], row["height"]))
            views.setdefault(number, []).append(_View(map_SE3_optical, intrinsic, lens, np.array(regions[token])))
    return views


def _pose(row: JsonDict) -> SE3:
    return SE3(np.array(row["rotation"], dtype=np.float64), np.array(row["translation"], dtype=np.float64))


def _is_inside(centre_m: FloatArray, view: _View) -> BoolArray:
    optical_m = view.map_SE3_optical.apply_inverse(centre_m)
    pixels = view.lens.project(optical_m) if view.lens else pinhole.project(optical_m, intrinsic=view.intrinsic)
    pixels = pixels[:, None]
    low, high = view.regions_px[None, :, :2], view.regions_px[None, :, 2:]
    inside = np.logical_and(pixels >= low, pixels < high)
    return np.asarray(np.any(np.all(inside, axis=-1), axis=1), dtype=np.bool_)
