"""numba as the client worker starts it."""

import subprocess
import sys

AS_THE_CLIENT_STARTS = """
import sys
import numpy as np
from uavsim.images.start import do_without_blas
do_without_blas()
from uavsim.images import codec, mask_pixels
mask = np.zeros((8, 8, 4), np.uint8)
codec.encode_png(mask[..., :3])
mask_pixels.split(mask, np.ones(256, np.bool_))
print("scipy.linalg" in sys.modules)
import scipy.linalg
print("inv" in dir(scipy.linalg))
"""


def test_kernels_run_without_scipys_linear_algebra_and_others_can_still_import_it() -> None:
    done = subprocess.run([sys.executable, "-c", AS_THE_CLIENT_STARTS], capture_output=True, check=False, text=True)

    assert done.stdout.split() == ["False", "True"], done.stderr
