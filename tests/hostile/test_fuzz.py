"""The fuzzer reports readers that hang or die, and every reader takes a few dozen bad inputs."""

import multiprocessing
import os
import random
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.hostile import fuzz
from tests.hostile.fuzz_targets import targets


def _hangs(news: Connection) -> None:
    news.send(None)
    time.sleep(600)


def _dies(news: Connection) -> None:
    news.send(None)
    os._exit(1)


@pytest.mark.parametrize(("reader", "kind"), [(_hangs, "waits"), (_dies, "died")])
def test_reader_that_hangs_or_dies_is_a_finding_with_its_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[Connection], None], kind: str
) -> None:
    context, outcome = multiprocessing.get_context("spawn"), fuzz.Outcome()
    (tmp_path / "input").write_bytes(b"bad")
    news, sender = context.Pipe(duplex=False)
    process = context.Process(target=reader, args=(sender,))
    process.start()
    sender.close()
    news.poll(60)  # until it has begun
    monkeypatch.setattr(fuzz, "WAITS_S", 0.5 if kind == "waits" else 60.0)
    try:
        fuzz._watch(news, tmp_path / "input", outcome)
    finally:
        process.kill()
        process.join()
    assert {name: data for name, (_, data) in outcome.findings.items()} == {kind: b"bad"}
    assert outcome.tried == 1


_EACH_S = 0.3  # minutes and more are ``python -m tests.hostile.fuzz``


@pytest.mark.release
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns about numbers that are too large
def test_every_reader_takes_bad_inputs_for_a_moment(tmp_path: Path) -> None:
    """Good and changed inputs are read or refused: no other exception, no exit code 1."""
    made, found = targets(tmp_path), {}
    for name, target in made.items():
        rng, end, tried = random.Random(f"{name} 0"), time.monotonic() + _EACH_S, 0
        while time.monotonic() < end or tried < 2:
            data = rng.choice(target.good) if not tried else target.change(rng.choice(target.good), rng)
            tried += 1
            if finding := fuzz._read_one(target, data):
                found[name, finding[0]] = finding[1]
        target.end()
    assert not found
    assert len(made) > 30
