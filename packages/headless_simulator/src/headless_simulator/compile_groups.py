"""Kernels that are compiled ahead: groups, each compiled by a process of its own, on a scene of one triangle.

    python -m headless_simulator.compile_groups NICENESS GROUP ...

writes to standard output the number of a group, a byte, for each function of it that is compiled, and that and ``DONE`` when
the group is; whoever started it counts them. numba keeps the machine code on disk, so that the simulator finds it there.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numba.core import event
from numba.core.registry import cpu_target

from headless_simulator.airsim import pixels, quad, simple_flight
from headless_simulator.airsim.contact import advance, ground_height
from headless_simulator.carla import control_batch, snapshot
from headless_simulator.compiled import do_without_blas
from headless_simulator.lean_numba import compile_lean
from headless_simulator.models import ModelLibrary
from headless_simulator.render import Renderer
from headless_simulator.scene import Ground, Mesh, SignalHead, Town
from headless_simulator.world.world import World

__all__ = ["DONE", "GROUPS", "compile_groups", "one_triangle"]

DONE: Final = 128
_PR_SET_PDEATHSIG: Final = 1


def _images() -> None:
    Renderer(one_triangle(), ModelLibrary()).warm_up_images()


def _traffic() -> None:
    mesh, models = one_triangle(), ModelLibrary()
    light = SignalHead((0.0,) * 6, "1", 0, 0, np.zeros((1, 6)), (0.0,) * 7, np.zeros(0, np.int32))
    town = Town(
        "One", "<OpenDRIVE/>", np.zeros((0, 6)), mesh, Ground((0.0, 0.0), 10.0, np.zeros((2, 2), np.float32)), (light,),
        (), (), (), np.zeros((1, 3)),
    )  # fmt: skip
    World(town, models=models, renderer_of=lambda _: Renderer(mesh, models))
    control_batch.compile_all()
    snapshot.compile_all()


def _sensors() -> None:
    Renderer(one_triangle(), ModelLibrary()).warm_up_sensors()


def _flight() -> None:
    mode, goal = simple_flight.idle_goal(0)
    grid, place = np.zeros((2, 2)), np.array([0.0, 0.0, 10.0])
    advance(
        quad.fresh_state(0), mode, goal, np.zeros((0, 4, 3, 4)), np.zeros((0, 3)), np.zeros((0, 8)),
        np.zeros((0, 2), np.int64), grid, place, np.zeros(3), np.zeros(0), False, 0.003, 0,
    )  # fmt: skip
    ground_height(grid, 0.0, 0.0, 10.0, 0.0, 0.0)
    simple_flight.aim_by_sticks(quad.fresh_state(1)[0], *(one[0] for one in simple_flight.idle_goal(1)))
    pixels.compile_all()


Group: TypeAlias = tuple[Callable[[], None], int]
"""What compiles it, and about how many functions it has."""

GROUPS: Final[dict[str, Group]] = {
    "images": (_images, 84),
    "traffic": (_traffic, 87),
    "flight": (_flight, 40),
    "sensors": (_sensors, 31),
}


def one_triangle() -> Mesh:
    """The smallest town: kernels are compiled, or read from disk, by drawing it."""
    return Mesh(
        vertices_m=np.array([[0, 0, 0], [10, 0, 0], [10, 10, 0]], np.float32),
        triangles=np.array([[0, 1, 2]], np.int32),
        colour_rgb=np.zeros((1, 3), np.uint8),
        tag=np.ones(1, np.uint8),
        material=np.zeros(1, np.uint8),
        object_id=np.zeros(1, np.uint32),
    )


class _Count(event.Listener):  # type: ignore[misc]
    """Writes a byte for each function that is compiled."""

    def __init__(self, byte: int) -> None:
        self._byte = bytes([byte])

    def on_start(self, event: object) -> None:
        """Nothing to say yet."""

    def on_end(self, event: object) -> None:
        """Count it."""
        del event
        os.write(1, self._byte)


def compile_groups(names: Sequence[str]) -> int:
    """Compile groups now, at the same time; numba is imported once, which takes a second of a processor.

    Returns:
        how many failed.
    """
    do_without_blas()
    compile_lean()
    cpu_target.target_context.refresh()  # imports what numba needs to compile
    children = [_forked(number, name) for number, name in enumerate(names)]
    return sum(os.waitpid(child, 0)[1] != 0 for child in children)


def _forked(number: int, name: str) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # nobody waits for it any longer
            event.register("numba:compile", _Count(number))
            GROUPS[name][0]()
            os.write(1, bytes([number + DONE]))
            code = 0
        except Exception:  # noqa: BLE001 (said; whoever waits sees it by the code)
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


if __name__ == "__main__":
    os.nice(int(sys.argv[1]))
    sys.exit(compile_groups(sys.argv[2:]))
