"""Input of metrics on a nuScenes-format dataset: version, ground truth, results and scored samples."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import BoolArray, FloatArray
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.frame_check import FrameCheck
from uavsim_benchmarks.evaluate.ignored import regions_of
from uavsim_benchmarks.evaluate.nuscenes.detection import CLASSES
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest
from uavsim_benchmarks.evaluate.ranges import keep_evaluated, range_on_ground
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth, read_truth
from uavsim_benchmarks.evaluate.readers.opv2v import read_opv2v_truth

WIDE_RANGE_M: Final = 102.4
"""UAV3D's range: the devkit's 30 to 50 m exclude most objects that a drone at 60 m sees."""
_MAX_BOXES: Final = 500
_CYCLES: Final = ("bicycle", "motorcycle")


def ranges_m(request: EvaluationRequest, official: dict[str, float]) -> dict[str, float]:
    """Return the range of each class: of the option, or the devkit's, which ``corrected`` widens."""
    if "range" in request.options:
        return dict.fromkeys(official, request.number("range", WIDE_RANGE_M))
    return dict.fromkeys(official, WIDE_RANGE_M) if request.mode == "corrected" else official


def open_truth(request: EvaluationRequest, labels: tuple[str, ...]) -> Truth:
    """Read the ground truth of a split.

    Raises:
        InputError: the split has no samples.
        DatasetError: the dataset is damaged.
    """
    version = only_version(request)
    truth = read_truth(request.truth, version, labels=labels, split=request.split)
    if not truth.samples:
        raise InputError(f"{request.truth / version}: the split has no samples")
    return truth


def reader_of(
    request: EvaluationRequest, truth: Truth, labels: tuple[str, ...], *, task: str = "detection", regions: bool | None
) -> ResultReader:
    """Return the reader of the result file, with at most ``max_boxes`` boxes in a sample.

    Args:
        request: names the file; its options are ``max_boxes`` and ``ignore_regions``.
        truth: the samples.
        labels: the benchmark's classes in order.
        task: ``detection`` or ``tracking``.
        regions: whether to leave out boxes in regions to ignore, without the option; None without any regions.

    Raises:
        InputError: an option is invalid, or there is no such file.
    """
    if not request.results.is_file():
        raise InputError(f"{request.results}: no such file")
    without = None if regions is None else regions_of(request, only_version(request), truth, by_default=regions)
    max_boxes = request.count("max_boxes", _MAX_BOXES)
    return ResultReader(
        request.results, truth.samples, truth.known, labels, task=task, max_boxes=max_boxes, without=without
    )


def evaluated(boxes: Boxes, truth: Truth, limits: FloatArray, labels: tuple[str, ...]) -> Boxes:
    """Return the evaluated boxes: within (classes,) ranges of the ego, metres, without two-wheelers in a rack."""
    cycles = np.array([labels.index(name) for name in _CYCLES], dtype=np.int64)
    return keep_evaluated(boxes, truth.ego_m, limits, racks=truth.racks, two_wheelers=cycles)


def blocks_with_truth(
    request: EvaluationRequest, truth: Truth, reader: ResultReader, true_boxes: Boxes, keep: Callable[[Boxes], Boxes]
) -> Iterator[tuple[Boxes, Boxes]]:
    """Yield true boxes and kept detections, whole samples at a time; last, the true boxes of the other scored samples.

    Raises:
        InputError: the results are refused.
    """
    check, counted = FrameCheck(true_boxes, truth), np.zeros(len(truth.samples), bool)
    for block in reader.blocks():
        check.add(block)
        samples = np.unique(block.sample)
        counted[samples] = True
        yield true_boxes.take(true_boxes.rows_of(samples)), keep(block)
    check.raise_if_wrong(request.results)
    rest = scored_samples(request, truth, reader) & ~counted
    yield true_boxes.take(rest[true_boxes.sample]), Boxes.none()


class DetectionInput:
    """Ground truth and detections within one range.

    Raises:
        InputError: the results are refused; also raised by ``blocks``.
        DatasetError: the dataset is damaged.
    """

    def __init__(self, request: EvaluationRequest) -> None:
        self.request, self.limit_m = request, request.number("range", WIDE_RANGE_M)
        self.truth = _truth(request)
        self.true_boxes = self.in_range(self.truth.boxes.take(self.truth.boxes.counted))
        self.reader = reader_of(request, self.truth, CLASSES, regions=None)

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
