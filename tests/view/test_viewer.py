"""The web page: its address is reported when it can be opened, and a port that is taken is reported before anything starts."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from uavsim.errors import InputError, SystemFailure
from uavsim.view import viewer

SERVES = """
import socket, sys, time
time.sleep(0.3)
held = [socket.create_server(("127.0.0.1", int(port))) for port in sys.argv[1:]]
held[-1].accept()
held[-1].accept()
"""


def free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def test_the_address_is_reported_when_both_ports_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    data, page = free_ports()
    monkeypatch.setattr(viewer, "viewer_command", lambda *_, **__: [sys.executable, "-c", SERVES, str(data), str(page)])
    reported: list[bool] = []

    def listening() -> None:
        with socket.create_connection(("127.0.0.1", page), timeout=5):
            reported.append(True)

    viewer.serve_recording(Path("a.rrd"), port=data, web_port=page, listening=listening)
    assert reported == [True]


def test_a_server_that_fails_is_reported_and_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    data, page = free_ports()
    monkeypatch.setattr(viewer, "viewer_command", lambda *_, **__: [sys.executable, "-c", "raise SystemExit(7)"])
    with pytest.raises(SystemFailure, match="ended with 7"):
        viewer.serve_recording(Path("a.rrd"), port=data, web_port=page, listening=lambda: pytest.fail("reported"))


def test_a_port_that_is_taken_is_reported_before_anything_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    _, page = free_ports()
    monkeypatch.setattr(viewer, "_run", lambda *_, **__: pytest.fail("started"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 is taken"):
            viewer.serve_recording(Path("a.rrd"), port=port, web_port=page)
