"""Input of nuScenes detection and tracking: ground truth, result file and the filter of boxes."""

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import FloatArray
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.ignored import regions_of
from uavsim_benchmarks.evaluate.nuscenes.result_input import WIDE_RANGE_M, only_version
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.ranges import keep_evaluated
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth, read_truth

_CYCLES = ("bicycle", "motorcycle")


def ranges_m(request: EvaluationRequest, official: dict[str, float]) -> dict[str, float]:
    """Return the range of each class: of the option, or the devkit's, which ``corrected`` widens."""
    if "range" in request.options:
        return dict.fromkeys(official, request.number("range", WIDE_RANGE_M))
    return dict.fromkeys(official, WIDE_RANGE_M) if request.mode == "corrected" else official


def open_result(
    request: EvaluationRequest, labels: tuple[str, ...], task: str, max_boxes: int
) -> tuple[Truth, ResultReader]:
    """Read the truth and open the result file.

    Raises:
        InputError: the results are not there, or the split has no samples.
        DatasetError: the dataset is damaged.
    """
    version = only_version(request)
    if not request.results.is_file():
        raise InputError(f"{request.results}: no such file")
    truth = read_truth(request.truth, version, labels=labels, split=request.split)
    if not truth.samples:
        raise InputError(f"{request.truth / version}: the split has no samples")
    regions = regions_of(request, version, truth, by_default=request.mode == "corrected")
    return truth, ResultReader(
        request.results, truth.samples, truth.known, labels, task=task, max_boxes=max_boxes, without=regions
    )


def evaluated(boxes: Boxes, truth: Truth, limits: FloatArray, labels: tuple[str, ...]) -> Boxes:
    """Return the evaluated boxes: within (classes,) ranges of the ego, metres, without two-wheelers in a rack."""
    cycles = np.array([labels.index(name) for name in _CYCLES], dtype=np.int64)
    return keep_evaluated(boxes, truth.ego_m, limits, racks=truth.racks, two_wheelers=cycles)
