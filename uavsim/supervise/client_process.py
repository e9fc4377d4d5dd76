"""The supervisor's side of a client process: it sends commands, reads events, and kills a silent process at a deadline.

libcarla can abort its interpreter or deadlock below its own time-outs, so this module does not trust the client: every line
must arrive within the phase's deadline, a scene has its own deadline, and every failure kills the client process and raises a
uavsim error.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from uavsim import errors
from uavsim.capture.client_events import (
    PROTOCOL,
    ClientEvent,
    ClientReady,
    Command,
    ConnectCommand,
    Failure,
    FlyCommand,
    ProbeCommand,
    Progress,
    QuitCommand,
    SceneFlown,
    parse_event,
    to_line,
)
from uavsim.config.deadlines import Deadlines
from uavsim.environment import cache_home, python_command
from uavsim.errors import InputError, SimulatorError, SimulatorLost, SystemFailure, UavsimError
from uavsim.supervise.process import GuardedProcess, core_s, exit_text, rss_bytes

__all__ = ["ONE_THREAD", "ClientProcess", "client_command", "client_environment"]

E = TypeVar("E", ClientReady, SceneFlown)
_LONGEST_LINE = 1 << 20
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"), "1")
"""Limits the thread pools of OpenCV and BLAS, which would compete with the client processes of the other simulators."""


def client_command(*, topology: str, endpoints: Mapping[str, str], deadlines: Deadlines, python: str) -> list[str]:
    """Return the command line of the client process.

    Args:
        topology: a backend of ``config/backends.py``.
        endpoints: ``HOST:PORT`` of its servers by name; empty: ``ClientProcess.connect`` sends them later.
        deadlines: time limits of its calls.
        python: interpreter with the clients.
    """
    limits = ("--deadlines", deadlines.model_dump_json())
    where = [word for name, address in endpoints.items() for word in ("--endpoint", f"{name}={address}")]
    return python_command("uavsim.capture.client_worker", "--topology", topology, *limits, *where, python=python)


def client_environment(home: Path) -> Mapping[str, str | None]:
    """Return the environment variables of a client process; create its ``home``."""
    home.mkdir(parents=True, exist_ok=True)
    env = {"HOME": str(home), **ONE_THREAD}
    if (caches := cache_home()) is not None:
        env["XDG_CACHE_HOME"] = str(caches)  # numba caches machine code there
    return env


class ClientProcess:
    """One client process. Use as a context manager, or call ``stop``.

    Args:
        command: see ``client_command``.
        log: gets the output of the client process, except events.
        deadlines: time limits of silence and of a scene.
        home: folder for the client's caches; CARLA's client writes into $HOME.
    """

    def __init__(self, command: Sequence[str], *, log: Path, deadlines: Deadlines, home: Path) -> None:
        self._process = GuardedProcess(command, log=log, env=client_environment(home), pipes=True)
        self._deadlines = deadlines
        self._phase = "connect"
        self._buffer = b""
        self._events: deque[ClientEvent] = deque()
        self.scenes_flown = 0

    def __enter__(self) -> ClientProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def phase(self) -> str:
        """Phase of the last heartbeat."""
        return self._phase

    @property
    def alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Process id of the client itself, or None after its end."""
        return self._process.child_pid

    @property
    def rss_bytes(self) -> int:
        """Resident memory of the client."""
        return rss_bytes(self.pid)

    @property
    def core_s(self) -> float:
        """Processor seconds of the client so far."""
        return core_s(self.pid)

    def connect(self, endpoints: Mapping[str, str]) -> None:
        """Send the addresses of servers that started later."""
        self._send(ConnectCommand(dict(endpoints)))

    def wait_ready(self) -> ClientReady:
        """Wait until the client process is connected.

        Raises:
            SimulatorError: the simulator is missing, silent, or has another version.
            InputError: the client process has another version of uavsim.
        """
        ready = self._until(ClientReady, end=time.monotonic() + self._deadlines.silence_s("connect"))
        if ready.protocol != PROTOCOL:
            self.stop(grace_s=1.0)
            raise InputError(
                f"{self._process.command[0]} has another version of uavsim: its client worker speaks protocol "
                f"{ready.protocol}, this one {PROTOCOL}; install the same version in both environments"
            )
        return ready

    def probe(self) -> ClientReady:
        """Check that client process and simulator respond."""
        self._phase = "connect"
        self._send(ProbeCommand())
        return self._until(ClientReady, end=time.monotonic() + self._deadlines.silence_s("connect"))

    def fly(self, plan: Path, *, out: Path, on_event: Callable[[ClientEvent], None]) -> SceneFlown:
        """Fly one scene into ``out``; ``on_event`` receives events immediately.

        Raises:
            UavsimError: the error that the client process reported, or SimulatorLost when it died or was killed as silent.
        """
        self._phase = "load"
        self._send(FlyCommand(str(plan), str(out)))
        flown = self._until(SceneFlown, end=time.monotonic() + self._deadlines.scene_s, on_event=on_event)
        self.scenes_flown += 1
        return flown

    def kill(self) -> None:
        """Kill the client process from another thread; its pipes stay open so that the thread using it notices."""
        self._process.kill()

    def stop(self, *, grace_s: float = 5.0) -> None:
        """Ask the client process to end, then kill it."""
        if self.alive and grace_s > 0:
            with contextlib.suppress(BrokenPipeError, ValueError):
                self._process.send_line(to_line(QuitCommand()))
            self._process.close_stdin()
            self._process.wait(grace_s)
        self._process.stop(grace_s=0)

    def _send(self, command: Command) -> None:
        try:
            self._process.send_line(to_line(command))
        except (BrokenPipeError, ValueError):
            raise self._death() from None

    def _until(self, event_type: type[E], *, end: float, on_event: Callable[[ClientEvent], None] | None = None) -> E:
        while True:
            event = self._next_event(end=end)
            if isinstance(event, Failure):
                self.stop(grace_s=1.0)
                raise _error_from(event)
            if isinstance(event, Progress):
                self._phase = event.phase
            if on_event is not None:
                on_event(event)
            if isinstance(event, event_type):
                return event

    def _next_event(self, *, end: float) -> ClientEvent:
        """Return the next event; kill a client process without a valid event before ``end``."""
        silence_s = self._deadlines.silence_s(self._phase)
        until = min(time.monotonic() + silence_s, end)
        while not self._events:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout_fd], [], [], left)[0]:
                self.stop(grace_s=0)
                if until >= end:
                    raise SimulatorLost(f"not finished in time; killed in phase {self._phase}")
                raise SimulatorLost(f"silent for {silence_s:g} s in phase {self._phase}; killed")
            self._read()
        return self._events.popleft()

    def _read(self) -> None:
        chunk = os.read(self._process.stdout_fd, 65536)
        if not chunk:
            raise self._death()
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        if len(self._buffer) > _LONGEST_LINE:
            self.stop(grace_s=0)
            raise SimulatorLost(f"the client process sent a line over {_LONGEST_LINE} bytes; killed")
        try:
            self._events.extend(event for line in lines if (event := parse_event(line)) is not None)
        except SimulatorError:
            self.stop(grace_s=0)
            raise

    def _death(self) -> SystemFailure:
        code = self._process.wait(2.0)
        self._process.stop(grace_s=0)
        tail = self._process.log_tail(lines=1).strip()
        how = exit_text(code) if code is not None else "closed its event stream and was killed"
        return SimulatorLost(f"the client process {how} in phase {self._phase}" + (f": {tail}" if tail else ""))


def _error_from(failure: Failure) -> UavsimError:
    kind = getattr(errors, failure.kind, None)
    message = " ".join(failure.message.split())
    if isinstance(kind, type) and issubclass(kind, UavsimError):
        return kind(message)
    return SimulatorError(f"{failure.kind}: {message}")
