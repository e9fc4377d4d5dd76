"""A Prefect server of our own that dies before it first answers is started again, and says why when that is in vain."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from uavsim.errors import SystemFailure
from uavsim.flows import server as server_module
from uavsim.flows.client import is_healthy
from uavsim.flows.server import OwnServer


def child_of(server: OwnServer) -> int:
    """Return the server's process itself, which comes a moment after its guard."""
    while (pid := server._process.child_pid) is None:
        assert server._process.poll() is None
        time.sleep(0.01)
    return pid


@pytest.mark.parametrize("victim", ["server", "guard"])
def test_a_server_that_is_killed_while_it_starts_is_started_again(victim: str) -> None:
    with OwnServer() as server:
        first = server._process
        os.kill(child_of(server) if victim == "server" else first.pid, signal.SIGKILL)
        address = server.wait()
        assert server._process is not first
        assert first.poll() == -signal.SIGKILL
        assert is_healthy(address.api)


@pytest.fixture
def doomed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let every start of a server end at once; gives the file that gets a line for each."""
    starts = tmp_path / "starts"
    lines = f"echo x >> {starts}; echo no such table >&2; exit 7"
    monkeypatch.setattr(server_module, "python_command", lambda *_: ["sh", "-c", lines])
    return starts


def test_one_that_ends_at_every_start_is_given_up_with_its_last_line(doomed: Path) -> None:
    with OwnServer() as server, pytest.raises(SystemFailure, match=r"ended with code 7, 3 times: no such table$"):
        server.wait()
    assert doomed.read_text() == "x\n" * 3


def test_one_that_never_answers_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_START_S", 0.1)
    monkeypatch.setattr(server_module, "python_command", lambda *_: ["sleep", "600"])
    with OwnServer() as server:
        first = server._process
        monkeypatch.setattr(server_module, "is_healthy", lambda _: server._process is not first)
        server.wait()
        assert first.poll() is not None
    monkeypatch.setattr(server_module, "is_healthy", lambda _: False)
    with OwnServer() as server, pytest.raises(SystemFailure, match=r"did not answer within 0.3 s, 3 times$"):
        server.wait()


def test_a_port_that_a_simulator_took_first_is_exchanged(monkeypatch: pytest.MonkeyPatch, doomed: Path) -> None:
    lines = f"echo x >> {doomed}; echo '[Errno 98] address already in use' >&2; exit 1"
    monkeypatch.setattr(server_module, "python_command", lambda *_: ["sh", "-c", lines])
    with OwnServer() as server:
        first = server.address.url
        with pytest.raises(SystemFailure, match="3 times"):
            server.wait()
        assert server.address.url != first


@pytest.mark.parametrize("kept", [False, True])
def test_clients_at_once_are_none_of_them_sent_away(kept: bool, tmp_path: Path) -> None:
    """Prefect asks for its limits, which reads and then writes, before each task, while others' rows are written.

    After an answer of 503 its client waits for two seconds.
    """
    import httpx  # Prefect's own

    with OwnServer(home=tmp_path if kept else None) as server:
        address = server.wait()

        def answers(path: str, body: object) -> set[int]:
            with httpx.Client(auth=httpx.BasicAuth(*address.key.split(":")), timeout=60, trust_env=False) as client:
                return {client.post(f"{address.api}/{path}", json=body).status_code for _ in range(20)}

        log = [{"name": "x", "level": 20, "message": "x", "timestamp": "2026-11-26T00:00:00Z"}]
        asked = [("v2/concurrency_limits/increment-with-lease", {"names": ["tag:x"], "slots": 1})] * 3
        with ThreadPoolExecutor() as clients:
            found = list(clients.map(answers, *zip(*asked, ("logs/", log), ("logs/", log), strict=True)))
    assert found == [{200}] * 3 + [{201}] * 2
