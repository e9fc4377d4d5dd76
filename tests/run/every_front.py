"""Tests of runs for both schedulers, Prefect and threads; each test module defines ``fly``."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.run.conftest import FAKE_CLIENT_WORKER
from uavsim.errors import StorageError, SystemFailure
from uavsim.run import finish
from uavsim.run.request import Request
from uavsim.run.result import Result
from uavsim.store.ledger import read_ledger
from uavsim.store.local import LocalOutput
from uavsim.store.output import Output

Paper = Callable[..., Request]
Fly = Callable[[Request], Result]


@contextmanager
def interrupted_when(event: str, out: Path, *, first: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Call a function and interrupt this process when the first scene's log has an event."""
    log = out / ".uavsim/logs/scene_00.jsonl"

    def interrupt() -> None:
        while not (log.exists() and f'"{event}"' in log.read_text()):
            time.sleep(0.02)
        first()
        os.kill(os.getpid(), signal.SIGTERM)  # not raise_signal: that would reach this thread only

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    thread.join()


class EveryFront:
    def test_clients_have_ended_when_the_tables_are_written(
        self, fly: Fly, paper: Paper, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The validator's processes need the clients' memory."""
        clients = []

        assemble = finish.assemble_tables

        def watched(output: Output) -> list[str]:
            running = psutil.Process().children(recursive=True)
            clients.append([child.pid for child in running if str(FAKE_CLIENT_WORKER) in child.cmdline()])
            return assemble(output)

        monkeypatch.setattr(finish, "assemble_tables", watched)
        assert fly(paper(scenes="1")).committed == ("scene_00",)
        assert clients == [[]]

    def test_failures_are_retried_and_quarantine_reaches_the_summary(
        self, fly: Fly, paper: Paper, tmp_path: Path
    ) -> None:
        result = fly(paper(faults={"scene_00": ["die"], "scene_02": ["SceneVoid"] * 3}))
        assert result.committed == ("scene_00", "scene_01")
        assert result.quarantined == ("scene_02",)
        assert isinstance(result.error, SystemFailure)
        assert result.error.exit_code == 3
        assert "1 quarantined: scene_02" in str(result.error)
        ledger = read_ledger(LocalOutput(tmp_path / "out"))
        assert (ledger["scene_00"].attempts, len(ledger["scene_02"].failures)) == (1, 3)

    def test_storage_failure_ends_the_run_and_the_next_one_continues(self, fly: Fly, paper: Paper) -> None:
        with pytest.raises(StorageError, match="asked to"):
            fly(paper(faults={"scene_01": ["StorageError"]}))
        assert fly(paper()).committed == ("scene_00", "scene_01", "scene_02")

    def test_an_interrupt_ends_flights_at_once(self, fly: Fly, paper: Paper, tmp_path: Path) -> None:
        """The client process hangs, with a longer deadline than this test."""
        before = psutil.Process().children(recursive=True)
        request = paper(faults={"scene_00": ["hang"]}, patience_s=600.0)
        with interrupted_when("flying", tmp_path / "out"):
            fly(request)
        assert psutil.Process().children(recursive=True) == before
        entry = read_ledger(LocalOutput(tmp_path / "out"))["scene_00"]
        assert (entry.state, entry.attempts) == ("flying", 0)
        assert fly(paper()).committed == ("scene_00", "scene_01", "scene_02")
