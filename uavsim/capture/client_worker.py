"""The client worker: the process that holds the vendors' clients, controlled by JSON lines and killed at any time.

``client_events.py`` defines the lines. libcarla may abort this interpreter or deadlock it below any time-out, so the
supervisor watches the heartbeats. The worker ends with its standard input, and so never outlives its supervisor.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from uavsim.capture.client_events import (
    PROTOCOL,
    ClientReady,
    ConnectCommand,
    Failure,
    FlyCommand,
    KnownEvent,
    ProbeCommand,
    Progress,
    QuitCommand,
    SampleTaken,
    SceneFlown,
    Woken,
    parse_command,
    to_line,
)
from uavsim.capture.record import record_scene
from uavsim.config.backends import backend_of
from uavsim.config.deadlines import Deadlines
from uavsim.errors import InputError, SimulatorLost, StorageError, SystemFailure, UavsimError
from uavsim.memory import give_back_freed_memory
from uavsim.records.codec import unpack_plan
from uavsim.records.plan import ScenePlan
from uavsim.simulate.hang_watch import HangWatch, WakeableWorld
from uavsim.simulate.ports import Endpoint, Heartbeat
from uavsim.simulate.session import Session, open_session, ports_of

_HEARTBEAT_EVERY_S = 1.0  # each heartbeat wakes the supervisor, which costs a flight some milliseconds


class _Reporter:
    """Writes events; at most one heartbeat a second and phase."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._last, self._phase = out, 0.0, ""
        self._lock = threading.Lock()  # the hang watch reports from its own thread

    def event(self, event: KnownEvent) -> None:
        with self._lock:
            self._out.write(to_line(event) + "\n")
            self._out.flush()

    def heartbeat(self, phase: str, tick: int) -> None:
        now = time.monotonic()
        if phase != self._phase or now - self._last >= _HEARTBEAT_EVERY_S:
            self._phase, self._last = phase, now
            self.event(Progress(phase, tick))

    def ready(self, session: Session) -> None:
        world = session.world
        self.event(ClientReady(world.client_version, world.server_version, world.map_name, protocol=PROTOCOL))

    def error(self, error: UavsimError) -> None:
        retry = isinstance(error, SystemFailure) and not isinstance(error, StorageError)
        self.event(Failure(type(error).__name__, str(error), retry=retry))


def serve(
    commands: TextIO,
    out: TextIO,
    *,
    connect: Callable[[], Session],
    leave: Callable[[int], None] = os._exit,
) -> int:
    """Execute commands until their end; returns the exit code.

    A failed scene ends the process, because a simulator session is not reliable after an error.

    Args:
        commands: lines of ``client_events``.
        out: stream for events.
        connect: opens the session.
        leave: ends the process from another thread when the client hangs in libcarla.
    """
    report = _Reporter(out)
    report.heartbeat("connect", 0)
    try:
        session = connect()
        report.ready(session)
        for line in commands:
            match parse_command(line):
                case ProbeCommand():
                    report.ready(session)
                case FlyCommand(plan=plan, out=folder):
                    _fly(session, _read_plan(Path(plan)), Path(folder), report, leave=leave)
                    give_back_freed_memory()
                case _:
                    break
        session.close()
    except UavsimError as error:
        report.error(error)
        return error.exit_code
    return 0


def _read_plan(path: Path) -> ScenePlan:
    try:
        plan: ScenePlan = unpack_plan(path.read_bytes())
        return plan
    except OSError as error:
        raise InputError(f"{path}: the plan cannot be read: {error.strerror}") from error


def _fly(session: Session, plan: ScenePlan, folder: Path, report: _Reporter, *, leave: Callable[[int], None]) -> None:
    images = 0

    def hang(frame: int) -> None:
        report.error(
            SimulatorLost(
                f"tick {frame} is simulated, but CARLA's client does not return from it: its Traffic Manager waits "
                "indefinitely (docs/troubleshooting.md)"
            )
        )
        leave(SimulatorLost.exit_code)

    def sample_taken(samples: int, images_now: int) -> None:
        nonlocal images
        images = images_now
        report.event(SampleTaken(plan.scene_name, samples, plan.samples, images_now))

    with ExitStack() as stack:
        heartbeat: Heartbeat = report.heartbeat
        if isinstance(session.world, WakeableWorld):
            watch = HangWatch(
                session.world, hang, on_woken=lambda frame: report.event(Woken(frame)), limit_s=session.deadlines.hang_s
            )
            heartbeat = _watched(stack.enter_context(watch), report)
        facts = record_scene(session, plan, folder, heartbeat=heartbeat, sample_taken=sample_taken)
    report.event(
        SceneFlown(
            scene=plan.scene_name,
            recording=str(folder),
            vehicles=facts.vehicles_spawned,
            vehicles_asked=facts.vehicles_asked,
            images=images,
        )
    )


def _watched(watch: HangWatch, report: _Reporter) -> Heartbeat:
    def heartbeat(phase: str, tick: int) -> None:
        watch.note(phase)
        report.heartbeat(phase, tick)

    return heartbeat


def endpoints_of(words: Sequence[str]) -> dict[str, Endpoint]:
    """Parse ``NAME=HOST:PORT`` arguments.

    Raises:
        InputError: an argument has another form.
    """
    endpoints: dict[str, Endpoint] = {}
    for word in words:
        name, equals, address = word.partition("=")
        if not equals:
            raise InputError(f"--endpoint {word!r} is not NAME=HOST:PORT")
        endpoints[name] = Endpoint.parse(address, what=f"--endpoint {name}")
    return endpoints


def _reported_endpoints(topology: str, commands: TextIO) -> dict[str, Endpoint]:
    """Wait for the first command, which names the servers; they start while this process imports their clients.

    Raises:
        InputError: the first command is missing or another one.
    """
    ports_of(backend_of(topology))
    command = parse_command(commands.readline() or to_line(QuitCommand()))
    if not isinstance(command, ConnectCommand):
        raise InputError("the first command must be connect, with the servers' endpoints")
    return {name: Endpoint.parse(address, what=name) for name, address in command.endpoints.items()}


def main() -> None:
    """``python -m uavsim.capture.client_worker --topology T [--endpoint carla=HOST:PORT] [--deadlines JSON]``."""
    parser = argparse.ArgumentParser(
        prog="uavsim-client-worker", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--topology", default="carla")
    parser.add_argument("--endpoint", action="append", default=[], metavar="NAME=HOST:PORT")
    parser.add_argument("--deadlines", type=Deadlines.model_validate_json, default=Deadlines(), metavar="JSON")
    options = parser.parse_args()
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libcarla prints to standard output, which must not mix with the events

    def connect() -> Session:
        named = endpoints_of(options.endpoint) or _reported_endpoints(options.topology, sys.stdin)
        return open_session(options.topology, named, deadlines=options.deadlines)

    code = serve(sys.stdin, events, connect=connect)
    events.flush()
    sys.stderr.flush()
    os._exit(code)  # libcarla's threads may abort or hang a regular interpreter exit


if __name__ == "__main__":
    main()
