"""Invalid bytes and calls: the server stays up, bounds its memory and serves other clients."""

import random
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator

import msgpack
import numpy as np
import pytest
from headless_simulator.carla.connection import LARGEST_MESSAGE
from headless_simulator.carla.sensor_blueprints import sensor_blueprints
from headless_simulator.carla.sensors.cameras import IMAGES
from headless_simulator.carla.sensors.hub import FAMILIES
from headless_simulator.carla.server import CarlaServer
from headless_simulator.errors import CallRefused
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.towns.library import TownLibrary

from tests.world.paper_town import world

FUZZED = 10_000
WEIRD: tuple[object, ...] = (
    None, True, -1, 0, 2**63, 1e308, float("nan"), float("inf"), "", "x" * 300, b"\x00\xff", [], {}, [[]], [[[[]]]],
    {"a": 1}, ["vehicle.tesla.model3"], [1.0, 2.0, 3.0], [[1, 2, 3], [4, 5, 6]],
)  # fmt: skip
_LEFT_OUT = frozenset({"load_new_episode"})  # the paper library has no towns


def wait_for_listener(server: CarlaServer, token: bytes) -> None:
    end = time.monotonic() + 10
    while not server.context.streams.readers(struct.unpack("<I", token[:4])[0]):
        assert time.monotonic() < end
        time.sleep(0.005)


class PaperLibrary(TownLibrary):
    def names(self):
        return ["Paper"]

    def town(self, name):
        raise CallRefused(f"Map '{name}' not found")

    def take_opendrive(self, text):
        raise CallRefused("no")


@pytest.fixture
def server() -> Iterator[CarlaServer]:
    it = CarlaServer(world(), towns=PaperLibrary(seed=0), faults=Faults(), rendering=Rendering(flat=True))
    it.start(0)
    yield it
    it.stop()


class Caller:
    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self._unpacker = msgpack.Unpacker(raw=False, strict_map_key=False)
        self._number = 0

    def call(self, name, *arguments):
        self.send(name, *arguments)
        return self.answer()

    def send(self, name, *arguments):
        self._number += 1
        self._socket.sendall(msgpack.packb([0, self._number, name, [[False], *arguments]]))
        return self._number

    def answer(self):
        while True:
            for message in self._unpacker:
                return message
            data = self._socket.recv(1 << 16)
            assert data, "the connection was closed"
            self._unpacker.feed(data)

    def close(self) -> None:
        self._socket.close()


def test_an_unknown_method_is_named_and_counted(server):
    caller = Caller(server.port)
    kind, _, error, result = caller.call("make_coffee", 1, 2)

    assert (kind, result) == (1, None)
    assert "make_coffee" in error
    assert "make_coffee x1" in server.report()
    caller.close()


def test_random_bytes_and_calls_do_not_affect_other_client(server):
    rng = random.Random(1)
    witness = Caller(server.port)
    stop, answers, failures = threading.Event(), [], []

    def look() -> None:
        while not stop.is_set():
            began = time.monotonic()
            answer = witness.call("version")
            answers.append(time.monotonic() - began)
            if answer[3] != [[1, "0.9.16"]]:
                failures.append(answer)

    thread = threading.Thread(target=look)
    thread.start()
    names = sorted(set(server.methods) - _LEFT_OUT)
    caller = Caller(server.port)
    grown = 0
    for n in range(FUZZED):
        if n == FUZZED // 4:
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if n % 4 == 0:  # bytes on a connection of their own
            port = server.port + (n % 8 == 0)
            with socket.create_connection(("127.0.0.1", port), timeout=20) as raw:
                raw.sendall(rng.randbytes(rng.randint(1, 200)))
        else:
            name = rng.choice(names)
            arguments = [rng.choice(WEIRD) for _ in range(rng.randint(0, 6))]
            kind, _, error, result = caller.call(name, *arguments)
            assert kind == 1
            assert (error is None) != (result is None), name
    stop.set()
    thread.join()
    caller.close()
    witness.close()

    assert not failures
    assert not server.context.counts.internal_errors, "invalid calls are the client's mistake"
    assert len(answers) > 100
    assert np.isfinite(server.context.world.table.c.pose).all()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1.15 * grown


