"""One simulator process: start, wait until ready, stop, restart; an attached simulator is only watched."""

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from uavsim.config.backends import CARLA, HEADLESS, Server
from uavsim.config.run import SimulatorConfig
from uavsim.environment import python_command
from uavsim.errors import SimulatorError, SimulatorLost
from uavsim.files.parse import parse_json
from uavsim.supervise.process import GuardedProcess, exit_text, is_stopped, rss_bytes

_POLL_S = 0.05
_CONNECT_S = 2.0
_FORWARDED_S = 0.25  # in which a forwarded connection to nothing is closed
_PREFIX = "headless-simulator: "
_COMPILING = (f"{_PREFIX}the first start", f"{_PREFIX}compiling", f"{_PREFIX}another process compiles")
_CARLA_IMAGE_COMMAND = ("bash", "CarlaUE4.sh", "-RenderOffScreen", "-nosound")


class Simulator:
    """The server side of one simulator slot.

    Args:
        config: configuration of the simulator.
        servers: servers of the backend; empty: nothing is started.
        name: for logs.
        logs: folder for ``<name>.log``, the output of the process.

    Attributes:
        say: prints a line of progress, such as the headless simulator's compiling.
        ending: set by another thread to end the simulator; a waiting start then fails at once.
    """

    def __init__(self, config: SimulatorConfig, *, servers: Sequence[Server], name: str, logs: Path) -> None:
        self.config, self.name = config, name
        self.say: Callable[[str], None] = _discard
        self.ending = threading.Event()
        self._servers = tuple(servers)
        self._log = logs / f"{name}.log"
        self._process: GuardedProcess | None = None
        self._endpoints: dict[str, str] | None = None
        self._answered_before = False
        self.scenes_flown = 0

    @property
    def is_ours(self) -> bool:
        """Return whether the run starts and stops the simulator; False for an attached one."""
        return self.config.kind != "attach"

    @property
    def pid(self) -> int | None:
        """Process id of the server; None when attached or not running."""
        process = self._process  # another thread may end it
        return process.child_pid if process else None

    @property
    def is_stopped(self) -> bool:
        """Return whether the process is stopped by a signal; False when attached."""
        process = self._process
        return process is not None and is_stopped(process.pid)

    @property
    def printed_bytes(self) -> int:
        """Return the size of the log, bytes; 0 when attached."""
        return self._log.stat().st_size if self._log.exists() else 0

    @property
    def is_compiling(self) -> bool:
        """Return whether the last line of the log reports compiling, which takes minutes."""
        return self.log_tail().rstrip().rpartition("\n")[2].startswith(_COMPILING)

    @property
    def log_hint(self) -> str:
        """Return a reference to the log for a failed start; empty when attached."""
        return f" (log: {self._log})" if self.is_ours else ""

    @property
    def end(self) -> str | None:
        """Describe an unexpected end of the process; None while it runs or when attached."""
        code = self._process.poll() if self._process else None
        return None if code is None else exit_text(code)

    @property
    def due_for_recycling(self) -> bool:
        """Return whether the simulator reached its limit of scenes or memory."""
        heavy = rss_bytes(self.pid) > self.config.recycle_rss_mb * 1e6
        return self.is_ours and (heavy or self.scenes_flown >= self.config.recycle_scenes)

    @property
    def address(self) -> str:
        """Return the first server's address when attached: equal for all runs that share the simulator."""
        first = self._servers[0].name if self._servers else ""
        return _join(self.config.host, self.config.ports.get(first, 0))

    def ensure(self) -> dict[str, str]:
        """Start the simulator unless it runs or is attached; returns its servers' ``HOST:PORT`` by name.

        Raises:
            SimulatorError: the simulator does not answer.
        """
        if self._process is not None and (code := self._process.poll()) is not None:
            tail = self._process.log_tail(lines=1)
            self.stop()
            if not self.config.restart:
                raise SimulatorLost(f"{self.name} {exit_text(code)} and its configuration forbids a restart: {tail}")
        if self._endpoints is None:
            self._endpoints = self._start() if self.is_ours else self._attach()
            self._answered_before = True
        return self._endpoints

    def stop(self) -> None:
        """End the process with SIGTERM, then SIGKILL; no effect when attached."""
        process = self._process  # another thread may be waiting for it, or ending it too
        if process is not None:
            process.stop(grace_s=4.0)
        self._process, self._endpoints, self.scenes_flown = None, None, 0

    def kill(self) -> None:
        """Kill the process from any thread; no effect when attached."""
        process = self._process
        if process is not None:
            process.kill()

    def log_tail(self) -> str:
        """Return the last lines of the log; empty when attached."""
        return self._process.log_tail(lines=200) if self._process is not None else ""

    def lost(self) -> None:
        """Handle a failure: kill the process, or check an attached simulator before the next scene."""
        self.kill()
        self.stop()

    def _attach(self) -> dict[str, str]:
        patience_s = self.config.ready_s if self._answered_before else self.config.wait_s  # a lost one may come back
        end = time.monotonic() + max(patience_s, _CONNECT_S)
        host, ports = self.config.host, self.config.ports
        for server in self._servers:
            if server.name not in ports:
                raise SimulatorError(f"{self.name}: no port is set for {server.title}; add it to ports")
            self._wait_for_port(host, ports[server.name], end=end, server=server)
        return {server.name: _join(host, ports[server.name]) for server in self._servers}

    def _start(self) -> dict[str, str]:
        if not self._servers:
            return {}
        end = time.monotonic() + self.config.ready_s
        if self.config.kind == "mock":
            self._process = GuardedProcess(self._headless_command(), log=self._log)
            ports = self._announced_ports(end=end)
        else:
            ports = self._chosen_ports()
            command, stop_command = self._command(ports)
            self._process = GuardedProcess(command, log=self._log, stop_command=stop_command)
            for server in self._servers:
                self._wait_while_alive(ports[server.name], end=end, what=server.title)
        return {server.name: _join("127.0.0.1", ports[server.name]) for server in self._servers}

    def _chosen_ports(self) -> dict[str, int]:
        """Return a port for each server of the backend or the configuration."""
        adjacent = {server.name: server.adjacent_ports for server in self._servers}
        names = dict.fromkeys([*adjacent, *self.config.ports])
        return {name: self.config.ports.get(name) or _free_ports(adjacent.get(name, 1)) for name in names}

    def _headless_command(self) -> list[str]:
        ports = [
            word for name in ("carla", "airsim") for word in (f"--{name}-port", str(self.config.ports.get(name, 0)))
        ]
        return python_command("headless_simulator", *ports, *self.config.arguments)

    def _command(self, ports: Mapping[str, int]) -> tuple[list[str], list[str]]:
        """Return the start command and the stop command."""
        if self.config.kind == "command":
            fill = {f"{name}_port": port for name, port in ports.items()} | {"gpu": self.config.gpu or 0}
            return [_filled(part, fill) for part in (*self.config.command, *self.config.arguments)], []
        carla = ports[CARLA.name]
        container = f"uavsim-{self.name}-{os.getpid()}-{os.urandom(3).hex()}"
        publish = [f"-p=127.0.0.1:{port}:{port}" for port in range(carla, carla + CARLA.adjacent_ports)]
        gpu = "all" if self.config.gpu is None else f"device={self.config.gpu}"
        options = ["--rm", "--name", container, "--gpus", gpu, *publish, *self.config.docker_options]
        arguments = [*_CARLA_IMAGE_COMMAND, f"-carla-rpc-port={carla}", *self.config.arguments]
        return ["docker", "run", *options, self.config.image, *arguments], ["docker", "rm", "-f", container]

    def _announced_ports(self, *, end: float) -> dict[str, int]:
        """Wait for the line ``{"carla": port, "airsim": port}`` of the headless simulator."""
        process = self._process
        assert process is not None
        said = ""
        while time.monotonic() < end:
            code, log = process.poll(), process.log_tail(lines=1000)
            announced = announced_ports(log)
            if announced is not None:
                return self._known_ports(announced)
            notes = [text.removeprefix(_PREFIX) for text in log.splitlines() if text.startswith(_COMPILING)]
            if notes and notes[-1] != said:
                said = notes[-1]
                self.say(f"{self.name}: {said}")
            if code is not None:
                tail = process.log_tail(lines=1)
                self.stop()
                raise _end_of(f"{self.name}: the headless simulator {exit_text(code)} before it listened", code, tail)
            self._pause()
        self.lost()
        raise SimulatorError(
            f"{self.name}: the headless simulator did not listen within {self.config.ready_s:g} s; see {self._log}"
        )

    def _known_ports(self, announced: Mapping[str, int]) -> dict[str, int]:
        for server in self._servers:
            if server.name not in announced:
                self.stop()
                raise SimulatorError(
                    f"{self.name}: the headless simulator serves {', '.join(announced)}, not {server.name}"
                )
        return dict(announced)

    def _wait_while_alive(self, port: int, *, end: float, what: str) -> None:
        process = self._process
        assert process is not None
        while _refusal("127.0.0.1", port) is not None:
            if (code := process.poll()) is not None:
                what_ran, tail = " ".join(process.command[:3]), process.log_tail(lines=1)
                self.stop()
                raise _end_of(f"{self.name}: {what_ran} {exit_text(code)}", code, tail)
            if time.monotonic() > end:
                self.lost()
                raise SimulatorError(
                    f"{self.name}: started, but no {what} at port {port} within {self.config.ready_s:g} s; see {self._log}"
                )
            self._pause()

    def _wait_for_port(self, host: str, port: int, *, end: float, server: Server) -> None:
        address, is_told = _join(host, port), False
        while (reason := _refusal(host, port)) is not None:
            left_s = end - time.monotonic()
            if left_s < 0:
                instead = ", or use --simulator mock" if server.name in HEADLESS else ""
                raise SimulatorError(f"cannot reach {server.title} at {address}: {reason.lower()}; start it{instead}")
            if not is_told and left_s > _CONNECT_S:
                self.say(f"{self.name}: waiting up to {left_s:.0f} s for {server.title} at {address}")
                is_told = True
            self._pause()

    def _pause(self) -> None:
        """Wait a moment between two checks of a start.

        Raises:
            SimulatorLost: the run is ending.
        """
        if self.ending.wait(_POLL_S):
            self.lost()
            raise SimulatorLost(f"{self.name}: the run ended during its start")


