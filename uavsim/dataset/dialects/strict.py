"""The strict dialect: nuScenes as the unmodified devkit reads it; ``dataset.strict`` makes its rows."""

import numpy as np

from uavsim.dataset.dialects.base import Dialect, Frames
from uavsim.dataset.reader import DatasetReader
from uavsim.typing import FloatArray


def _is_what_no_other_claims(reader: DatasetReader) -> bool:
    del reader
    return True


def _same(values: FloatArray) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


STRICT = Dialect(
    name="strict",
    detect=_is_what_no_other_claims,
    frames=Frames(_same, _same, _same, _same, size_columns=(0, 1, 2)),
    checks=(
        "referential.lidar_top",
        "referential.attributes",
        "temporal.devkit_gap",
        "pixels.unlabelled",
        "pixels.tags",
    ),
)
