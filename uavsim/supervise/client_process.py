"""The supervisor's end of a client process process: commands in, events out, a deadline on every silence.

libcarla can abort its interpreter or deadlock below any time-out of its own, so nothing here trusts the client: every line
must arrive within the phase's deadline, a scene has a deadline of its own, and whatever goes wrong ends in one of our
errors with the client process dead.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from uavsim import errors
from uavsim.errors import SimulatorError, SimulatorLost, SystemFailure, UavsimError
from uavsim.supervise.process import GuardedProcess, exit_text, rss_bytes
from uavsim.typing import JsonDict

__all__ = ["ClientFacts", "ClientProcess", "Deadlines", "Flown", "client_command"]

_LONGEST_LINE = 1 << 20


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long the client process may be silent in each phase, and how long one scene may take, seconds."""

    connect_s: float = 60.0
    load_s: float = 300.0  # a real server needs one to two minutes for a large map
    spawn_s: float = 180.0
    tick_s: float = 60.0
    scene_s: float = 7200.0

    def silence_s(self, phase: str) -> float:
        """Return the longest silence allowed in ``phase``."""
        return {"connect": self.connect_s, "load": self.load_s, "spawn": self.spawn_s}.get(phase, self.tick_s)


@dataclass(frozen=True, slots=True)
class ClientFacts:
    """What the client process said when it was connected."""

    client: str
    server: str
    map_name: str


@dataclass(frozen=True, slots=True)
class Flown:
    """A scene that the client process says is on disk."""

    scene: str
    recording: Path
    facts: JsonDict = field(default_factory=dict)


def client_command(*, carla: str, airsim: str | None, topology: str) -> list[str]:
    """Return the command line of the client process process."""
    command = [sys.executable, "-m", "uavsim.capture.client_worker", "--carla", carla, "--topology", topology]
    return command + (["--airsim", airsim] if airsim else [])


