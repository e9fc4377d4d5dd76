"""Detections scene by scene, though a result file reports samples in any order."""

from collections.abc import Callable, Iterator

import numpy as np

from uavsim.typing import BoolArray, IntArray
from uavsim_benchmarks.evaluate.boxes import Boxes
from uavsim_benchmarks.evaluate.readers.nuscenes_results import ResultReader
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth


def found_by_scene(
    reader: ResultReader, truth: Truth, *, keep: Callable[[Boxes], Boxes], scored: Callable[[], BoolArray]
) -> Iterator[tuple[int, Boxes]]:
    """Yield each scored scene once, with all boxes that the file has for it.

    A scene is yielded when the file has given its last sample, so that a file in the order of the scenes needs memory for one
    of them; what a file leaves out follows at the end.

    Args:
        reader: the file.
        truth: the scene of each sample.
        keep: is given each block, returns the boxes that count.
        scored: is asked at the end which samples are scored; it may refuse the file.

    Raises:
        InputError: the file is refused.
    """
    samples = np.bincount(truth.scene, minlength=len(truth.scenes))
    waiting: dict[int, list[Boxes]] = {}
    yielded = np.zeros(len(truth.scenes), bool)
    for block in reader.blocks():
        kept = keep(block)
        scene = truth.scene[kept.sample]
        for number in np.unique(scene).tolist():
            waiting.setdefault(number, []).append(kept.take(scene == number))
        reported = np.bincount(truth.scene[sorted(reader.seen)], minlength=len(samples))
        for number in np.flatnonzero(~yielded & (reported == samples) & (samples > 0)).tolist():
            yielded[number] = True
            yield number, Boxes.concat(waiting.pop(number, []))
    for number in np.setdiff1d(truth.scene[scored()], np.flatnonzero(yielded)).tolist():
        yield number, Boxes.concat(waiting.pop(number, []))


def rows_by_scene(boxes: Boxes, scene: IntArray) -> Callable[[int], IntArray]:
    """Return a function from a scene's number to its rows of ``boxes``, ascending; ``scene`` is that of each sample."""
    of_row = scene[boxes.sample]
    order = np.argsort(of_row, kind="stable")
    begins = np.searchsorted(of_row[order], np.arange(int(scene.max(initial=0)) + 2))
    return lambda number: order[begins[number] : begins[number + 1]]
