"""Compile what the client process runs on images, in a process of its own.

numba's compiler keeps some 150 MB of the process that it worked in, and in a run's first flight on a machine that would be the
client, which has the images of two captures in memory besides. What was compiled lies on disk, where the client finds it.

``python -m uavsim.annotate.compile_ahead [MODULE ...]`` compiles, and then what each module's ``compile_now`` does; a client
that finds nothing starts it (``CompileAhead``). What it leaves out, or cannot keep, is compiled where it is called.
"""

from __future__ import annotations

import contextlib
import importlib
import subprocess
import sys
import time
from types import TracebackType
from typing import Final

import numpy as np

from uavsim.annotate.solids import Camera, Images, Solids
from uavsim.environment import python_command
from uavsim.geometry.se3 import SE3
from uavsim.images.start import do_without_blas
from uavsim.simulate.ports import Heartbeat

_PHASE: Final = "compile"
_VALIDATORS: Final = "uavsim.validate.image_kernels"  # else each of its processes would compile them
_LONGEST_S: Final = 300.0  # then the client compiles it itself
_REPORT_EVERY_S: Final = 0.5
_SIDE_PX: Final = 16


class CompileAhead:
    """Compiles while the client connects, where nothing is on disk; ends what still runs at the end of its context."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> CompileAhead:
        if not _is_kept():
            with contextlib.suppress(OSError):  # no process to be had: it is compiled where it is called
                self._process = subprocess.Popen(
                    python_command("uavsim.annotate.compile_ahead", _VALIDATORS),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def wait(self, heartbeat: Heartbeat) -> None:
        """Wait until it is compiled, and say meanwhile that something moves."""
        end, reported = time.monotonic() + _LONGEST_S, 0
        while self._process is not None and time.monotonic() < end:
            heartbeat(_PHASE, reported)
            reported += 1
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_REPORT_EVERY_S)
                self._process = None


def compile_now() -> None:
    """Run each kernel that a client runs, on arrays of the types that it has."""
    from uavsim.annotate.visibility import see
    from uavsim.images import mask_pixels

    sent = np.zeros((_SIDE_PX, _SIDE_PX, 4), np.uint8)
    sent.flags.writeable = False  # as libcarla's images are
    runs, tags = mask_pixels.split(sent, np.ones(256, np.bool_))
    mask_pixels.moments(runs)
    ids = mask_pixels.filled(runs, tags.shape)
    map_SE3_optical = SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
    map_SE3_box = SE3(np.array([[1.0, 0.0, 0.0, 0.0]]), np.array([[1.0, 0.0, 2.0]]))  # partly beside the image
    intrinsic = np.array([[_SIDE_PX, 0.0, _SIDE_PX / 2], [0.0, _SIDE_PX, _SIDE_PX / 2], [0.0, 0.0, 1.0]])
    see(
        Solids.of(map_SE3_box, np.ones((1, 3))),
        np.array([1], dtype=np.int64),
        Camera(map_SE3_optical, intrinsic, _SIDE_PX, _SIDE_PX),
        Images(ids, tags, None, runs),
    )
    mask_pixels.encode(ids, tags)


def _is_kept() -> bool:
    """Return whether what is compiled first and last is on disk."""
    from uavsim.annotate import kernels
    from uavsim.images import mask_pixels
    from uavsim.images.compiled import is_kept

    some = (mask_pixels._split, kernels.share_outside, mask_pixels._ids_to_rows)
    return all(is_kept(kernel) for kernel in some)


if __name__ == "__main__":
    do_without_blas()
    from uavsim.lean_numba import compile_lean  # numba takes half a second to import: a client only asks what is kept

    compile_lean()
    compile_now()
    for module in sys.argv[1:]:
        importlib.import_module(module).compile_now()
