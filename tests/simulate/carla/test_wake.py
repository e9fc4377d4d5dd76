"""A Traffic Manager is told to wake. Nobody can make one hang at will: ``scripts/trial lost-wakeups`` flies until some do."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgpack
import pytest
from headless_simulator.testing import RunningSimulator

from uavsim.simulate.carla.wake import wake_traffic_manager
from uavsim.simulate.local_port import free_port

HOST = "127.0.0.1"


@contextmanager
def listening(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Listen as a Traffic Manager does, and answer whatever comes with these bytes."""
    heard: list[bytes] = []
    with socket.create_server((HOST, 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], heard
        thread.join()


def test_it_is_told_to_be_asynchronous_and_then_synchronous() -> None:
    with listening(b"".join(msgpack.packb([1, number, None, None]) for number in (1, 2))) as (port, heard):
        assert wake_traffic_manager(port)
    unpacker = msgpack.Unpacker()
    unpacker.feed(heard[0])
    assert list(unpacker) == [[0, 1, "set_synchronous_mode", [False]], [0, 2, "set_synchronous_mode", [True]]]


@pytest.mark.parametrize(
    "answer", [b"", msgpack.packb([1, 1, None, None]), 2 * msgpack.packb([1, 1, "no such function", None])]
)
def test_other_answers_are_no_success(answer: bytes) -> None:
    with listening(answer) as (port, _):
        assert not wake_traffic_manager(port)


def test_nobody_listens_there() -> None:
    assert not wake_traffic_manager(free_port())


CLIENT = """
import os, sys
import carla
from uavsim.simulate.carla.wake import wake_traffic_manager
from uavsim.simulate.local_port import free_port

client = carla.Client("127.0.0.1", int(sys.argv[1]))
client.set_timeout(20.0)
world = client.get_world()
before, settings = world.get_settings(), world.get_settings()
settings.synchronous_mode, settings.fixed_delta_seconds = True, 0.05
world.apply_settings(settings)
manager = client.get_trafficmanager(free_port())
manager.set_synchronous_mode(True)
world.tick()
told = wake_traffic_manager(manager.get_port())
first = world.tick()
follow = [world.tick() - first for _ in range(5)]
manager.set_synchronous_mode(False)
world.apply_settings(before)
print(told, follow, flush=True)
os._exit(0)
"""
"""A process of its own: libcarla's threads may abort the one in which they are."""


def test_libcarlas_own_traffic_manager_hears_it_and_goes_on(simulator: RunningSimulator) -> None:
    port = simulator.carla.rpartition(":")[2]
    done = subprocess.run([sys.executable, "-c", CLIENT, port], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.splitlines()[-1] == "True [1, 2, 3, 4, 5]"
