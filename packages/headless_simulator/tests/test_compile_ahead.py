"""What a machine lacks is compiled ahead, by processes of its own, and it is said; the compiling itself is played here."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import airsim
import pytest
from headless_simulator import compile_ahead
from headless_simulator.compile_ahead import CompileAhead
from headless_simulator.compile_groups import DONE, GROUPS

COMPILES = """
import os, sys, time
reported, *groups = sys.argv[1:]
os.write(1, bytes(range(len(groups))) * 40)
while not os.path.exists(reported):
    time.sleep(0.01)
for number, group in enumerate(groups):
    if group == "flight":
        sys.exit(1)
    os.write(1, bytes([number + 128]))
"""


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A machine that has compiled nothing; what is started is noted."""
    started: list[str] = []

    def command(*groups: str, niceness: int = 0) -> list[str]:
        started.extend(groups)
        return [sys.executable, "-S", "-c", COMPILES, str(tmp_path / "both are reported"), *groups]

    monkeypatch.setattr(compile_ahead, "_command", command)
    monkeypatch.setattr(compile_ahead, "_folder", lambda: tmp_path / "compiled")
    monkeypatch.setattr(compile_ahead, "shipped_folders", dict)
    monkeypatch.setattr(compile_ahead, "_EVERY_S", 0.05)
    return started


def compiled(*groups: str, reported: Callable[[str], None] | None = None) -> list[str]:
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        if reported is not None:
            reported(line)

    with CompileAhead(groups, say=say) as ahead:
        ahead.wait()
    return lines


@pytest.fixture(autouse=True)
def _nobody_waits_to_be_reported(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if "starts" in request.fixturenames:
        (tmp_path / "both are reported").touch()


def test_the_first_start_compiles_and_says_how_far_it_is(starts: list[str], tmp_path: Path) -> None:
    (tmp_path / "both are reported").unlink()
    shares = ", ".join(
        f"{group} {40 / GROUPS[group][1]:.0%}" for group in ("images", "traffic")
    )  # 40 functions of each

    def reported(line: str) -> None:
        if shares in line:
            (tmp_path / "both are reported").touch()

    first, *later = compiled("images", "traffic", reported=reported)

    assert starts == ["images", "traffic"]
    assert first == "the first start in this account compiles images and traffic, once: a minute or so"
    assert later
    assert all(line.startswith("compiling, once in an account: ") for line in later)
    assert any(shares in line and " left" in line for line in later)


def test_the_second_start_compiles_nothing(starts: list[str]) -> None:
    compiled("images", "traffic")
    starts.clear()

    assert compiled("images", "traffic") == []
    assert starts == []


def test_what_came_with_the_package_is_not_compiled(
    starts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    compile_ahead.mark_shipped(tmp_path)
    monkeypatch.setattr(compile_ahead, "shipped_folders", lambda: {"x86-64-v3": tmp_path})

    assert compiled("images", "traffic") == []
    assert starts == []


def test_a_source_that_changed_is_compiled_anew_and_one_that_was_written_again_is_not(
    starts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "package/render/resolve.py"
    source.parent.mkdir(parents=True)
    source.write_text("one = 1")
    monkeypatch.setattr(compile_ahead, "__file__", str(tmp_path / "package/compile_ahead.py"))
    compiled("images")
    os.utime(source, ns=(1, 1))  # as a checkout of another commit and back
    compiled("images")
    assert starts == ["images"]

    source.write_text("one = 2")
    compiled("images")

    assert starts == ["images", "images"]


def test_another_compiler_compiles_anew(starts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled("images")
    monkeypatch.setenv("NUMBA_OPT", "1")  # as another numba or another processor would

    compiled("images")

    assert starts == ["images", "images"]


def test_a_group_that_cannot_be_compiled_is_said_and_tried_again(starts: list[str]) -> None:
    assert compiled("flight")[-1] == "compiling flight failed; it is compiled when it is called"
    compiled("flight")
    assert starts == ["flight", "flight"]


def test_two_simulators_do_not_compile_the_same(starts: list[str], tmp_path: Path) -> None:
    (tmp_path / "both are reported").unlink()  # until then it compiles
    waits = threading.Event()
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        waits.set()

    def second() -> None:
        with CompileAhead(("images",), say=say) as ahead:
            ahead.wait()

    with CompileAhead(("images",), say=lambda _: None) as first:
        other = threading.Thread(target=second)
        other.start()
        assert waits.wait(30)
        (tmp_path / "both are reported").touch()
        first.wait()
        other.join()

    assert lines == ["another process compiles the simulator's code on this machine; waiting for it"]
    assert starts == ["images"]


def test_it_ends_when_it_is_asked_to(starts: list[str]) -> None:
    stop = threading.Event()
    stop.set()
    with CompileAhead(("images",), say=lambda _: None) as ahead:
        ahead.wait(stop=stop)
        process = ahead._process
    assert process is not None
    assert process.poll() is not None


def test_what_compiles_ends_with_who_waits_for_it() -> None:
    program = (
        "import os, time\nfrom headless_simulator import compile_groups as of\n"
        "of.GROUPS['x'] = lambda: (os.write(1, b'.'), time.sleep(600)), 1\nof.compile_groups(['x'])\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"."
        process.kill()
        assert process.stdout.read() == b""  # nobody is left who could write


def test_a_group_that_fails_takes_no_other_with_it() -> None:
    program = (
        "import sys\nfrom headless_simulator import compile_groups as of\n"
        "of.GROUPS.update(x=(lambda: 1 / 0, 1), y=(lambda: None, 1))\nsys.exit(of.compile_groups(['x', 'y']))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, bytes([1 + DONE]))
    assert b"ZeroDivisionError" in done.stderr


def test_what_is_compiled_aside_is_compiled_once(starts: list[str]) -> None:
    compile_ahead.compile_aside("sensors")
    compile_ahead.compile_aside("sensors")
    assert starts == ["sensors"]


@pytest.mark.timeout(600)
def test_nothing_is_left_to_be_compiled_when_the_server_listens() -> None:
    """A real start: the groups hold what a server calls before it listens and flies, with the types it calls it with."""
    command = [
        sys.executable,
        "-m",
        "headless_simulator",
        "--carla-port",
        "0",
        "--airsim-port",
        "0",
        "--town",
        "Town07",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        ports = json.loads(server.stdout.readline())
        client = airsim.MultirotorClient(ip="127.0.0.1", port=ports["airsim"], timeout_value=60)
        client.enableApiControl(True)
        server.terminate()
        said = server.stderr.read()
    assert "compiling late" not in said
