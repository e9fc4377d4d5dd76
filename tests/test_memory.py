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
