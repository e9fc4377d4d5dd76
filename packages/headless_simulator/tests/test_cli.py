"""The command line: each refusal is one line."""

import contextlib
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from headless_simulator.cli import main


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that is listened on, with a free one below it: both outside the range from which others are given theirs."""
    first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.Random(os.getpid()).sample(range(10_000, first_ephemeral), 100):
        with contextlib.ExitStack() as bound:
            try:
                bound.enter_context(socket.create_server(("127.0.0.1", port)))
                socket.create_server(("127.0.0.1", port - 1)).close()
            except OSError:
                continue
            yield port
            return
    pytest.fail("no two neighbouring ports are free")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--carla-port", "99999"], "argument --carla-port: port 99999 must be from 0 to 65534"),
        (["--render-latency", "nan"], "argument --render-latency: pause nan must be from 0 to below 60000 ms"),
        (["--rendr", "full"], "unrecognized arguments: --rendr full"),
        (["--town", "Atlantis"], "Atlantis"),
        (["--calibration", "/no/answers.json"], "/no/answers.json"),
    ],
)
def test_a_refusal_is_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    (line,) = [line for line in capsys.readouterr().err.splitlines() if "compil" not in line]
    assert ended.value.code == 2
    assert line.startswith("headless-simulator: ")
    assert message in line


@pytest.mark.parametrize(
    ("option", "below"),
    [
        ("--carla-port", 0),
        pytest.param("--carla-port", 1, marks=pytest.mark.release),
        pytest.param("--airsim-port", 0, marks=pytest.mark.release),
    ],
    ids=["rpc", "streams", "airsim"],
)
def test_taken_port_is_reported_with_a_remedy(option: str, below: int, taken: int) -> None:
    words = ["--carla-port", "0", "--airsim-port", "0", "--render", "flat", option, str(taken - below)]
    command = [sys.executable, "-m", "headless_simulator", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)

    (line,) = [line for line in done.stderr.splitlines() if "compil" not in line]
    assert done.returncode == 3
    assert line == (
        f"headless-simulator: port {taken} of 127.0.0.1: Address already in use; end the program there, or "
        f"choose another port: {option} (0: any)"
    )
    assert not done.stdout


def test_write_xodr_writes_the_map_and_exits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "town.xodr"
    main(["--town", "Town07", "--write-xodr", str(path)])

    assert capsys.readouterr().out == ""
    assert len(ElementTree.parse(path).findall("road")) > 10
