"""The fuzzer notices a reader that waits and one that ends its process; and every reader takes a few dozen bad inputs."""

import multiprocessing
import os
import random
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import pytest

from tests.hostile import fuzz
from tests.hostile.fuzz_targets import targets


@pytest.fixture
def shared() -> Iterator[SharedMemory]:
    made = SharedMemory(create=True, size=100)
    assert made.buf is not None
    fuzz._HEAD.pack_into(made.buf, 0, 7, 3)
    made.buf[fuzz._HEAD.size : fuzz._HEAD.size + 3] = b"bad"
    yield made
    made.close()
    made.unlink()


def _waits(said: Connection) -> None:
    time.sleep(600)


def _dies(said: Connection) -> None:
    os._exit(1)


@pytest.mark.parametrize(("reader", "kind"), [(_waits, "waits"), (_dies, "died")])
def test_what_hangs_or_dies_is_a_finding_with_its_input(
    shared: SharedMemory, monkeypatch: pytest.MonkeyPatch, reader: Callable[[Connection], None], kind: str
) -> None:
    monkeypatch.setattr(fuzz, "WAITS_S", 0.5 if kind == "waits" else 60.0)
    fed = _watched(reader, shared)
    assert list(fed.inputs.items()) == [(kind, b"bad")]
    assert fed.tried == 7


def _watched(reader: Callable[[Connection], None], shared: SharedMemory) -> fuzz.Fed:
    """Watch a process that reads, or does something else."""
    context, fed = multiprocessing.get_context("spawn"), fuzz.Fed()
    said, saying = context.Pipe(duplex=False)
    process = context.Process(target=reader, args=(saying,))
    process.start()
    saying.close()
    try:
        fuzz._watch(process.sentinel, said, shared, fed)
    finally:
        process.kill()
        process.join()
    return fed


def _begins_slowly(said: Connection) -> None:
    time.sleep(1.5)
    said.send((7, 1 << 20, 0.5))


@pytest.mark.parametrize("head", [(0, 0), (7, fuzz._BEGINS)])
def test_what_an_input_needs_may_start_slowly(
    shared: SharedMemory, monkeypatch: pytest.MonkeyPatch, head: tuple[int, int]
) -> None:
    monkeypatch.setattr(fuzz, "WAITS_S", 0.5)
    assert shared.buf is not None
    fuzz._HEAD.pack_into(shared.buf, 0, *head)
    assert _watched(_begins_slowly, shared).findings == {}


_EACH_S = 0.3  # minutes and more are ``python -m tests.hostile.fuzz``


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of numbers that are too large: said, not raised
def test_every_reader_takes_bad_inputs_for_a_moment(tmp_path: Path) -> None:
    """Good inputs are read or refused, changed ones as well: no other exception, no exit code 1, little memory."""
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
