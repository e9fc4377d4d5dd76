"""What hypothesis draws for geometry."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from uavsim.geometry.se3 import SE3

metres = st.floats(-2000, 2000, allow_nan=False, width=64)
vectors_m = npst.arrays(np.float64, (3,), elements=metres)
many_vectors_m = npst.arrays(np.float64, (7, 3), elements=metres)
quaternions = npst.arrays(np.float64, (4,), elements=st.floats(-1, 1)).filter(lambda q: np.linalg.norm(q) > 1e-3)
eulers_deg = npst.arrays(np.float64, (3,), elements=st.floats(-360, 360))
transforms = st.builds(SE3.from_quat_wxyz, quaternions, vectors_m)
