"""Hypothesis strategies for geometry."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3

metres = st.floats(-2000, 2000, allow_nan=False, width=64)
vectors_m = npst.arrays(np.float64, (3,), elements=metres)
many_vectors_m = npst.arrays(np.float64, (7, 3), elements=metres)
quaternions = npst.arrays(np.float64, (4,), elements=st.floats(-1, 1)).filter(lambda q: np.linalg.norm(q) > 1e-3)
eulers_deg = npst.arrays(np.float64, (3,), elements=st.floats(-360, 360))
transforms = st.builds(SE3.from_quat_wxyz, quaternions, vectors_m)


@st.composite
def batches(draw: st.DrawFn, shape: tuple[int, ...]) -> SE3:
    """Draw transforms of a batch shape with arbitrary rotations."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    scale_m = draw(st.sampled_from([0.01, 1.0, 2000.0]))
    turns = quaternion.normalise(rng.normal(size=(*shape, 4))) if np.prod(shape) else np.zeros((*shape, 4))
    return SE3(turns, rng.uniform(-scale_m, scale_m, (*shape, 3)))
