"""Group detections by scene, for result files with samples in any order."""

from collections.abc import Callable, Iterator

import numpy as np

from uavsim.typing import BoolArray, IntArray
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth


def found_by_scene(
    reader: ResultReader, truth: Truth, *, keep: Callable[[Boxes], Boxes], scored: Callable[[], BoolArray]
) -> Iterator[tuple[int, Boxes]]:
    """Yield each scored scene once, with all of its boxes in the file.

    A scene is complete after its last sample in the file; incomplete scenes follow at the end. A file in the order of the
    scenes therefore needs memory for one scene.

    Args:
        reader: the file.
        truth: the scene of each sample.
        keep: filter of each block.
        scored: returns the (samples,) mask of scored samples at the end of the file; may raise ``InputError``.

    Raises:
        InputError: the file is refused.
    """
    samples = np.bincount(truth.scene, minlength=len(truth.scenes))
    waiting: dict[int, list[Boxes]] = {}
    yielded = np.zeros(len(truth.scenes), bool)
    for block in reader.blocks():
        filtered = keep(block)
        scene = truth.scene[filtered.sample]
        for number in np.unique(scene).tolist():
            waiting.setdefault(number, []).append(filtered.take(scene == number))
        counts_read = np.bincount(truth.scene[sorted(reader.samples)], minlength=len(samples))
        for number in np.flatnonzero(~yielded & (counts_read == samples) & (samples > 0)).tolist():
            yielded[number] = True
            yield number, Boxes.concat(waiting.pop(number, []))
    for number in np.setdiff1d(truth.scene[scored()], np.flatnonzero(yielded)).tolist():
        yield number, Boxes.concat(waiting.pop(number, []))


def rows_by_scene(boxes: Boxes, scene: IntArray) -> Callable[[int], IntArray]:
    """Return a function that maps a scene number to its ascending rows of ``boxes``; ``scene`` is (samples,)."""
    of_row = scene[boxes.sample]
    order = np.argsort(of_row, kind="stable")
    begins = np.searchsorted(of_row[order], np.arange(int(scene.max(initial=0)) + 2))
    return lambda number: order[begins[number] : begins[number + 1]]