def _end_of(what: str, code: int, tail: str) -> SimulatorError:
    """Return the error of a process that ended during its start; after a signal, a retry may succeed."""
    said = f"{what}: {tail.strip()}" if tail.strip() else what
    return SimulatorLost(said) if code < 0 else SimulatorError(said)


def announced_ports(log: str) -> dict[str, int] | None:
    """Return the ports in a headless simulator's log; None until the line is complete."""
    for line in log.splitlines():
        if line.startswith('{"carla"'):
            try:
                named = parse_json(line)
            except ValueError:
                continue
            if all(type(port) is int and 0 < port < 1 << 16 for port in named.values()):
                return cast("dict[str, int]", named)
    return None


def _discard(line: str) -> None:
    del line


def _refusal(host: str, port: int) -> str | None:
    """Return the reason why a port takes no connections; None if it does.

    Docker and ssh accept connections to a port that they forward before the server behind it listens, and close them.
    """
    try:
        connection = socket.create_connection((host, port), timeout=_CONNECT_S)
    except OSError as error:
        return error.strerror or str(error) or "no answer"
    with connection:
        connection.settimeout(_FORWARDED_S)
        try:
            return None if connection.recv(1) else "the connection was closed at once"
        except TimeoutError:  # it stays open
            return None
        except OSError as error:
            return error.strerror or str(error)


def _free_ports(count: int) -> int:
    """Return the first of ``count`` adjacent free ports; another program may still take one."""
    while True:
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = int(first.getsockname()[1])
            if port + count < 65536 and all(_is_free(port + k) for k in range(1, count)):
                return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _filled(part: str, fill: Mapping[str, object]) -> str:
    for key, value in fill.items():
        part = part.replace("{" + key + "}", str(value))
    return part


def _join(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
