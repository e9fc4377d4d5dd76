"""Fuzz targets of the headless simulator: recordings and OpenDRIVE texts, and bytes at both ports of a running one.

A simulator that ends, grows, or does not serve another client after an input is a finding.
"""

import contextlib
import random
import socket
import tempfile
from pathlib import Path
from typing import Any, Final

import msgpack
import numpy as np
import psutil
from headless_simulator.carla.recorder import files, layout, query
from headless_simulator.carla.recorder.reader import Recording
from headless_simulator.carla.recorder.replay import OpenedRecording, ReplayRequest
from headless_simulator.testing import running_simulator
from headless_simulator.towns.bounds import check_extent
from headless_simulator.towns.errors import TownRefused
from headless_simulator.towns.limits import CLIENT
from headless_simulator.towns.strips import lane_strips
from headless_simulator.towns.xodr_reader import read_network

from tests.hostile.datasets import EVERY_ROAD
from tests.hostile.fuzzing import NASTY, UNPACKABLE, Target, turn_bytes, turn_msgpack, turn_xml

ROADS: Final = (
    EVERY_ROAD.read_bytes()
    .replace(b'<border sOffset="0" a="-7"', b'<width sOffset="0" a="3"')  # the client reads no borders
    .replace(b"<planView>", b'<type s="0" type="town"><speed max="40" unit="mph"/></type><planView>', 1)
)
MOST_MEMORY_BYTES: Final = 3 << 30


def _recording() -> bytes:
    rows = np.zeros(3, layout.POSITION_ROW)
    rows["id"] = (1, 2, 3)
    data = layout.Header(layout.VERSION, 0, "Town10HD").pack()
    new = layout.Arrival(1, 1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 7, "vehicle.audi.tt", ((0, "role_name", "hero"),))
    hits = np.zeros(2, layout.COLLISION_ROW)
    for number in range(1, 6):
        data += layout.packet(layout.FRAME_START, layout.FRAME.pack(number, 0.05, 0.05 * number))
        data += layout.counted(layout.EVENT_ADD, [new.pack()]) + layout.table(layout.POSITION, rows)
        data += layout.table(layout.COLLISION, hits) + layout.packet(layout.FRAME_END)
    return data


def _read_recording(folder: Path, data: bytes) -> None:
    log = files.RecordingPath(folder, ("fuzzed.log",))
    log.path.write_bytes(data)
    query.file_info(log, show_all=True)
    query.collisions(log, "a", "a")
    query.blocked(log, 0.1, 1.0)
    file = files.open_existing(log)
    assert file is not None
    try:
        opened = OpenedRecording(Recording(file), ReplayRequest(0.1, 0.0, 1, np.zeros(6), True))
    except layout.Damaged:
        return
    opened.recording.close()


def _read_town(data: bytes) -> None:
    try:
        check_extent(lane_strips(read_network(data, "fuzzed.xodr")), "fuzzed.xodr", CLIENT)
    except TownRefused as refusal:
        if "\n" in str(refusal):
            raise ValueError("the refusal has two lines") from refusal


