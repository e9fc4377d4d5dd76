"""Compile for processor levels, into both packages' folders, what their wheels bring along.

What the simulator compiles ahead, and what a short flight compiles, as an account keeps it, with numba's target set to each
level. Of other sources, or another Python, numba, llvmlite or numpy, nobody looks for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import Final

from headless_simulator import kernel_cache as of_simulator
from headless_simulator.compile_ahead import mark_shipped

from tools.common import ROOT
from uavsim import kernel_cache as ours

__all__ = ["compile_for"]

FLIGHT: Final = ("generate", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2")


def main() -> None:
    """Compile for each level, and print where it lies and how large it is."""
    for level in ours.LEVELS:
        with tempfile.TemporaryDirectory() as work:
            for folder in compile_for(level, Path(work)):
                size = sum(file.stat().st_size for file in folder.rglob("*.nb?"))
                print(f"{folder.relative_to(ROOT)} {size / 1e6:.1f} MB")


def compile_for(level: str, work: Path) -> tuple[Path, Path]:
    """Return the folders of uavsim and of the simulator with machine code for a level, made anew."""
    caches = work / "caches"
    variables = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    variables |= {"XDG_CACHE_HOME": str(caches), "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ours.LEVELS[level]}
    flight = ("uavsim", *FLIGHT, "--rig", "uav3d_depth", "--out", str(work / "out"))
    for words in (("headless_simulator", "--compile-only"), flight):
        subprocess.run([sys.executable, "-m", *words], env=variables, stdout=subprocess.DEVNULL, check=True)
    (made,) = (caches / "uavsim" / "machine-code").iterdir()
    our_sources = {blake2b(file.read_bytes(), digest_size=16).hexdigest() for file in (ROOT / "uavsim").rglob("*.py")}
    for_us, for_simulator = ours.shipped_folder(level), of_simulator.shipped_folder(level)
    for folder in (for_us, for_simulator):
        shutil.rmtree(folder, ignore_errors=True)
    for kept in made.iterdir():
        folder = for_us if kept.name in our_sources else for_simulator
        shutil.copytree(kept, folder / kept.name, ignore=shutil.ignore_patterns("compiled*"))
    mark_shipped(for_simulator)
    return for_us, for_simulator


if __name__ == "__main__":
    main()
