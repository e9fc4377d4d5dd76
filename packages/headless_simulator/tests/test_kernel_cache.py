"""Machine code of another source is never run."""

import shutil
import subprocess
import sys
from pathlib import Path

import headless_simulator
from headless_simulator.kernel_cache import sources_stamp

PACKAGE = Path(headless_simulator.__file__).parent

CALLEE = """
from headless_simulator.compiled import kernel

@kernel()
def half(x: float) -> float:
    return x / 2
"""
AGAIN = "from headless_simulator.callee import half as half\n"
CALLER = """
from headless_simulator.again import (
    half,
)
from headless_simulator.compiled import kernel

@kernel()
def use(x: float) -> float:
    return half(x) + 1
"""


def run(home: Path) -> tuple[float, int]:
    """Return what the kernel gives, and how often its machine code was found."""
    command = "from headless_simulator.caller import use; print(use(8.0), sum(use.stats.cache_hits.values()))"
    done = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True, cwd=home)
    given, found = done.stdout.split()
    return float(given), int(found)


def test_a_change_in_what_a_kernel_calls_is_a_change_of_the_kernel(tmp_path: Path) -> None:
    package = tmp_path / "headless_simulator"
    package.mkdir()
    for name in ("__init__.py", "compiled.py", "kernel_cache.py"):
        shutil.copy(PACKAGE / name, package)
    for name, text in (("callee.py", CALLEE), ("again.py", AGAIN), ("caller.py", CALLER)):
        (package / name).write_text(text)
    assert run(tmp_path) == (5.0, 0)
    assert run(tmp_path) == (5.0, 1)

    (package / "callee.py").write_text(CALLEE.replace("x / 2", "x / 4"))

    assert run(tmp_path) == (3.0, 0)


def test_a_stamp_knows_what_a_kernel_is_made_of_and_not_more() -> None:
    contact = PACKAGE / "airsim/contact.py"

    assert sources_stamp(contact) == sources_stamp(contact)
    assert sources_stamp(contact) != sources_stamp(PACKAGE / "world/contact.py")
