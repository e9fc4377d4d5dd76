"""Run tests of arithmetic with the instruction sets of other processors.

    scripts/trial processors [--only PATTERN] [--tests PATH ...]

NumPy's dispatch, OpenBLAS's kernels and numba's machine code are chosen by environment variables, one setting at a time. Each
line has a setting, the outcome of its tests and their duration; settings that this processor cannot run are listed.
Ends with 0 only if all tests passed in every setting. numba recompiles for each of its settings, which takes minutes.
"""

import argparse
import fnmatch
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.common import ROOT

_SIMULATOR: Final = ROOT / "packages/headless_simulator"
NUMPY: Final = (
    *(f"tests/{folder}" for folder in ("geometry", "plan", "records", "maps", "annotate", "images", "occupancy")),
    *(f"tests/{folder}" for folder in ("capture", "dataset", "ingredients", "test_docs_drawings.py")),
    *(f"packages/benchmarks/tests/{folder}" for folder in ("evaluate", "labels")),
    "packages/headless_simulator/tests/towns",
)
"""Tests of arithmetic in NumPy, SciPy or OpenBLAS."""
NUMBA: Final = (
    *(f"tests/{name}" for name in ("annotate", "images", "occupancy", "validate/test_image_kernels.py")),
    *(f"packages/headless_simulator/tests/{folder}" for folder in ("airsim", "models", "render", "world")),
)
"""Tests of arithmetic in numba kernels."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An emulated processor.

    Attributes:
        name: name of the setting.
        variables: environment variables of the setting.
        needs: required flags of /proc/cpuinfo.
        numba: it concerns numba kernels.
    """

    name: str
    variables: dict[str, str]
    needs: frozenset[str] = frozenset()
    numba: bool = False


_V3: Final = frozenset({"avx2", "fma", "bmi2"})
_V4: Final = frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl"})
SETTINGS: Final = (
    Setting("numpy without AVX-512", {"NPY_DISABLE_CPU_FEATURES": "X86_V4"}, _V4),
    Setting("numpy without AVX2 and FMA", {"NPY_DISABLE_CPU_FEATURES": "X86_V3"}, _V3),
    Setting("openblas Prescott", {"OPENBLAS_CORETYPE": "Prescott"}),
    Setting("openblas Haswell", {"OPENBLAS_CORETYPE": "Haswell"}, _V3),
    Setting("openblas Zen", {"OPENBLAS_CORETYPE": "Zen"}, _V3),
    Setting("openblas SkylakeX", {"OPENBLAS_CORETYPE": "SkylakeX"}, _V4),
    Setting("numba x86-64-v2", {"NUMBA_CPU_NAME": "x86-64-v2", "NUMBA_CPU_FEATURES": ""}, numba=True),
    Setting("numba x86-64-v3", {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}, _V3, numba=True),
    Setting("numba x86-64-v4", {"NUMBA_CPU_NAME": "x86-64-v4", "NUMBA_CPU_FEATURES": ""}, _V4, numba=True),
    Setting("numba without FMA", {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "-fma"}, _V3, numba=True),
)


def flags() -> frozenset[str]:
    """Return this processor's flags."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return frozenset(next((line.partition(":")[2].split() for line in lines if line.startswith("flags")), ()))


def passes(setting: Setting, paths: list[str], cache: Path) -> bool:
    """Run tests in a setting and print the outcome."""
    environment = os.environ | setting.variables | ({"NUMBA_CACHE_DIR": str(cache)} if setting.numba else {})
    main_paths = [path for path in paths if not path.startswith("packages/headless_simulator/")]
    simulator_paths = [path.removeprefix("packages/headless_simulator/") for path in paths if path not in main_paths]
    good = True
    for folder, chosen in ((ROOT, main_paths), (_SIMULATOR, simulator_paths)):
        if not chosen:
            continue
        began = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=1200", *chosen]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        good &= done.returncode == 0
        lines = done.stdout.splitlines()
        failed = [f"\n    {line}" for line in lines if line.startswith(("FAILED", "ERROR"))]
        summary = lines[-1] if lines else done.stderr.strip()[-200:] or f"exit code {done.returncode}"
        print(
            f"{setting.name}: {folder.name}: {summary}, {time.monotonic() - began:.0f} s{''.join(failed)}", flush=True
        )
    return good


def main() -> int:
    """Run the settings; 0 when all tests passed in each that this processor can run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", help="run only settings whose names match this pattern")
    parser.add_argument("--tests", nargs="+", help="run only these tests")
    options = parser.parse_args()
    here, failed = flags(), 0
    for setting in SETTINGS:
        if not fnmatch.fnmatch(setting.name, options.only):
            continue
        if missing := setting.needs - here:
            print(f"{setting.name}: not run, this processor has no {', '.join(sorted(missing))}", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="uavsim-processors-") as cache:
            failed += not passes(setting, options.tests or list(NUMBA if setting.numba else NUMPY), Path(cache))
    print(f"{failed} settings failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
