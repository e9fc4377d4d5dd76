"""The fuzzer notices a reader that waits and one that ends its process; both take no processor time."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.shared_memory import SharedMemory

import pytest

from tests.hostile import fuzz


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
    assert list(fed.inputs.items()) == [(kind, b"bad")]
    assert fed.tried == 7
