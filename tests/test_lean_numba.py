"""Machine code of a process that compiles and does nothing else: the numbers, and the errors, of any other process."""

import subprocess
import sys

import pytest

KERNELS = """
import gc, importlib, sys
import numba, numpy as np
from numba.extending import overload
if len(sys.argv) > 1:
    importlib.import_module(sys.argv[1]).compile_lean()

@numba.njit(error_model="numpy")
def shares(rows):
    found = np.empty(len(rows))
    for i in range(len(rows)):
        total = 0.0
        for value in rows[i]:
            total += max(value, 0.1) / 3.0
            if total > 9.0:
                break
        found[i] = min(total, np.sqrt(np.abs(rows[i, 0])))
    return found

@numba.njit
def all_shares(rows):
    return shares(rows) * shares(rows[::-1]) + np.arange(len(rows))

@numba.njit
def halves(count):
    for i in range(count):
        yield i / 2

@numba.njit(no_cpython_wrapper=True)  # has no machine code of its own
def third(value):
    return value / 3.0

@numba.njit
def all_halves(count):
    total = 0.0
    for half in halves(count):
        total += half + third(half)
    return total

def share(one, other):
    raise NotImplementedError

@overload(share)
def numba_share(one, other):
    return lambda one, other: one / other

@numba.njit(error_model="numpy")
def infinite(one, other):
    return share(one, other)

@numba.njit(error_model="python")
def refused(one, other):
    return share(one, other)

def outcome(kernel):
    try:
        return kernel(1.0, 0.0)
    except ZeroDivisionError:
        return "refused"

@numba.njit
def wrong(rows):
    return rows.no_such_thing

print(all_shares(np.random.default_rng(3).normal(size=(50, 21))).tobytes().hex(), all_halves(9), len(shares.signatures),
    outcome(infinite), outcome(refused))
try:
    wrong(np.zeros(3))
except numba.TypingError as error:
    print("no_such_thing" in str(error), "\\x1b" in str(error))
print(gc.isenabled())
"""


def printed(*module: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", KERNELS, *module], capture_output=True, check=True, text=True)
    return done.stdout.split()


@pytest.mark.parametrize("module", ["uavsim.lean_numba", "headless_simulator.lean_numba"])
def test_a_process_that_only_compiles_makes_the_same_numbers_and_errors(module: str) -> None:
    *numbers, named, coloured, collects = printed(module)
    *expected, named_before, _, collected_before = printed()

    assert numbers == expected
    assert numbers[-2:] == ["inf", "refused"]
    assert (named, named_before) == ("True", "True")
    assert coloured == "False"
    assert (collects, collected_before) == ("False", "True")
