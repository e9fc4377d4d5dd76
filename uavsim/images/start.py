"""The start of a process that runs kernels, and does nothing else with matrices."""

import importlib
import sys
from types import ModuleType
from typing import cast


def do_without_blas() -> None:
    """Keep numba from importing ``scipy.linalg``, a quarter of a second, for products of matrices that no kernel has.

    For a process that does not import scipy itself; called before its first kernel. One with ``@`` in it does not compile
    afterwards.
    """
    absent = sys.modules.setdefault("scipy.linalg", cast("ModuleType", None)) is None
    try:
        importlib.import_module("numba.np.arraymath")  # asks for it once, and goes on without
    finally:
        if absent:
            del sys.modules["scipy.linalg"]
