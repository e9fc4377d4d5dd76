"""A client's first flight on a machine: what it runs on images is compiled by another process, all of it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from headless_simulator.testing import RunningSimulator

from tools.common.plans import rig, scene_plan
from uavsim.annotate.compile_ahead import CompileAhead
from uavsim.records.codec import pack_plan
from uavsim.supervise.client_process import client_command


def compiled(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


CLIENT = (
    "import json, sys\n"
    "from uavsim.annotate.compile_ahead import CompileAhead\n"
    "with CompileAhead() as ahead:\n"
    "    ahead.wait(lambda phase, tick: print(json.dumps([phase, tick]), flush=True))\n"
)


@pytest.fixture(scope="module")
def ahead(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[tuple[str, int]]]]:
    """Compile into a folder as a client does that finds nothing there; yields it, and what that client reported."""
    with pytest.MonkeyPatch.context() as patch:
        code = tmp_path_factory.mktemp("code")
        patch.setenv("NUMBA_CACHE_DIR", str(code))
        yield code, reported_by_client()


def reported_by_client() -> list[tuple[str, int]]:
    done = subprocess.run([sys.executable, "-c", CLIENT], check=True, stdout=subprocess.PIPE, text=True)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def test_a_flight_finds_all_that_was_compiled_ahead(
    simulator: RunningSimulator, tmp_path: Path, ahead: tuple[Path, list[tuple[str, int]]]
) -> None:
    code, _ = ahead
    (tmp_path / "plan").write_bytes(
        pack_plan(scene_plan(samples=2, vehicles=60, cameras=rig(width=160, height=96, sensors=("rgb", "instance"))))
    )
    before = compiled(code)
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
    assert before
    assert compiled(code) == before


def test_a_client_without_code_waits_for_the_process_that_makes_it(ahead: tuple[Path, list[tuple[str, int]]]) -> None:
    code, reported = ahead
    assert reported
    assert reported == [("compile", tick) for tick in range(len(reported))]
    assert compiled(code)
    assert not reported_by_client()


def test_what_still_compiles_ends_with_the_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sleeper = [
        sys.executable,
        "-c",
        f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)",
    ]
    monkeypatch.setattr("uavsim.annotate.compile_ahead._is_kept", lambda: False)
    monkeypatch.setattr("uavsim.annotate.compile_ahead.python_command", lambda *_: sleeper)
    with CompileAhead():
        end = time.monotonic() + 30
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < end
            time.sleep(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
