"""Cosys-AirSim at AirSim's port and vice versa; test_backends.py compares tables."""

from pathlib import Path

import pytest
from headless_simulator.testing import running_simulator

from tests.e2e.command import uavsim

pytestmark = pytest.mark.release

JOB = ("--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--samples", "2")


def test_the_other_airsim_at_the_port_is_named(tmp_path: Path) -> None:
    with running_simulator("--airsim-dialect", "cosys") as fork, running_simulator("--render", "flat") as original:
        for topology, where, words in (
            ("bridge", fork, "is answered by Cosys-AirSim (protocol 4); expected AirSim"),
            ("merged", fork, "topology merged does not support it; use topology cosys"),
            ("cosys", original, "is answered by AirSim (protocol 1); expected Cosys-AirSim"),
        ):
            out = tmp_path / topology
            done = uavsim("generate", *JOB, "--topology", topology, "--simulator", where.address, "--out", out)
            assert done.returncode == 3, done.stdout + done.stderr
            assert words in " ".join((done.stdout + done.stderr).split())
