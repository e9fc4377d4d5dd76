"""Start, readiness, death and end of servers; attached ones are only queried."""

import socket
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from uavsim.config.backends import AIRSIM, CARLA, Server
from uavsim.config.run import SimulatorConfig
from uavsim.errors import SimulatorError, SimulatorLost
from uavsim.supervise.simulator import Simulator, announced_ports

LISTEN = """
import socket, sys, time
servers = [socket.create_server(("127.0.0.1", int(p))) for p in sys.argv[1:]]
print("listening", flush=True)
time.sleep(600)
"""


def started(tmp_path: Path, *, code: str = LISTEN, servers: tuple[Server, ...] = (CARLA,), **fields) -> Simulator:
    command = (sys.executable, "-c", code, *fields.pop("arguments", ("{carla_port}",)))
    config = SimulatorConfig(kind="command", command=command, **{"ready_s": 20.0, **fields})
    return Simulator(config, servers=servers, name="sim", logs=tmp_path)


def attached(tmp_path: Path, port: int, **fields: Any) -> Simulator:
    config = SimulatorConfig(kind="attach", ports={"carla": port}, **fields)
    return Simulator(config, servers=(CARLA,), name="sim", logs=tmp_path)


def test_a_command_gets_free_ports_and_is_ready_when_it_listens(tmp_path: Path) -> None:
    simulator = started(tmp_path, arguments=("{carla_port}", "{airsim_port}"), servers=(CARLA, AIRSIM))
    endpoints = simulator.ensure()
    assert list(endpoints) == ["carla", "airsim"]
    for endpoint in endpoints.values():
        host, port = endpoint.split(":")
        socket.create_connection((host, int(port))).close()
    pid = simulator.pid
    assert pid is not None
    assert simulator.ensure() == endpoints
    assert simulator.pid == pid
    simulator.stop()
    assert not psutil.pid_exists(pid)


def test_a_dead_server_is_started_again(tmp_path: Path) -> None:
    simulator = started(tmp_path)
    simulator.ensure()
    first = psutil.Process(simulator.pid)
    first.kill()
    simulator._process.wait(5)
    simulator.ensure()
    assert simulator.pid != first.pid
    simulator.stop()


def test_a_dead_server_that_is_not_to_be_restarted(tmp_path: Path) -> None:
    simulator = started(tmp_path, restart=False)
    simulator.ensure()
    psutil.Process(simulator.pid).kill()
    simulator._process.wait(5)
    with pytest.raises(SimulatorLost, match="killed by SIGKILL and its configuration forbids a restart"):
        simulator.ensure()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import sys; sys.exit('no Vulkan device')", "ended with code 1: no Vulkan device"),
        ("import time; time.sleep(600)", r"no CARLA at port \d+ within 0.5 s"),
    ],
)
def test_a_command_that_never_listens(tmp_path: Path, code: str, words: str) -> None:
    before = psutil.Process().children(recursive=True)
    with pytest.raises(SimulatorError, match=words):
        started(tmp_path, code=code, ready_s=0.5 if "sleep" in code else 20.0).ensure()
    assert psutil.Process().children(recursive=True) == before


