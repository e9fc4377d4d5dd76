"""One simulator process: started, known to be ready, stopped, started again. Attached ones are only watched."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from uavsim.config.run import SimulatorConfig
from uavsim.errors import SimulatorError, SimulatorLost
from uavsim.supervise.process import GuardedProcess, exit_text, rss_bytes

__all__ = ["Endpoints", "Simulator"]

_POLL_S = 0.05
_CONNECT_S = 2.0
_DOCKER_HOME_ARGUMENTS = ("bash", "CarlaUE4.sh", "-RenderOffScreen", "-nosound")


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where the two servers answer."""

    carla: str
    airsim: str | None

    @property
    def text(self) -> str:
        """For people."""
        return f"CARLA at {self.carla}" + (f", AirSim at {self.airsim}" if self.airsim else "")


class Simulator:
    """The server side of one slot.

    Args:
        config: how to reach or start it.
        name: for logs.
        logs: folder that gets ``<name>.log``, what the process prints.
    """

    def __init__(self, config: SimulatorConfig, *, name: str, logs: Path) -> None:
        self.config, self.name = config, name
        self._log = logs / f"{name}.log"
        self._process: GuardedProcess | None = None
        self._endpoints: Endpoints | None = None
        self._answered_before = False
        self.scenes_flown = 0

    @property
    def is_ours(self) -> bool:
        """Whether the run starts and stops it."""
        return self.config.kind != "attach"

    @property
    def pid(self) -> int | None:
        """Of the server process, if it is ours and runs."""
        return self._process.child_pid if self._process else None

    @property
    def due_for_recycling(self) -> bool:
        """Whether it has flown or holds more than it should."""
        heavy = rss_bytes(self.pid) > self.config.recycle_rss_mb * 1e6
        return self.is_ours and (heavy or self.scenes_flown >= self.config.recycle_scenes)

    def ensure(self) -> Endpoints:
        """Return where it answers; start it first if it is ours and does not run.

        Raises:
            SimulatorError: it does not answer; the message says what was tried and what came back.
        """
        if self._process is not None and (code := self._process.poll()) is not None:
            tail = self._process.log_tail(lines=1)
            self.stop()
            if not self.config.restart:
                raise SimulatorLost(f"{self.name} {exit_text(code)} and is not to be restarted: {tail}")
        if self._endpoints is None:
            self._endpoints = self._start() if self.is_ours else self._attach()
            self._answered_before = True
        return self._endpoints

    def stop(self) -> None:
        """End it, if it is ours; SIGTERM first."""
        if self._process is not None:
            self._process.stop(grace_s=4.0)
        self._process, self._endpoints, self.scenes_flown = None, None, 0

    def log_tail(self) -> str:
        """Return the last lines that its process printed; empty when it is not ours."""
        return self._process.log_tail(lines=200) if self._process is not None else ""

    def lost(self) -> None:
        """Note that it failed: what is ours is killed, an attached one is asked again next time."""
        if self._process is not None:
            self._process.kill()
        self.stop()

    def _attach(self) -> Endpoints:
        host, port = self.config.host, self.config.carla_port
        airsim_port = self.config.airsim_port
        end = time.monotonic() + (
            self.config.ready_s if self._answered_before else _CONNECT_S
        )  # a lost one may come back
        for what, asked in (("CARLA", port), ("AirSim", airsim_port)):
            if asked is not None:
                _wait_for_port(host, asked, end=end, what=what, hint="start it, or use --simulator mock")
        return Endpoints(_join(host, port), _join(host, airsim_port) if airsim_port is not None else None)

    def _start(self) -> Endpoints:
        end = time.monotonic() + self.config.ready_s
        if self.config.kind == "mock":
            self._process = GuardedProcess(self._mock_command(), log=self._log)
            carla_port, airsim_port = self._announced_ports(end=end)
            return Endpoints(_join("127.0.0.1", carla_port), _join("127.0.0.1", airsim_port) if airsim_port else None)
        carla_port = self.config.carla_port or _free_ports(3)
        airsim_port = _free_ports(1) if self.config.airsim_port == 0 else self.config.airsim_port
        command, stop_command = self._command(carla_port=carla_port, airsim_port=airsim_port)
        self._process = GuardedProcess(command, log=self._log, stop_command=stop_command)
        for what, port in (("CARLA", carla_port), ("AirSim", airsim_port)):
            if port is not None:
                self._wait_while_it_lives(port, end=end, what=what)
        return Endpoints(
            _join("127.0.0.1", carla_port), _join("127.0.0.1", airsim_port) if airsim_port is not None else None
        )

    def _mock_command(self) -> list[str]:
        ports = ["--carla-port", str(self.config.carla_port), "--airsim-port", str(self.config.airsim_port or 0)]
        return [sys.executable, "-m", "uavsim", "mock-sim", *ports, *self.config.arguments]

    def _command(self, *, carla_port: int, airsim_port: int | None) -> tuple[list[str], list[str]]:
        fill = {"carla_port": carla_port, "airsim_port": airsim_port or "", "gpu": self.config.gpu or 0}
        if self.config.kind == "command":
            return [_filled(part, fill) for part in (*self.config.command, *self.config.arguments)], []
        container = f"uavsim-{self.name}-{os.getpid()}-{os.urandom(3).hex()}"
        publish = [f"-p=127.0.0.1:{p}:{p}" for p in (carla_port, carla_port + 1, carla_port + 2)]
        gpu = "all" if self.config.gpu is None else f"device={self.config.gpu}"
        options = ["--rm", "--name", container, "--gpus", gpu, *publish, *self.config.docker_options]
        arguments = [*_DOCKER_HOME_ARGUMENTS, f"-carla-rpc-port={carla_port}", *self.config.arguments]
        return ["docker", "run", *options, self.config.image, *arguments], ["docker", "rm", "-f", container]

    def _announced_ports(self, *, end: float) -> tuple[int, int | None]:
        """Wait for the line ``{"carla": port, "airsim": port}`` of the headless simulator."""
        assert self._process is not None
        while time.monotonic() < end:
            code = self._process.poll()
            for line in self._process.log_tail(lines=1000).splitlines():
                if line.startswith('{"carla"'):
                    ports = json.loads(line)
                    return int(ports["carla"]), ports.get("airsim")
            if code is not None:
                tail = self._process.log_tail(lines=1)
                self.stop()
                raise SimulatorError(
                    f"{self.name}: the headless simulator {exit_text(code)} before it listened: {tail}"
                )
            time.sleep(_POLL_S)
        self.lost()
        raise SimulatorError(
            f"{self.name}: the headless simulator did not listen within {self.config.ready_s:g} s; see {self._log}"
        )

    def _wait_while_it_lives(self, port: int, *, end: float, what: str) -> None:
        assert self._process is not None
        while not _answers("127.0.0.1", port):
            if (code := self._process.poll()) is not None:
                what_ran, tail = " ".join(self._process.command[:3]), self._process.log_tail(lines=1)
                self.stop()
                raise SimulatorError(f"{self.name}: {what_ran} {exit_text(code)}: {tail}")
            if time.monotonic() > end:
                self.lost()
                raise SimulatorError(
                    f"{self.name}: started, but no {what} at port {port} within {self.config.ready_s:g} s; see {self._log}"
                )
            time.sleep(_POLL_S)


def _wait_for_port(host: str, port: int, *, end: float, what: str, hint: str) -> None:
    while True:
        try:
            socket.create_connection((host, port), timeout=_CONNECT_S).close()
        except OSError as error:
            if time.monotonic() > end:
                reason = error.strerror or str(error) or "no answer"
                raise SimulatorError(f"tried {what} at {_join(host, port)}: {reason.lower()}; {hint}") from None
            time.sleep(_POLL_S)
        else:
            return


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=_CONNECT_S).close()
    except OSError:
        return False
    return True


def _free_ports(count: int) -> int:
    """Return the first of ``count`` adjacent ports that were free a moment ago."""
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
