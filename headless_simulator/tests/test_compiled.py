"""numba as the simulator starts it."""

import subprocess
import sys

START = """
import sys
from headless_simulator.compiled import do_without_blas
do_without_blas()
from headless_simulator.models import ModelLibrary
from headless_simulator.compile_groups import one_triangle
from headless_simulator.render import Renderer
from headless_simulator.world.pose import compose
import numpy as np
renderer = Renderer(one_triangle(), ModelLibrary())
renderer.warm_up_images()
renderer.warm_up_rays()
compose(np.zeros(6), np.zeros(6))
print("scipy.linalg" in sys.modules)
import scipy.linalg
print("inv" in dir(scipy.linalg))
"""


def test_kernels_run_without_scipys_linear_algebra_and_others_can_still_import_it() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, check=True, text=True)

    assert done.stdout.split() == ["False", "True"]