def test_an_attached_server_is_asked_and_never_ended(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        simulator = attached(tmp_path, port)
        assert simulator.ensure()["carla"] == f"127.0.0.1:{port}"
        assert not simulator.due_for_recycling
        simulator.stop()
        socket.create_connection(("127.0.0.1", port)).close()
    simulator = attached(tmp_path, port)
    with pytest.raises(SimulatorError, match=rf"cannot reach CARLA at 127\.0\.0\.1:{port}: connection refused"):
        simulator.ensure()


def test_an_attached_server_may_still_be_starting_behind_a_forwarded_port(tmp_path: Path) -> None:
    """Docker and ssh accept and close connections before the server listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port, held = server.getsockname()[1], []

        def forward() -> None:
            for _ in range(3):
                server.accept()[0].close()
            held.append(server.accept()[0])

        forwarder = threading.Thread(target=forward)
        forwarder.start()
        simulator = attached(tmp_path, port, wait_s=30.0)
        said: list[str] = []
        simulator.say = said.append
        assert simulator.ensure()["carla"] == f"127.0.0.1:{port}"
        forwarder.join()
        held[0].close()
    assert said == [f"sim: waiting up to 30 s for CARLA at 127.0.0.1:{port}"]


def test_an_attached_server_that_was_lost_may_come_back(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        simulator = attached(tmp_path, port, ready_s=30.0)
        simulator.ensure()
    simulator.lost()
    back = threading.Event()

    def come_back() -> None:
        with socket.create_server(("127.0.0.1", port)):
            back.wait(20)

    waiting = threading.Timer(0.3, come_back)
    waiting.start()
    assert simulator.ensure()["carla"] == f"127.0.0.1:{port}"
    back.set()
    waiting.join()


def test_recycling_by_scenes_and_by_memory(tmp_path: Path) -> None:
    simulator = started(tmp_path, recycle_scenes=2)
    simulator.ensure()
    simulator.scenes_flown = 1
    assert not simulator.due_for_recycling
    simulator.scenes_flown = 2
    assert simulator.due_for_recycling
    simulator.stop()
    heavy = started(tmp_path, recycle_rss_mb=1.0)
    heavy.ensure()
    assert heavy.due_for_recycling
    heavy.stop()


def test_a_docker_command_publishes_on_this_machine_only_and_is_removed(tmp_path: Path) -> None:
    simulator = Simulator(
        SimulatorConfig(kind="docker", ports={"carla": 2000}, gpu=1), servers=(CARLA,), name="sim0", logs=tmp_path
    )
    command, stop = simulator._command({"carla": 2000})
    assert command[:3] == ["docker", "run", "--rm"]
    assert [part for part in command if part.startswith("-p=")] == [f"-p=127.0.0.1:{p}:{p}" for p in (2000, 2001, 2002)]
    assert command[command.index("--gpus") + 1] == "device=1"
    assert command[-1] == "-carla-rpc-port=2000"
    assert stop == ["docker", "rm", "-f", command[command.index("--name") + 1]]


def test_ports_are_read_when_their_line_is_whole() -> None:
    line = '{"carla": 2000, "airsim": 41451}'
    assert announced_ports("compiling\n" + line) == {"carla": 2000, "airsim": 41451}
    for other in (line[:-3], '{"carla": "2000"}', '{"carla": 70000}', '{"carla": true}', '{"carla"' + "[" * 9000, ""):
        assert announced_ports(other) is None


PRINTS_PROGRESS = """
import sys, time
print("headless-simulator: the first start on this machine compiles images, once", file=sys.stderr, flush=True)
time.sleep(0.5)
print("headless-simulator: compiling, once on this machine: images 40%", file=sys.stderr, flush=True)
time.sleep(0.5)
print('{"carla": 2000}', flush=True)
time.sleep(600)
"""


def test_a_simulator_that_says_that_it_compiles_is_compiling(tmp_path: Path) -> None:
    simulator = Simulator(SimulatorConfig(), servers=(), name="mock0", logs=tmp_path)
    tail = {"text": ""}
    simulator.log_tail = lambda: tail["text"]  # type: ignore[method-assign]
    assert not simulator.is_compiling
    tail["text"] = "headless-simulator: the first start compiles the kernels\n"
    assert simulator.is_compiling
    tail["text"] += "headless-simulator: listens\n"
    assert not simulator.is_compiling


def test_what_the_headless_simulator_compiles_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulator = Simulator(SimulatorConfig(kind="mock", ready_s=30.0), servers=(CARLA,), name="mock0", logs=tmp_path)
    monkeypatch.setattr(simulator, "_headless_command", lambda: [sys.executable, "-c", PRINTS_PROGRESS])
    said: list[str] = []
    simulator.say = said.append
    try:
        assert simulator.ensure() == {"carla": "127.0.0.1:2000"}
    finally:
        simulator.stop()
    assert said == [
        "mock0: the first start on this machine compiles images, once",
        "mock0: compiling, once on this machine: images 40%",
    ]