@pytest.mark.parametrize(
    "data",
    [
        b"\xc1",  # never used in msgpack
        msgpack.packb([0, 1, "version"]),
        msgpack.packb([1, 1, "version", []]),
        msgpack.packb({"a": 1}),
        msgpack.packb([0, "1", "version", []]),
        b"\x91" * 5000,  # nested without end
        struct.pack(">BI", 0xDD, 2**32 - 1),  # an array of four thousand million
    ],
)
def test_invalid_request_closes_connection_or_is_ignored(server, data):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
        raw.sendall(data)
        raw.shutdown(socket.SHUT_WR)
        assert raw.recv(10) == b""
    caller = Caller(server.port)
    assert caller.call("version")[3] == [[1, "0.9.16"]]
    caller.close()


def test_too_long_message_closes_connection(server):
    most = 16 * LARGEST_MESSAGE  # beyond what the server reads lies what the kernel takes meanwhile, up to 64 MB
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(struct.pack(">BI", 0xC6, 2**31))  # a binary of two gigabytes follows
        sent = _send_until_cut(raw, most=most)
    assert sent < most


def _send_until_cut(raw: socket.socket, *, most: int) -> int:
    chunk, sent = bytes(1 << 20), 0
    while sent < most:
        try:
            raw.sendall(chunk)
        except OSError:
            break
        sent += len(chunk)
    return sent


def test_invalid_image_size_is_refused(server):
    caller = Caller(server.port)
    for key, value in (("image_size_x", "1000000"), ("image_size_y", "-5"), ("fov", "nan"), ("fov", "0")):
        description = [1, "sensor.camera.rgb", [[key, 2, value]]]
        answer = caller.call("spawn_actor", description, [[0, 0, 9], [0, 0, 0]])
        assert answer[3][0][0] == 0, (key, value)
        assert key in answer[3][0][1][0]
    caller.close()


def test_tick_answer_waits_for_settings_request(server):
    """A worker requests the settings right before it waits; the answer to the tick wakes it."""
    caller = Caller(server.port)
    settings = caller.call("get_episode_settings")[3][0][1]
    assert caller.call("set_episode_settings", [True, *settings[1:]])[2] is None
    assert caller.call("add_traffic_manager_running", ["127.0.0.1", 8000])[2] is None
    caller.call("get_vehicle_light_states")  # the worker is at work
    tick = caller.send("tick_cue")
    settings_request = caller.send("get_episode_settings")
    assert [caller.answer()[1], caller.answer()[1]] == [settings_request, tick]
    caller.close()


def test_client_that_reads_light_states_does_not_delay_its_tick(server, monkeypatch):
    """The worker waits already; uavsim reads the lights of each captured tick."""
    monkeypatch.setattr("headless_simulator.carla.connection._WAKE_LIMIT_S", 60.0)
    caller = Caller(server.port)
    caller.call("set_episode_settings", [True, False, [True, 0.05]])
    assert caller.call("add_traffic_manager_running", ["127.0.0.1", 8124])[3] == [[1, True]]
    for name in ("get_vehicle_light_states", "get_episode_settings"):  # of the worker
        caller.call(name)
    caller.call("get_vehicle_light_states")
    assert caller.call("tick_cue")[2] is None  # within the socket's 20 s
    caller.close()


def test_request_for_destroyed_actor_is_answered(server):
    caller = Caller(server.port)
    answer = caller.call("spawn_actor", [1, "vehicle.audi.tt", []], [[0, 0, 0.3], [0, 0, 0]])
    number = answer[3][0][1][0]
    caller.call("destroy_actor", number)

    assert caller.call("get_actor_bounding_box", number)[3][0][0] == 1
    assert caller.call("apply_control_to_vehicle", number, [0, 0, 0, False, False, False, 0])[3][0][0] is True
    caller.close()


def test_stalled_reader_does_not_stop_clock(server, monkeypatch):
    monkeypatch.setattr("headless_simulator.carla.streams.STALL_S", 0.3)
    caller = Caller(server.port)
    rows = [["image_size_x", 2, "1000"], ["image_size_y", 2, "1000"]]
    token = caller.call("spawn_actor", [1, "sensor.camera.rgb", rows], [[0, 0, 9], [0, 0, 0]])[3][0][1][5]
    caller.call("set_episode_settings", [True, False, [True, 0.05]])
    with socket.create_connection(("127.0.0.1", server.port + 1), timeout=5) as asleep:
        asleep.sendall(token[:4])
        wait_for_listener(server, token)
        for _ in range(20):
            assert caller.call("tick_cue")[3][0][0] == 1
        assert not server.context.streams.readers(struct.unpack("<I", token[:4])[0])
    caller.close()


