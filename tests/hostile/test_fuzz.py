"""The fuzzer reports readers that hang or die, and every reader takes a few dozen bad inputs."""

import os
import random
import time
from pathlib import Path

import pytest

from tests.hostile.fuzz import fuzz, read_one
from tests.hostile.fuzz_targets import targets
from tests.hostile.fuzzing import Target


def bad_targets(_: Path) -> dict[str, Target]:
    return {
        "hangs": Target([b"bad"], lambda data: time.sleep(600), lambda data, rng: data),
        "leaves": Target([b"bad"], lambda data: os._exit(0), lambda data, rng: data),
        "dies": Target([b"bad"], lambda data: os._exit(1), lambda data, rng: data),
    }


@pytest.mark.parametrize("name", ["hangs", "dies", "leaves"])
def test_reader_that_hangs_or_dies_is_a_finding_with_its_input(tmp_path: Path, name: str) -> None:
    assert fuzz(name, seconds=0, seed=0, keep=tmp_path, waits_s=5 if name == "hangs" else 60, make=bad_targets)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {f"{name}-ended-0": b"bad"}


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
            if finding := read_one(target, data):
                found[name, finding[0]] = finding[1]
        target.end()
    assert not found
    assert len(made) > 30
