"""glibc's pools of memory, counted as glibc reports them."""

import subprocess
import sys

import pytest

COUNT_POOLS = """
import ctypes, os, sys, tempfile, threading
from uavsim import memory
libc = ctypes.CDLL(None)
if not hasattr(libc, 'malloc_info'): sys.exit(77)
if sys.argv[1] == 'few': memory.keep_few_pools()
together = threading.Barrier(8)
def hold():
    together.wait()
    kept = [bytes(100_000) for _ in range(20)]
    together.wait()
threads = [threading.Thread(target=hold) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
with tempfile.NamedTemporaryFile() as reported:
    libc.fdopen.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(libc.fdopen(os.dup(reported.fileno()), b'w'))
    libc.malloc_info(0, stream); libc.fclose(stream)
    print(open(reported.name).read().count('<heap nr='))
"""


def pools(how: str) -> int:
    ran = subprocess.run([sys.executable, "-c", COUNT_POOLS, how], capture_output=True, text=True, timeout=60)
    if ran.returncode == 77:
        pytest.skip("this C library does not report its pools")
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


def test_threads_share_two_pools() -> None:
    assert pools("few") <= 2 < pools("many")


SET_ASIDE = """
import gc, sys
from uavsim import memory
memory.collect_seldom()
runs = []
gc.callbacks.append(lambda phase, _: runs.append(phase))
kept = [[] for _ in range(40_000)]
print(len(runs))
"""


def test_who_makes_many_objects_is_seldom_interrupted() -> None:
    ran = subprocess.run([sys.executable, "-c", SET_ASIDE], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout.strip()) == (0, "0"), ran.stderr


GIVEN_BACK = """
import ctypes, sys
from uavsim import memory
if not hasattr(ctypes.CDLL(None), 'malloc_trim'): sys.exit(77)
def held_mb():
    with open('/proc/self/statm') as file: return int(file.read().split()[1]) * 4096 / 1e6
freed, kept = [], []
for _ in range(3000):
    freed.append(bytes(20_000)); kept.append(bytes(600))  # what is kept lies between, so that glibc gives nothing back itself
del freed
before = held_mb()
memory.give_back_freed_memory()
print(before - held_mb())
"""


def test_freed_memory_between_what_is_kept_is_given_back() -> None:
    ran = subprocess.run([sys.executable, "-c", GIVEN_BACK], capture_output=True, text=True, timeout=60)
    if ran.returncode == 77:
        pytest.skip("this C library gives nothing back when it is asked")
    assert float(ran.stdout) > 40.0, ran.stderr  # of 60 MB
