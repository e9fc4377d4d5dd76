"""One headless simulator for the real client's tests; the client runs in separate processes, which it can abort."""

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from headless_simulator.testing import RunningSimulator

CLIENT_TIMEOUT_S = 150
VERSION = os.environ.get("HEADLESS_SIMULATOR_CARLA_VERSION", "0.9.16")  # that servers speak, and the real client
PREAMBLE = """
import faulthandler, json, os, sys, time, queue
faulthandler.enable()
import carla, numpy as np
client = carla.Client('127.0.0.1', int(sys.argv[1])); client.set_timeout(60)
def synchronous(world, step=0.05):
    s = world.get_settings(); s.synchronous_mode = True; s.fixed_delta_seconds = step; world.apply_settings(s)
def camera(world, kind, pose, width=160, height=90, fov=90, **attributes):
    bp = world.get_blueprint_library().find('sensor.' + kind)
    if kind.startswith('camera'):
        for k, v in (('image_size_x', width), ('image_size_y', height), ('fov', fov)): bp.set_attribute(k, str(v))
    for k, v in attributes.items(): bp.set_attribute(k, str(v))
    actor = world.spawn_actor(bp, pose)
    box = queue.Queue(); actor.listen(box.put); actor.box = box
    return actor
def get(sensor, frame, timeout=60):
    while True:
        data = sensor.box.get(timeout=timeout)
        if data.frame >= frame: return data
def frames_until(sensor, frame):
    frames = [sensor.box.get(timeout=60).frame]
    while frames[-1] < frame: frames.append(sensor.box.get(timeout=60).frame)
    return frames
def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end: time.sleep(0.01)
def bgra(image): return np.frombuffer(image.raw_data, np.uint8).reshape(image.height, image.width, 4)
def done(**results):
    print('RESULT ' + json.dumps(results), flush=True); os._exit(0)
"""

Client = Callable[..., Any]


def python_of(version: str) -> str:
    """The interpreter that has a version's client; skips where scripts/setup --carla has not made it."""
    if version == "0.9.16":
        return sys.executable
    python = Path(__file__).parents[4] / f".venv-carla-{version}" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"scripts/setup --carla {version} makes the environment of this client")
    return str(python)


def run_client(port: str | int, code: str, *arguments: object, version: str = VERSION) -> Any:
    """Run a program of the real client; it ends with ``done(name=value, ...)``."""
    program = PREAMBLE + textwrap.dedent(code)
    command = [python_of(version), "-c", program, str(port), *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=CLIENT_TIMEOUT_S)
    results = [line[7:] for line in ran.stdout.splitlines() if line.startswith("RESULT ")]
    assert results, f"exit {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-3000:]}"
    return json.loads(results[-1])


@pytest.fixture(scope="session")
def server(simulator: RunningSimulator) -> RunningSimulator:
    """The session's simulator: programs begin with ``load_world``, which removes the state of other tests."""
    return simulator


@pytest.fixture
def client(server: RunningSimulator) -> Client:
    def run(code: str, *arguments: object) -> Any:
        return run_client(server.carla_port, code, *arguments)

    return run
