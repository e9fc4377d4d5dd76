"""A dataset's bytes under several settings of the processor's features: one short flight each, compared.

A setting takes features away from one library: NumPy's and OpenBLAS's kernels, numba's target, glibc's mathematics. It is
uavsim's, the simulator keeping all of them, or the simulator's alone. ISA-L asks the processor itself: its streams are
written again under ``qemu-x86_64`` where that is on PATH.
"""

import importlib
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from unittest.mock import patch

from tools.bench.cost import watched
from tools.bench.rows import Row, in_own_process, simulator
from tools.common.leftovers import contents, differing
from tools.common.small_dataset import one_scene

__all__ = ["by_folder", "numpy_features", "rows", "settings"]

SAMPLES: Final = 2
EMULATED: Final = ("Nehalem", "Haswell")  # SSE4.2 alone; AVX2
_GLIBC: Final = ",".join(f"-{name}" for name in ("AVX2", "AVX512F", "AVX512VL", "FMA", "FMA4"))


def numpy_features() -> list[str]:
    """Return the features that NumPy has kernels for and finds here, beyond its baseline."""
    core = importlib.import_module("numpy._core._multiarray_umath")  # where NumPy reports them
    return [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]


def settings(work: Path) -> dict[str, dict[str, str]]:
    """Return the variables of every setting; machine code for another target is kept in ``work``."""
    return {
        "control": {},
        "numpy": {"NPY_DISABLE_CPU_FEATURES": " ".join(numpy_features())},
        "openblas": {"OPENBLAS_CORETYPE": "Nehalem"},
        "glibc": {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={_GLIBC}"},
        "numba": {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(work / "machine_code")},
    }


def rows() -> Iterator[Row]:
    """Fly under each setting and count the files that are others."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        base = _flown(work / "base", {}, {})
        of = f"of {len(base)} files (images, masks, tables) of a scene of the smoke dataset, {SAMPLES} samples, 25 pairs each"
        for name, variables in settings(work).items():
            what = (
                " ".join(f"{key}={value}" for key, value in variables.items() if key != "NUMBA_CACHE_DIR")
                or "flown twice"
            )
            for where, ours, simulators in (("", variables, {}), ("_simulator", {}, variables)):
                if variables or not where:
                    files = differing(base, _flown(work / f"{name}{where}", ours, simulators))
                    whose = "the simulator with" if where else "uavsim with"
                    yield Row(
                        f"bytes_differ_{name}{where}", len(files), "files", f"{of}: {whose} {what}{by_folder(files)}"
                    )
        yield from _streams(work)


def by_folder(files: list[str]) -> str:
    """Say how many files of each folder there are, and name the first."""
    if not files:
        return ""
    counts = Counter(file.partition("/")[0] for file in files)
    return f"; {', '.join(f'{folder} {count}' for folder, count in sorted(counts.items()))}, first {files[0]}"


def _flown(work: Path, ours: Mapping[str, str], simulators: Mapping[str, str]) -> dict[str, str]:
    work.mkdir()
    with simulator("--town", "Town10HD", "--no-airsim", variables=simulators) as running, patch.dict(os.environ, ours):
        words = ("--no-check", "--simulator", f"127.0.0.1:{running.port}", "--out", f"{work}/out")
        watched(("generate", *one_scene(SAMPLES), *words), work / "log")
    return contents(work / "out")


def _streams(work: Path) -> Iterator[Row]:
    """Encode the flight's images again without what ISA-L and OpenCV's JPEG find in the processor."""
    out = str(work / "base" / "out")
    base = in_own_process("same_streams", out)
    how = f"of {len(base)} streams (PNG of an image, of a mask, JPEG) of the images of one capture"
    plain = {"JSIMD_FORCENONE": "1", "OPENCV_CPU_DISABLE": "AVX512-SKX,AVX2,FMA3"}
    yield _stream_row("jpeg", base, in_own_process("same_streams", out, variables=plain), f"{how}: {plain}")
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        sys.stderr.write("bytes: no qemu-x86_64 on PATH; streams of other processors are left out\n")
        return
    for model in EMULATED:
        python = (emulator, "-cpu", model, sys.executable)
        reported = in_own_process("same_streams", out, python=python)
        yield _stream_row(model.lower(), base, reported, f"{how}: under {Path(emulator).name} -cpu {model}")


def _stream_row(name: str, base: Mapping[str, str], reported: Mapping[str, str], how: str) -> Row:
    return Row(f"bytes_streams_differ_{name}", len(differing(dict(base), dict(reported))), "streams", how)
