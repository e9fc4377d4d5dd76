"""The strict dialect: nuScenes as the unmodified devkit reads it; ``dataset.strict`` makes its rows."""

from functools import partial

import numpy as np

from uavsim.dataset.dialects.base import Dialect, Frames

_same = partial(np.asarray, dtype=np.float64)
STRICT = Dialect(
    name="strict",
    detect=lambda _: True,
    frames=Frames(_same, _same, _same, _same, size_columns=(0, 1, 2)),
    checks=(
        "referential.lidar_top",
        "referential.attributes",
        "temporal.devkit_gap",
        "pixels.unlabelled",
        "pixels.tags",
    ),
)
