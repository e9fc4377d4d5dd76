"""The client: the one process that holds the vendors' clients, flown by JSON lines and killed at will.

    in    {"cmd": "probe"}  {"cmd": "fly", "plan": FILE, "out": FOLDER}  {"cmd": "quit"}
    out   {"event": "ready", "client", "server", "map"}
          {"event": "heartbeat", "phase": connect|load|spawn|swarm|warmup|fly, "tick": n}
          {"event": "sample", "scene", "sample", "samples", "images"}
          {"event": "done", "scene", "recording", "vehicles", "vehicles_asked", "images"}
          {"event": "error", "kind", "message", "retry"}

libcarla may abort this interpreter or deadlock it below any time-out: whoever starts it watches its heartbeats. It ends
when its standard input does, so it never outlives its supervisor.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from uavsim.capture.record import record_scene
from uavsim.errors import InputError, StorageError, SystemFailure, UavsimError
from uavsim.records.codec import unpack_plan
from uavsim.records.plan import ScenePlan
from uavsim.simulate.session import Endpoint, Session, open_session

__all__ = ["main", "serve"]

_HEARTBEAT_EVERY_S = 0.2


class _Reporter:
    """Writes events, one JSON object a line; heartbeats are thinned to a few a second."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._last, self._phase = out, 0.0, ""

    def event(self, name: str, **facts: Any) -> None:
        self._out.write(json.dumps({"event": name, **facts}) + "\n")
        self._out.flush()

    def heartbeat(self, phase: str, tick: int) -> None:
        now = time.monotonic()
        if phase != self._phase or now - self._last >= _HEARTBEAT_EVERY_S:
            self._phase, self._last = phase, now
            self.event("heartbeat", phase=phase, tick=tick)

    def error(self, error: UavsimError) -> None:
        retry = isinstance(error, SystemFailure) and not isinstance(error, StorageError)
        self.event("error", kind=type(error).__name__, message=str(error), retry=retry)


def serve(commands: TextIO, out: TextIO, *, connect: Callable[[], Session]) -> int:
    """Obey commands until their end; returns the exit code.

    A failed scene ends the process: what is left of a simulator session after an error is not worth trusting.
    """
    report = _Reporter(out)
    report.heartbeat("connect", 0)
    try:
        session = connect()
        report.event(
            "ready",
            client=session.world.client_version,
            server=session.world.server_version,
            map=session.world.map_name,
        )
        for line in commands:
            command = json.loads(line)
            if command["cmd"] == "quit":
                break
            if command["cmd"] == "probe":
                report.event("ready", client=session.world.client_version, server=session.world.server_version,
                             map=session.world.map_name)  # fmt: skip
            elif command["cmd"] == "fly":
                _fly(session, _read_plan(Path(command["plan"])), Path(command["out"]), report)
            else:
                raise InputError(f"the client process does not know the command {command['cmd']!r}")
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


def _fly(session: Session, plan: ScenePlan, folder: Path, report: _Reporter) -> None:
    images = 0

    def sample_taken(samples: int, images_now: int) -> None:
        nonlocal images
        images = images_now
        report.event("sample", scene=plan.scene_name, sample=samples, samples=plan.samples, images=images_now)

    facts = record_scene(session, plan, folder, heartbeat=report.heartbeat, sample_taken=sample_taken)
    report.event(
        "done",
        scene=plan.scene_name,
        recording=str(folder),
        vehicles=facts.vehicles_spawned,
        vehicles_asked=facts.vehicles_asked,
        images=images,
    )


def main() -> None:
    """``python -m uavsim.capture.client_worker --carla HOST:PORT [--airsim HOST:PORT] --topology T``."""
    parser = argparse.ArgumentParser(
        prog="uavsim-client-worker", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--carla", required=True)
    parser.add_argument("--airsim")
    parser.add_argument("--topology", default="carla")
    options = parser.parse_args()
    events = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libcarla prints to standard output; that must not mix with the events

    def connect() -> Session:
        airsim = Endpoint.parse(options.airsim, what="--airsim") if options.airsim else None
        return open_session(options.topology, carla=Endpoint.parse(options.carla, what="--carla"), airsim=airsim)

    code = serve(sys.stdin, events, connect=connect)
    events.flush()
    sys.stderr.flush()
    os._exit(code)  # libcarla's threads may abort or hang a regular interpreter exit


if __name__ == "__main__":
    main()
