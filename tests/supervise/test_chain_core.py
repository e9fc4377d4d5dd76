"""Threads that wait for each other are kept on one core, those of lowered priority and other chains are not."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from uavsim.supervise import chain_core
from uavsim.supervise.chain_core import ChainCore

pytestmark = pytest.mark.skipif(
    len(getattr(os, "sched_getaffinity", lambda _: ())(0)) < 2,
    reason="needs two cores, and a system that keeps threads",
)

THREADS = """
import os, sys, threading
from uavsim.capture.recording_writer import yield_to_client

go, done = threading.Event(), threading.Event()

def begin(*, nicer=False):
    ready = threading.Event()
    def work():
        if nicer:
            yield_to_client()
        ids.append(threading.get_native_id())
        ready.set()
        done.wait()
    threading.Thread(target=work, daemon=True).start()
    ready.wait()

ids = [threading.get_native_id()]
begin()
begin(nicer=True)
print(os.getpid(), flush=True)
sys.stdin.readline()
begin()
begin(nicer=True)
print(*(len(os.sched_getaffinity(thread)) for thread in ids), flush=True)
"""


@pytest.fixture(autouse=True)
def _no_other_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_core, "_NAME", f"test-{os.getpid()}-{os.urandom(4).hex()}")


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", THREADS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        yield started
        started.kill()


def test_what_waits_stays_on_one_core_and_what_yields_goes_anywhere(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdin is not None
    pid, every, core = int(process.stdout.readline()), len(os.sched_getaffinity(0)), ChainCore()
    core.keep((pid, None))
    process.stdin.write("\n")
    process.stdin.flush()
    main, worker, encoder, later_worker, later_encoder = map(int, process.stdout.readline().split())
    core.release()
    assert (main, worker, later_worker) == (1, 1, 1)
    assert (encoder, later_encoder) == (every, every)


def test_each_chain_has_a_core_of_its_own_and_without_one_nothing_is_moved() -> None:
    cores = len(os.sched_getaffinity(0))
    chains = [ChainCore() for _ in range(cores + 1)]
    kept = []
    for chain in chains:
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
            chain.keep((process.pid,))
            kept.append(frozenset(os.sched_getaffinity(process.pid)))
    own = [where for where in kept if len(where) == 1]
    assert len(set(own)) == len(own) == cores
    assert len(kept[-1]) == cores
    chains[kept.index(own[0])].release()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        chains[-1].keep((process.pid,))
        assert len(os.sched_getaffinity(process.pid)) == 1
    for chain in chains:
        chain.release()


def test_this_process_leaves_the_core_alone_as_long_as_a_chain_has_it() -> None:
    every, core, began = os.sched_getaffinity(0), ChainCore(), threading.Event()
    with ThreadPoolExecutor(1) as threads, subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as process:
        threads.submit(began.wait)
        core.keep((process.pid,))
        kept = os.sched_getaffinity(process.pid)
        assert os.sched_getaffinity(0) == every - kept
        began.set()
        assert threads.submit(os.sched_getaffinity, 0).result() == every - kept
        core.release()
        assert os.sched_getaffinity(0) == threads.submit(os.sched_getaffinity, 0).result() == every


def test_a_chain_gets_one_of_the_fast_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_core, "_CPUS", tmp_path)
    assert sorted(range(4), key=chain_core._place) == [1, 2, 3, 0]  # alike; the first serves devices, too
    for core, most_khz in enumerate((4_900_000, 4_900_000, 5_100_000, 3_800_000)):
        folder = tmp_path / f"cpu{core}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "cpuinfo_max_freq").write_text(f"{most_khz}\n")
    assert sorted(range(5), key=chain_core._place) == [2, 1, 0, 3, 4]


@pytest.mark.parametrize("cores", [{0}, set()])
def test_where_there_is_one_core_or_no_such_system_nothing_is_moved(
    cores: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.sched_getaffinity(0)
    monkeypatch.setattr(chain_core, "_every_core", lambda: frozenset(cores))
    ChainCore().keep((os.getpid(),))
    assert os.sched_getaffinity(0) == before
