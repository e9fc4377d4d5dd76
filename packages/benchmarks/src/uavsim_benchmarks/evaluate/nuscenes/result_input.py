"""Input of metrics on a nuScenes-format dataset: version, ground truth, results and scored samples."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import BoolArray
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.frame_check import FrameCheck
from uavsim_benchmarks.evaluate.nuscenes.detection import CLASSES, DetectionConfig
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.ranges import range_on_ground
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth, read_truth
from uavsim_benchmarks.evaluate.readers.opv2v import read_opv2v_truth

WIDE_RANGE_M: Final = 102.4
"""UAV3D's range: the devkit's 30 to 50 m exclude most objects that a drone at 60 m sees."""


class DetectionInput:
    """Ground truth and detections within one range.

    Raises:
        InputError: the results are refused; also raised by ``blocks``.
        DatasetError: the dataset is damaged.
    """

    def __init__(self, request: EvaluationRequest) -> None:
        if not request.results.is_file():
            raise InputError(f"{request.results}: no such file")
        self.request, self.limit_m = request, request.number("range", WIDE_RANGE_M)
        self.truth = _truth(request)
        self.true_boxes = self.in_range(self.truth.boxes.take(self.truth.boxes.counted))
        self.reader = ResultReader(
            request.results,
            self.truth.samples,
            self.truth.known,
            CLASSES,
            max_boxes=request.count("max_boxes", DetectionConfig().max_boxes_per_sample),
        )

    def in_range(self, boxes: Boxes) -> Boxes:
        """Return the boxes within range."""
        return boxes.take(range_on_ground(boxes, self.truth.ego_m) < self.limit_m)

    def blocks(self) -> Iterator[Boxes]:
        """Yield detections in range, whole samples at a time."""
        check = FrameCheck(self.true_boxes, self.truth)
        for block in self.reader.blocks():
            check.add(block)
            yield self.in_range(block)
        check.raise_if_wrong(self.request.results)

    def scored(self) -> BoolArray:
        """Return (samples,) bool: the sample is scored; call it after ``blocks`` is exhausted."""
        return scored_samples(self.request, self.truth, self.reader)


def _truth(request: EvaluationRequest) -> Truth:
    if request.version is None and not any(request.truth.glob("*/sample_annotation.json")):
        return read_opv2v_truth(request.truth)
    return read_truth(request.truth, only_version(request), labels=CLASSES, split=request.split)


def only_version(request: EvaluationRequest) -> str:
    """Return the requested version folder, or the only one.

    Raises:
        InputError: the version does not exist, or none is requested and there is not exactly one.
    """
    folder = request.truth
    versions = sorted(path.parent.name for path in folder.glob("*/sample_annotation.json"))
    if request.version is not None:
        if request.version not in versions:
            raise InputError(f"{folder}: no version {request.version!r}; it holds {', '.join(versions) or 'none'}")
        return request.version
    if len(versions) != 1:
        hint = f"select --version {' or '.join(versions)}" if versions else "no dataset (no sample_annotation.json)"
        raise InputError(f"{folder}: {hint}")
    return versions[0]


def scored_samples(request: EvaluationRequest, truth: Truth, reader: ResultReader) -> BoolArray:
    """Return (samples,) bool: the sample is in the split, or without a split in a scene of the results.

    Raises:
        InputError: in official mode, the results lack one of these samples.
    """
    scored = np.ones(len(truth.samples), bool)
    if request.split is None:
        scored = np.isin(truth.scene, np.unique(truth.scene[sorted(reader.samples)]))
    if request.mode == "official":
        reader.require(np.flatnonzero(scored))
    return scored
