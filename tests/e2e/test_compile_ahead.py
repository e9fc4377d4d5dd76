"""A client's first flight on a machine: what it runs on images is compiled by another process, all of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator

from tools.common.plans import rig, scene_plan
from uavsim.annotate.compile_ahead import CompileAhead
from uavsim.environment import python_command
from uavsim.records.codec import pack_plan
from uavsim.supervise.client_process import client_command


def compiled(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def test_a_flight_finds_all_that_was_compiled_ahead(
    simulator: RunningSimulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    (tmp_path / "plan").write_bytes(
        pack_plan(scene_plan(samples=2, vehicles=60, cameras=rig(width=160, height=96, sensors=("rgb", "instance"))))
    )
    subprocess.run(python_command("uavsim.annotate.compile_ahead"), check=True)
    ahead = compiled(tmp_path / "code")
    commands = [{"cmd": "fly", "plan": str(tmp_path / "plan"), "out": str(tmp_path / "rec")}, {"cmd": "quit"}]
    flight = subprocess.run(
        client_command(topology="carla", endpoints={"carla": simulator.carla}, python=sys.executable),
        input="".join(json.dumps(command) + "\n" for command in commands),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    events = [json.loads(line) for line in flight.stdout.splitlines()]
    assert any(event["event"] == "done" for event in events), events
    assert not any(event.get("phase") == "compile" for event in events)
    assert ahead
    assert compiled(tmp_path / "code") == ahead


def test_a_client_without_code_waits_for_the_process_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[tuple[str, int]] = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    client = (
        "import json, sys\n"
        "from uavsim.annotate.compile_ahead import CompileAhead\n"
        "with CompileAhead() as ahead:\n"
        "    ahead.wait(lambda phase, tick: print(json.dumps([phase, tick]), flush=True))\n"
    )
    for first in (True, False):
        done = subprocess.run([sys.executable, "-c", client], check=True, stdout=subprocess.PIPE, text=True)
        reported = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
        assert bool(reported) == first
        assert reported == [("compile", tick) for tick in range(len(reported))]
    assert compiled(tmp_path / "code")


def test_what_still_compiles_ends_with_the_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sleeper = [
        sys.executable,
        "-c",
        f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)",
    ]
    monkeypatch.setattr("uavsim.annotate.compile_ahead._is_kept", lambda: False)
    monkeypatch.setattr("uavsim.annotate.compile_ahead.python_command", lambda _: sleeper)
    with CompileAhead():
        end = time.monotonic() + 30
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < end
            time.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