class ClientProcess:
    """One client process process. Use as a context manager, or call ``stop``.

    Args:
        command: see ``client_command``.
        log: gets what the client process prints besides events.
        deadlines: silences and durations.
        home: folder for the client's caches; CARLA's client writes into $HOME.
    """

    def __init__(self, command: Sequence[str], *, log: Path, deadlines: Deadlines, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        # Two OpenCV or BLAS thread pools per client process would fight for cores with the other simulators' client processes.
        env = {"HOME": str(home), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = GuardedProcess(command, log=log, env=env, pipes=True)
        self._deadlines = deadlines
        self._phase = "connect"
        self._buffer = b""
        self.scenes_flown = 0

    def __enter__(self) -> ClientProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def phase(self) -> str:
        """What the client process last said it was doing."""
        return self._phase

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def rss_bytes(self) -> int:
        """Resident memory of the client."""
        return rss_bytes(self._process.child_pid)

    def wait_ready(self) -> ClientFacts:
        """Wait until the client process is connected.

        Raises:
            SimulatorError: not there, another version, or silent.
        """
        return self._facts(self._until("ready", end=time.monotonic() + self._deadlines.connect_s))

    def probe(self) -> ClientFacts:
        """Ask for a sign of life from client process and simulator."""
        self._phase = "connect"
        self._send({"cmd": "probe"})
        return self._facts(self._until("ready", end=time.monotonic() + self._deadlines.connect_s))

    def fly(self, plan: Path, *, out: Path, on_event: Callable[[JsonDict], None]) -> Flown:
        """Fly one scene into ``out``; events arrive in ``on_event`` as they come.

        Raises:
            UavsimError: what the client process reported, or SimulatorLost when it died or fell silent; it is dead then.
        """
        self._phase = "load"
        self._send({"cmd": "fly", "plan": str(plan), "out": str(out)})
        done = self._until("done", end=time.monotonic() + self._deadlines.scene_s, on_event=on_event)
        self.scenes_flown += 1
        facts = {k: v for k, v in done.items() if k not in {"event", "scene", "recording"}}
        return Flown(scene=str(done.get("scene", "")), recording=Path(str(done.get("recording", out))), facts=facts)

    def kill(self) -> None:
        """Kill the client process from another thread than its user's, who sees it die; its pipes stay open for that."""
        self._process.kill()

    def stop(self, *, grace_s: float = 5.0) -> None:
        """Ask the client process to leave, then make it leave."""
        if self.alive and grace_s > 0:
            with contextlib.suppress(BrokenPipeError, ValueError):
                self._process.send_line('{"cmd": "quit"}')
            self._process.close_stdin()
            self._process.wait(grace_s)
        self._process.stop(grace_s=0)

    def _send(self, command: JsonDict) -> None:
        try:
            self._process.send_line(json.dumps(command))
        except (BrokenPipeError, ValueError):
            raise self._death() from None

    def _until(self, wanted: str, *, end: float, on_event: Callable[[JsonDict], None] | None = None) -> JsonDict:
        for event in self._events(end=end):
            if event["event"] == "error":
                self.stop(grace_s=1.0)
                raise _error_from(event)
            if event["event"] == "heartbeat":
                self._phase = str(event.get("phase", self._phase))
            if on_event is not None:
                on_event(event)
            if event["event"] == wanted:
                return event
        raise AssertionError("the event stream ends with an error or not at all")

    def _events(self, *, end: float) -> Iterator[JsonDict]:
        while True:
            yield from self._parsed_lines()
            silence_s = self._deadlines.silence_s(self._phase)
            now = time.monotonic()
            self._read_more(until=min(now + silence_s, end), over=end, silence_s=silence_s)

    def _read_more(self, *, until: float, over: float, silence_s: float) -> None:
        """Read what comes; a client process that says nothing, or only nonsense, until ``until`` is killed."""
        while True:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout_fd], [], [], left)[0]:
                self.stop(grace_s=0)
                if until >= over:
                    raise SimulatorLost(f"not finished in time; killed in phase {self._phase}")
                raise SimulatorLost(f"silent for {silence_s:g} s in phase {self._phase}; killed")
            chunk = os.read(self._process.stdout_fd, 65536)
            if not chunk:
                raise self._death()
            self._buffer += chunk
            if len(self._buffer) > _LONGEST_LINE and b"\n" not in self._buffer:
                self.stop(grace_s=0)
                raise SimulatorLost(f"the client process talks nonsense: a line over {_LONGEST_LINE} bytes; killed")
            if any(_parse(line) for line in self._buffer.split(b"\n")[:-1]):
                return
            self._buffer = self._buffer.rpartition(b"\n")[2]

    def _parsed_lines(self) -> Iterator[JsonDict]:
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            event = _parse(line)
            if event is not None:
                yield event

    def _death(self) -> SystemFailure:
        code = self._process.wait(2.0)
        self._process.stop(grace_s=0)
        tail = self._process.log_tail(lines=1).strip()
        how = exit_text(code) if code is not None else "closed its events and was killed"
        return SimulatorLost(f"the client process {how} in phase {self._phase}" + (f": {tail}" if tail else ""))

    @staticmethod
    def _facts(event: JsonDict) -> ClientFacts:
        return ClientFacts(
            client=str(event.get("client", "?")),
            server=str(event.get("server", "?")),
            map_name=str(event.get("map", "?")),
        )


def _parse(line: bytes) -> JsonDict | None:
    """Return the event, or None for a line that is none: vendors' libraries print where they like."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _error_from(event: JsonDict) -> UavsimError:
    kind = getattr(errors, str(event.get("kind")), None)
    message = " ".join(str(event.get("message", "no reason given")).split())
    if isinstance(kind, type) and issubclass(kind, UavsimError):
        return kind(message)
    return SimulatorError(f"{event.get('kind')}: {message}")
