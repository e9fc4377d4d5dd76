"""Compile all kernels, or load them from numba's cache, by calling each on a scene of one triangle."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from headless_simulator.airsim import pixels, read_settings
from headless_simulator.airsim.fleet import Fleet
from headless_simulator.models import ModelLibrary
from headless_simulator.render import Renderer
from headless_simulator.scene import Ground, Mesh, SignalHead, Town
from headless_simulator.world.world import World


def warm_up(*, in_two_processes: bool = False) -> None:
    """Call the kernels of images, sensors, traffic and flight.

    Args:
        in_two_processes: compile the image kernels in a second process, which halves the time of a first start.
    """
    if in_two_processes:
        program = "from headless_simulator.warm_up import warm_up_images as images; images()"
        with subprocess.Popen(
            [sys.executable, "-P", "-c", program]
        ):  # waits for its end; failed kernels are compiled below
            warm_up_motion()
    warm_up_images()
    warm_up_motion()


def warm_up_images() -> None:
    """Call the kernels of images and sensors."""
    Renderer(one_triangle(), ModelLibrary()).warm_up()
    pixels.compile_all()


def warm_up_motion() -> None:
    """Call the kernels of traffic and flight."""
    mesh, models = one_triangle(), ModelLibrary()
    renderer = Renderer(mesh, models)
    light = SignalHead((0.0,) * 6, "1", 0, 0, np.zeros((1, 6)), (0.0,) * 7, np.zeros(0, np.int32))
    town = Town(
        "One", "<OpenDRIVE/>", np.zeros((0, 6)), mesh, Ground((0.0, 0.0), 10.0, np.zeros((2, 2), np.float32)), (light,),
        (), (), (), np.zeros((1, 3)),
    )  # fmt: skip
    world = World(town, models=models, renderer_of=lambda _: renderer)
    fleet = Fleet(world, read_settings("{}"), player_start_m=(0.0, 0.0, 0.0))
    fleet.compile()
    fleet.drone("").set_api(enabled=False)


def one_triangle() -> Mesh:
    """Return the smallest town."""
    return Mesh(
        vertices_m=np.array([[0, 0, 0], [10, 0, 0], [10, 10, 0]], np.float32),
        triangles=np.array([[0, 1, 2]], np.int32),
        colour_rgb=np.zeros((1, 3), np.uint8),
        tag=np.ones(1, np.uint8),
        material=np.zeros(1, np.uint8),
        object_id=np.zeros(1, np.uint32),
    )