class Ports:
    """A running simulator, and a client at each port that must be served after every input."""

    def __init__(self, work: Path) -> None:
        (work / "one.xodr").write_bytes(ROADS)
        env = {"XDG_STATE_HOME": str(work)}  # XDG_CACHE_HOME stays: compiling without its machine code takes minutes
        self._open = contextlib.ExitStack()
        self._log = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - as long as the simulator
        words = ("--render", "flat", "--xodr", str(work / "one.xodr"))
        running = self._open.enter_context(running_simulator(*words, env=env, stderr=self._log))
        self.process = psutil.Process(running.pid)
        self.ports = {"carla": running.carla_port, "airsim": running.airsim_port}
        self._witnesses = {name: self._connect(name) for name in self.ports}

    def _connect(self, name: str) -> socket.socket:
        return self._open.enter_context(socket.create_connection(("127.0.0.1", self.ports[name]), timeout=20))

    def feed(self, name: str, data: bytes) -> None:
        """Send bytes to a port, then call a method as another client.

        Raises:
            AssertionError: the simulator ended, is too large, logged an internal error, or does not answer the other client.
        """
        with (
            socket.create_connection(("127.0.0.1", self.ports[name]), timeout=20) as hostile,
            contextlib.suppress(OSError),  # the simulator closes the connection, or does not answer
        ):
            hostile.sendall(data)
            hostile.shutdown(socket.SHUT_WR)
            hostile.settimeout(0.05)
            while hostile.recv(1 << 16):
                pass
        for port, witness in self._witnesses.items():
            witness.sendall(msgpack.packb([0, 1, *_PROBES[port]]))
            assert witness.recv(1 << 16), f"the other client at {port} was cut off"
        assert self.runs(), "the simulator ended"
        memory = self.process.memory_info().rss
        assert memory < MOST_MEMORY_BYTES, f"it has grown to {memory >> 20} MiB"
        self._log.seek(0)
        _, bug, rest = self._log.read().partition(b"internal error")
        if bug:
            self._log.truncate(0)
            raise AssertionError((bug + rest)[:2000].decode(errors="replace").replace("\n", " | "))

    def runs(self) -> bool:
        """Return whether the simulator runs."""
        return self.process.is_running() and self.process.status() != psutil.STATUS_ZOMBIE

    def close(self) -> None:
        """End the simulator."""
        self._open.close()


_METHODS: Final = {
    "carla": ("spawn_actor", "apply_batch", "set_actor_transform", "get_actors_by_id", "cast_ray", "start_recorder",
              "show_recorder_file_info", "set_episode_settings", "set_weather_parameters", "apply_control_to_vehicle",
              "copy_opendrive_to_file", "get_navigation_mesh", "set_actor_autopilot", "replay_file"),
    "airsim": ("simGetImages", "moveOnPath", "simSetVehiclePose", "simSpawnObject", "simListSceneObjects", "simPlotPoints",
               "simAddVehicle", "getLidarData", "simSetSegmentationObjectID", "moveByVelocityZ", "simSetWind", "reset",
               "simSetTimeOfDay", "simGetDetections", "startRecording", "simLoadLevel", "simRunConsoleCommand"),
}  # fmt: skip
_PROBES: Final[dict[str, tuple[str, list[Any]]]] = {"carla": ("version", [[False]]), "airsim": ("ping", [])}
"""A method of each port, and the arguments with which every call begins."""


def _calls(name: str) -> list[bytes]:
    vehicle = [1, "vehicle.audi.tt", [["color", 3, "1,2,3"]]]
    own: list[Any] = [vehicle, [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], 5, "a", True, {}]
    words = [[*_PROBES[name][1], *own[:count]] for count in range(7)]
    return [msgpack.packb([0, 1, method, arguments]) for method in _METHODS[name] for arguments in words]


_HEADS: Final = (b"\xdd\xff\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xc6\x80\0\0\0", b"\xdb\xff\xff\xff\xff", b"\x91")
"""First bytes of msgpack values with lengths of gigabytes, and of nested arrays."""


def _change_call(data: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.1:
        return rng.choice(_HEADS) * rng.choice([1, 5, 5000]) + rng.randbytes(rng.randrange(64))
    if rng.random() < 0.3:
        message = msgpack.unpackb(data)
        message[3] = message[3][:1] + [rng.choice(NASTY) for _ in range(rng.randrange(7))]
        with contextlib.suppress(*UNPACKABLE):
            return bytes(msgpack.packb(message, unicode_errors="surrogatepass"))
    return turn_msgpack(data, rng)


def simulator_targets(work: Path) -> dict[str, Target]:
    """Make the targets of the simulator; the first input at a port starts it."""
    started: list[Ports] = []

    def end() -> None:
        while started:
            started.pop().close()

    def port(name: str) -> Target:
        def read(data: bytes) -> None:
            if not started or not started[0].runs():
                end()
                started.append(Ports(work))
            started[0].feed(name, data)

        return Target(_calls(name), read, _change_call, end)

    return {
        "recorder": Target([_recording()], lambda data: _read_recording(work, data), turn_bytes),
        "towns": Target([ROADS], _read_town, turn_xml),
        "carla-port": port("carla"),
        "airsim-port": port("airsim"),
    }
