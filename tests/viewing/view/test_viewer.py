"""The viewer: its address is valid when returned, and it ends with its last user, for any reason."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from uavsim.errors import InputError, SystemFailure
from uavsim.viewing.view import viewer
from uavsim.viewing.view.viewer import open_viewer

SERVES = """
import socket, sys, time
time.sleep(0.3)
held = [socket.create_server(("127.0.0.1", int(port))) for port in sys.argv[1:]]
time.sleep(300)
"""


def free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def test_viewer_is_open_inside_the_context_and_ended_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data, page = free_ports()
    monkeypatch.setattr(viewer, "viewer_command", lambda **_: [sys.executable, "-c", SERVES, str(data), str(page)])
    with open_viewer(web=True, port=data, web_port=page) as opened:
        for port in (data, page):
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        assert opened.is_open()
        assert opened.page == f"http://127.0.0.1:{page}/?url=rerun%2Bhttp://127.0.0.1:{data}/proxy"
    assert not opened.is_open()


def test_failed_viewer_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    data, page = free_ports()
    monkeypatch.setattr(viewer, "viewer_command", lambda **_: [sys.executable, "-c", "raise SystemExit(7)"])
    with pytest.raises(SystemFailure, match="ended with exit code 7"), open_viewer(web=True, port=data, web_port=page):
        pytest.fail("opened")


def test_port_in_use_is_refused_before_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    data, _ = free_ports()
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is taken"),
            open_viewer(web=True, port=data, web_port=port),
        ):
            pytest.fail("opened")


@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(number, marks=pytest.mark.release) for number in (signal.SIGTERM, signal.SIGHUP))],
)
def test_signal_ends_the_command_and_its_viewer(strict: Path, number: signal.Signals) -> None:
    data, page = free_ports()
    command = [
        sys.executable,
        "-m",
        "uavsim",
        "view",
        str(strict),
        "--web",
        "--port",
        str(data),
        "--web-port",
        str(page),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert "until Ctrl-C" in process.stdout.readline()
    assert "shown: 2 scenes" in process.stdout.readline()
    os.kill(process.pid, number)
    assert process.wait(30) == 0
    process.stdout.close()
    deadline = time.monotonic() + 5
    while viewer._answers(data) or viewer._answers(page):
        assert time.monotonic() < deadline, "the viewer lives on"
