"""numba as the simulator starts it, and what machine code may do to numbers."""

import importlib
import pkgutil
import subprocess
import sys

import headless_simulator
from numba.core.registry import CPUDispatcher

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
renderer.warm_up_sensors()
compose(np.zeros(6), np.zeros(6))
import headless_simulator.cli  # with all that a server of towns that are built runs
print("scipy.linalg" in sys.modules or "scipy.spatial" in sys.modules)
import scipy.linalg
print("inv" in dir(scipy.linalg))
"""


def test_a_server_runs_without_scipys_larger_parts_and_others_can_still_import_them() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, check=True, text=True)

    assert done.stdout.split() == ["False", "True"]


EXACT = {"nnan", "ninf", "nsz"}  # say what numbers are not; reassoc, contract, arcp and afn would give other ones


def test_no_kernel_may_give_other_numbers_with_other_vectors_or_callees_inlined() -> None:
    """A flight is the same bytes on every processor, and with machine code that was read or just compiled."""
    allowed = {}
    for module in pkgutil.walk_packages(headless_simulator.__path__, "headless_simulator."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, CPUDispatcher):
                    flags = value.targetoptions["fastmath"]
                    allowed[f"{module.name}.{name}"] = set(flags) if flags else set()
    assert len(allowed) > 60
    assert any(allowed.values())  # shading has some
    assert not {name: flags for name, flags in allowed.items() if flags - EXACT}
