"""A Traffic Manager's port is closed to others, and the manager can be woken. The trial ``lost_wakeups`` tests real hangs."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgpack
import pytest
from headless_simulator.testing import RunningSimulator

from uavsim.errors import SimulatorLost
from uavsim.probing.listening import open_to_others
from uavsim.simulate.carla.manager_port import ManagerPort, connections_at, free_port

HOST = "127.0.0.1"


@contextmanager
def manager(*answers: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Listen like a Traffic Manager on all addresses, and send one of the answers per message."""
    heard: list[bytes] = []
    with socket.create_server(("0.0.0.0", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                for answer in answers:
                    heard.append(connection.recv(4096))
                    connection.sendall(answer)
                connection.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], heard
        thread.join()


def replies(*numbers: int, error: object = None) -> bytes:
    return b"".join(msgpack.packb([1, number, error, None]) for number in numbers)


def others_connect(port: int) -> bool:
    """Return whether another process can connect."""
    program = f"import socket; socket.create_connection(('{HOST}', {port}), timeout=0.5)"
    return subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, check=False).returncode == 0


def test_port_is_closed_to_others_and_our_connection_stays() -> None:
    with socket.create_server(("0.0.0.0", 0)) as listening:
        assert others_connect(listening.getsockname()[1])
    with manager(replies(0), replies(1, 2)) as (port, heard):
        door = ManagerPort(port)
        assert not others_connect(port)
        assert door.wake()
        door.close()
    unpacker = msgpack.Unpacker()
    for message in heard:
        unpacker.feed(message)
    assert list(unpacker) == [
        [0, 0, "health_check_remote_TM", []],
        [0, 1, "set_synchronous_mode", [False]],
        [0, 2, "set_synchronous_mode", [True]],
    ]


def test_earlier_foreign_connection_is_noticed() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        early = socket.create_connection((HOST, port))

        def answer() -> None:
            foreign, _ = server.accept()
            connection, _ = server.accept()
            with foreign, connection:
                connection.recv(4096)
                connection.sendall(replies(0))
                connection.recv(1)

        thread = threading.Thread(target=answer)
        thread.start()
        with early, pytest.raises(SimulatorLost, match=f"another program .* from port {early.getsockname()[1]}"):
            ManagerPort(port)
        thread.join()


@pytest.mark.parametrize("answer", [b"", replies(1), replies(0, error="no such function")])
def test_foreign_server_is_no_traffic_manager(answer: bytes) -> None:
    with manager(answer) as (port, _), pytest.raises(SimulatorLost, match="does not answer"):
        ManagerPort(port)


def test_unanswered_wake_fails() -> None:
    with manager(replies(0), replies(1)) as (port, _):
        door = ManagerPort(port)
        assert not door.wake(within_s=0.1)
        door.close()


def test_closed_port_is_reported() -> None:
    with pytest.raises(SimulatorLost, match="does not listen"):
        ManagerPort(free_port())


def test_connections_of_others_are_listed() -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        assert connections_at(port) == set()
        with socket.create_connection((HOST, port)) as client:
            assert connections_at(port) == {client.getsockname()[1]}


CLIENT = """
import os, sys
from tools.common.plans import rig, scene_plan
from uavsim.simulate.carla.world import CarlaWorld

plan = scene_plan(samples=1, vehicles=3, cameras=rig()[:1])
world = CarlaWorld("127.0.0.1", int(sys.argv[1]))
world.prepare(plan, heartbeat=lambda *_: None)
world.populate(plan, heartbeat=lambda *_: None)
port = world._manager.vendors.get_port()
print(port, flush=True)
sys.stdin.readline()
woken = world.wake()
first = world.tick(captured=False).frame
print(woken, [world.tick(captured=False).frame - first for _ in range(5)], flush=True)
os._exit(0)
"""
"""Program of a separate process, because libcarla's threads may abort it."""


UNPRIVILEGED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""Command prefix that runs root without capabilities."""


@pytest.mark.parametrize("rights", [(), UNPRIVILEGED], ids=["as we are", "unprivileged"])
def test_libcarlas_traffic_manager_is_closed_and_woken(simulator: RunningSimulator, rights: tuple[str, ...]) -> None:
    if rights and os.geteuid():
        pytest.skip("not root: the other case is this one")
    port = simulator.carla.rpartition(":")[2]
    with subprocess.Popen(
        [*rights, sys.executable, "-c", CLIENT, port],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ},
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        listens = int(client.stdout.readline())
        assert not others_connect(listens)
        client.stdin.write("\n")
        client.stdin.flush()
        assert client.stdout.readline().strip() == "True [1, 2, 3, 4, 5]"


def test_headless_simulator_listens_on_loopback_only(simulator: RunningSimulator) -> None:
    assert open_to_others(simulator.pid) == []


TWO_TOWNS = """
import dataclasses, os, sys
from tools.common.plans import rig, scene_plan
from uavsim.simulate.carla.world import CarlaWorld

plan = scene_plan(samples=1, vehicles=3, cameras=rig()[:1])
world = CarlaWorld("127.0.0.1", int(sys.argv[1]))
for town in ("Town02", "Town01"):
    world.prepare(dataclasses.replace(plan, town=dataclasses.replace(plan.town, carla_map=town)), heartbeat=lambda *_: None)
    world.populate(plan, heartbeat=lambda *_: None)
    first = world.tick(captured=False).frame
    assert [world.tick(captured=False).frame - first for _ in range(5)] == [1, 2, 3, 4, 5]
    print(world.map_name, world._manager.vendors.get_port(), flush=True)
os._exit(0)
"""


def test_traffic_manager_is_reused_in_the_next_town(simulator: RunningSimulator) -> None:
    """A new manager per town would make a tick of the fourth town eight times as expensive."""
    words = [sys.executable, "-c", TWO_TOWNS, simulator.carla.rpartition(":")[2]]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    (first, port), (second, same_port) = (line.split() for line in done.stdout.splitlines())
    assert (first, second, same_port) == ("Town02", "Town01", port)
