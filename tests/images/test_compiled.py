import importlib
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import uavsim

PACKAGE = Path(uavsim.__file__).parent
MODULES = sorted(
    ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    for file in PACKAGE.rglob("*.py")
    if file.name not in {"compiled.py", "kernel_cache.py"}
    and ("images.compiled import kernel" in file.read_text() or "import numba" in file.read_text())
)


@pytest.mark.parametrize("module", MODULES)
def test_kernels_call_those_of_their_own_file_only(module: str) -> None:
    """Numba keeps machine code until its file changes: a callee elsewhere could change unnoticed."""
    found = [value for value in vars(importlib.import_module(module)).values() if isinstance(value, Dispatcher)]

    assert found
    assert {value.py_func.__module__ for value in found} == {module}