def test_parts_of_the_town_cannot_be_destroyed(server):
    caller = Caller(server.port)
    answer = caller.call("destroy_actor", server.context.world.spectator.actor_id)

    assert "part of the town" in answer[3][0][1][0]
    caller.close()


def test_traffic_manager_is_unregistered_on_disconnect(server):
    owner, other = Caller(server.port), Caller(server.port)
    assert owner.call("add_traffic_manager_running", ["127.0.0.1", 8000])[3] == [[1, True]]
    assert other.call("add_traffic_manager_running", ["127.0.0.1", 8000])[3] == [[1, False]]
    owner.close()
    end = time.monotonic() + 5
    while other.call("is_traffic_manager_running", 8000)[3] == [[1, True]]:
        assert time.monotonic() < end
    other.close()


def test_batch_tick_does_not_wait_for_traffic_manager(server, monkeypatch):
    """A batch that ticks wakes no worker, so its answer must not wait for one."""
    monkeypatch.setattr("headless_simulator.carla.connection._WAKE_LIMIT_S", 60.0)
    caller = Caller(server.port)
    caller.call("set_episode_settings", [True, False, [True, 0.05]])
    assert caller.call("add_traffic_manager_running", ["127.0.0.1", 8123])[3] == [[1, True]]
    caller.call("get_episode_settings")
    caller.call("get_vehicle_light_states")
    assert caller.call("apply_batch", [], True)[2] is None  # within the socket's 20 s
    caller.call("get_episode_settings")  # the worker's request before it waits
    assert caller.call("tick_cue")[2] is None
    caller.close()


def test_failed_sensor_is_reported_and_clock_continues(server, capsys):
    caller = Caller(server.port)
    rows = [["sensor_tick", 3, "abc"], ["channels", 2, "many"], ["range", 3, "inf"]]
    token = caller.call("spawn_actor", [1, "sensor.lidar.ray_cast", rows], [[0, 0, 9], [0, 0, 0]])[3][0][1][5]
    caller.call("set_episode_settings", [True, False, [True, 0.05]])
    with socket.create_connection(("127.0.0.1", server.port + 1), timeout=5) as reader:
        reader.sendall(token[:4])
        wait_for_listener(server, token)
        first, second = caller.call("tick_cue"), caller.call("tick_cue")  # the paper renderer refuses every ray

    assert second[3][0][1] == first[3][0][1] + 1
    assert "a sensor failed" in capsys.readouterr().err
    assert "failed sensor readings" in server.report()
    caller.close()


def test_every_sensor_of_the_library_is_served(server):
    caller, sensors = Caller(server.port), set(sensor_blueprints())
    answers = {name: caller.call("spawn_actor", [1, name, []], [[0, 0, 9], [0, 0, 0]])[3][0] for name in sensors}
    refused = {name for name, answer in answers.items() if answer[0] == 0}

    assert not refused
    assert sensors == IMAGES | set(FAMILIES) | {"sensor.other.lane_invasion", "sensor.other.rss"}
    caller.close()


def test_limits_of_actors_and_pixels(server, monkeypatch):
    caller = Caller(server.port)

    def camera(side: int) -> list:
        rows = [["image_size_x", 2, str(side)], ["image_size_y", 2, str(side)]]
        return caller.call("spawn_actor", [1, "sensor.camera.rgb", rows], [[0, 0, 9], [0, 0, 0]])[3][0]

    assert "more than 34000000" in camera(8192)[1][0]
    monkeypatch.setattr("headless_simulator.carla.lifecycle._MOST_PIXELS_TOGETHER", 250 * 250 * 2)
    made = [camera(250) for _ in range(3)]
    assert [answer[0] for answer in made] == [1, 1, 0]
    caller.call("destroy_actor", made[0][1][0])
    assert camera(250)[0] == 1
    monkeypatch.setattr("headless_simulator.carla.lifecycle.MOST_ACTORS", len(server.context.world.actors))
    answer = caller.call("spawn_actor", [1, "static.prop.box01", []], [[0, 0, 9], [0, 0, 0]])[3][0]
    assert "at most" in answer[1][0]
    caller.close()


