"""The silence around a load, without which the client crashes; ``python -m conformance.load_world`` counts its crashes."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from headless_simulator.carla.load_silence import delivery_s
from headless_simulator.carla.server import CarlaServer
from headless_simulator.carla.streams import EPISODE_STREAM
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.rpc.messages import Request
from headless_simulator.towns.library import TownLibrary

from tests.carla.conftest import Client
from tests.world.paper_town import world

LOADER, OTHER = object(), object()


@pytest.fixture
def quiet() -> CarlaServer:
    return CarlaServer(world(), towns=TownLibrary(seed=0), faults=Faults(), rendering=Rendering(flat=True))


@pytest.fixture
def sent(quiet: CarlaServer, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Flags of the sent snapshots."""
    flags: list[int] = []

    def note(stream_id: int, packet: tuple[bytes, ...]) -> None:
        if stream_id == EPISODE_STREAM:
            flags.append(int.from_bytes(packet[0][80:84], "little"))

    monkeypatch.setattr(quiet.context.streams, "send", note)
    return flags


@pytest.fixture
def ticks(quiet: CarlaServer) -> Iterator[Callable[[], int]]:
    """A function that returns the number of ticks of a client that ticks continuously."""
    done, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            quiet.context.clock.tick()
            done[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    yield lambda: done[0]
    stop.set()
    thread.join(timeout=30)


def call(quiet: CarlaServer, caller: object, name: str, *arguments: object) -> Any:
    error, result = quiet.call(Request(1, name, [[False], *arguments]), caller=caller)
    assert error is None
    return result


def load(quiet: CarlaServer, caller: object, name: str = "") -> Any:
    return call(quiet, caller, "load_new_episode", name, True, 0xFFFF)


def episode(quiet: CarlaServer, caller: object) -> int:
    return int(call(quiet, caller, "get_episode_info")[0][1][0])


def test_no_tick_between_load_and_episode_request(
    quiet: CarlaServer, sent: list[int], ticks: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headless_simulator.carla.load_silence.LOADER_WAIT_S", 60.0)
    assert load(quiet, LOADER) == [[False]]
    before, count = list(sent), ticks()
    time.sleep(0.1)
    assert (sent, ticks()) == (before, count)
    episode(quiet, OTHER)  # another client's call does not end the silence
    time.sleep(0.05)
    assert sent == before
    episode(quiet, LOADER)
    end = time.monotonic() + 30
    while ticks() < count + 3 and time.monotonic() < end:
        time.sleep(0.005)
    assert ticks() >= count + 3
    assert sent[len(before)] == 1  # the first message to any client is the map change
    assert 1 not in sent[len(before) + 1 :]


def test_loader_sees_episode_change(quiet: CarlaServer) -> None:
    first = episode(quiet, LOADER)
    load(quiet, LOADER)
    assert episode(quiet, OTHER) == first + 1
    assert episode(quiet, LOADER) == first
    assert episode(quiet, LOADER) == first + 1


def test_silence_ends_without_episode_request(
    quiet: CarlaServer, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headless_simulator.carla.load_silence.LOADER_WAIT_S", 0.05)
    load(quiet, LOADER)
    quiet.context.clock.tick()
    assert sent == [1, 0]


def test_refused_load_leaves_no_silence(quiet: CarlaServer, sent: list[int]) -> None:
    assert "not found" in load(quiet, LOADER, "Nowhere")[0][1][0]
    quiet.context.clock.tick()
    assert sent == [0]


def test_client_loads_several_worlds(client: Client) -> None:
    result = client("""
        frames = []
        for n in range(6):
            world = client.reload_world(n % 4 == 1) if n % 2 else client.load_world('Town10HD')
            if n > 2: synchronous(world)
            frames.append([world.tick() if n > 2 else world.wait_for_tick().frame for _ in range(3)][-1])
        done(ids=world.id, frames=frames)
    """)

    assert result["frames"] == sorted(set(result["frames"]))


def test_traffic_manager_continues_in_loaded_world(client: Client) -> None:
    result = client("""
        import socket
        with socket.socket() as free: free.bind(('127.0.0.1', 0)); port = free.getsockname()[1]
        moved = []
        for _ in range(3):
            world = client.load_world('Town10HD'); synchronous(world)
            manager = client.get_trafficmanager(port); manager.set_synchronous_mode(True)
            library, spawn_pose = world.get_blueprint_library(), world.get_map().get_spawn_points()[3]
            car = world.spawn_actor(library.find('vehicle.tesla.model3'), spawn_pose); car.set_autopilot(True, port)
            manager.ignore_lights_percentage(car, 100.0)
            for _ in range(60): world.tick()
            moved.append(car.get_location().distance(spawn_pose.location))
        done(moved=moved)
    """)

    assert min(result["moved"]) > 3.0


@pytest.mark.parametrize(("load", "seconds"), [(0.0, 0.05), (2.0, 0.05), (4.0, 0.1), (12.0, 0.25)])
def test_delivery_time_grows_with_load(load: float, seconds: float):
    assert delivery_s(load) == pytest.approx(seconds)


def test_asynchronous_traffic_manager_survives_load(client: Client) -> None:
    """Its loop reads the world all the time; while the client had no episode, that ended the process, 10 times of 10."""
    result = client("""
        manager = client.get_trafficmanager(29_000 + os.getpid() % 1000)
        names = []
        for name in ('Town10HD', 'Town07', 'Town10HD'):
            time.sleep(0.3); names.append(client.load_world(name).get_map().name)
        done(names=names)
    """)

    assert [name.rsplit("/", 1)[-1] for name in result["names"]] == ["Town10HD", "Town07", "Town10HD"]