def test_large_batch_releases_lock_for_other_clients(server):
    caller, other = Caller(server.port), Caller(server.port)
    number = caller.call("spawn_actor", [1, "vehicle.audi.tt", []], [[0, 0, 0.3], [0, 0, 0]])[3][0][1][0]
    command = [6, [number, [[1, 2, 3], [0, 0, 0]]]]
    answers, done = [], threading.Event()

    def look() -> None:
        while not done.is_set():
            answers.append(other.call("get_actors_by_id", [number] * 1000)[3])

    thread = threading.Thread(target=look)
    thread.start()
    begun = len(answers)
    carried_out = caller.call("apply_batch", [command] * 50_000, False)[3]
    between = len(answers) - begun
    done.set()
    thread.join()

    assert len(carried_out) == 50_000
    assert between > 20
    assert all(len(answer[0][1]) == 1 for answer in answers), "a repeated id is answered once"
    assert "more than" in str(caller.call("apply_batch", [command] * 100_001, False))
    caller.close()
    other.close()


def test_server_survives_too_many_connections(server, monkeypatch):
    monkeypatch.setattr("headless_simulator.carla.server._MOST_CONNECTIONS", 3)
    crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=5) for _ in range(20)]
    for connection in crowd:
        connection.close()
    end = time.monotonic() + 20
    while True:
        caller = Caller(server.port)
        try:
            assert caller.call("version")[3] == [[1, "0.9.16"]]
            break
        except (AssertionError, OSError):
            assert time.monotonic() < end, "connections are free again after clients disconnect"
        finally:
            caller.close()


def test_traffic_manager_pauses_until_snapshot_lacks_destroyed_actor(server):
    """A free-running Traffic Manager that reads an actor object cleared by ``destroy`` aborts the client's process."""
    caller = Caller(server.port)
    number = caller.call("spawn_actor", [1, "vehicle.audi.tt", []], [[0, 0, 0.3], [0, 0, 0]])[3][0][1][0]
    assert caller.call("add_traffic_manager_running", ["127.0.0.1", 8000])[2] is None
    caller.call("get_episode_settings")  # a manager's request in each round

    destroyed = caller.send("destroy_actor", number)
    before = server.context.world.frame
    settings_request = caller.send("get_episode_settings")

    assert caller.answer()[1] == destroyed
    assert caller.answer()[1] == settings_request
    assert server.context.world.frame > before
    caller.close()


@pytest.mark.parametrize("requests_late", [False, True])
def test_stuck_traffic_manager_is_woken(server, monkeypatch, capsys, requests_late):
    """Under load, a worker can request the settings after the answer to the tick, and then wait in vain."""
    monkeypatch.setattr("headless_simulator.carla.connection._HUNG_S", 0.2)
    monkeypatch.setattr("headless_simulator.carla.connection._WAKE_LIMIT_S", 0.0)
    caller = Caller(server.port)
    caller.call("set_episode_settings", [True, False, [True, 0.05]])
    with socket.create_server(("127.0.0.1", 0)) as manager:
        manager.settimeout(10)
        caller.call("add_traffic_manager_running", ["127.0.0.1", manager.getsockname()[1]])
        caller.call("get_vehicle_light_states")  # a step
        caller.call("tick_cue")
        if requests_late:
            caller.call("get_episode_settings")
        waking, _ = manager.accept()
        with waking:
            received = msgpack.Unpacker()
            received.feed(waking.recv(1 << 10))
            calls = [(name, arguments) for _, _, name, arguments in received]

    assert calls == [("set_synchronous_mode", [False]), ("set_synchronous_mode", [True])]
    end = time.monotonic() + 5
    while "was woken" not in (text := capsys.readouterr().err):
        assert time.monotonic() < end, text
        time.sleep(0.01)
    caller.close()


def test_an_asynchronous_manager_is_not_woken_as_waking_makes_it_synchronous(server, monkeypatch):
    monkeypatch.setattr("headless_simulator.carla.connection._HUNG_S", 0.2)
    monkeypatch.setattr("headless_simulator.carla.connection._WAKE_LIMIT_S", 0.0)
    caller = Caller(server.port)
    caller.call("set_episode_settings", [True, False, [True, 0.05]])
    with socket.create_server(("127.0.0.1", 0)) as manager:
        manager.settimeout(0.01)
        caller.call("add_traffic_manager_running", ["127.0.0.1", manager.getsockname()[1]])
        caller.call("get_vehicle_light_states")  # its step at the snapshot, before the answer to the tick
        caller.call("tick_cue")
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            caller.call("get_episode_settings")  # it requests them continually
            with pytest.raises(TimeoutError):
                manager.accept()
    caller.close()
