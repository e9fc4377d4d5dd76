"""Arithmetic of the benchmarks; no test measures time."""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from headless_simulator.rendering import GraphicsCard

from tools.bench.__main__ import compared
from tools.bench.busy import busy_share, idle_ticks, requested_images, share_card
from tools.bench.cost import role_of
from tools.common.plans import scene_plan, settled


def test_busy_share_of_three_images():
    pauses = [(0.0, 0.1), (5.0, 5.1), (5.2, 5.3), (7.0, 7.1)]  # the first one is of the warm-up
    assert busy_share([pauses[::-1]], before=1) == pytest.approx(0.3 / 2.1)


def test_busy_share_of_two_servers_that_fly_together_for_three_seconds():
    first = [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]
    second = [(1.0, 2.0), (3.5, 4.0), (6.0, 6.5)]
    assert busy_share([first, second], before=1) == pytest.approx(1.5 / 1.5)  # both fly from 3.5 s to 5 s


def test_requested_images_and_idle_ticks():
    plan = settled(scene_plan(samples=3, warmup_ticks=20), ticks=2, first_ticks=5)  # 25 cameras with masks
    assert requested_images(plan) == (3 * 50, 5 * 25, 2 * 2 * 25)
    assert idle_ticks(plan) == 2 * 8  # of ten, two go on while the last one's images are drawn


def test_servers_share_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphicsCard, "make", GraphicsCard.make)  # set back after the test
    made = []
    for _ in range(2):
        share_card(str(tmp_path / "pauses"), 0.02)
        with ThreadPoolExecutor(3) as threads:
            made += list(threads.map(lambda _: GraphicsCard(0.0).make(), range(3)))
    lines = [line.split() for line in (tmp_path / "pauses").read_text().splitlines()]
    noted = [[float(begin), float(end)] for _, begin, end in lines]
    np.testing.assert_allclose(noted, sorted(made), rtol=0, atol=1e-6)
    assert {int(pid) for pid, _, _ in lines} == {os.getpid()}
    assert all(begin >= end - 1e-6 for (_, end), (begin, _) in itertools.pairwise(sorted(made)))


def test_compared_rows_of_both_runs():
    old = [{"name": "a", "value": 4, "unit": "s"}, {"name": "gone", "value": 1, "unit": "s"}]
    new = [{"name": "a", "value": 1, "unit": "s"}, {"name": "new", "value": 1, "unit": "s"}]
    assert compared(old, new).splitlines()[2:] == ["| a | 4 | 1 | 0.25 | s |"]


def test_compared_without_ratio_to_zero():
    assert "| - |" in compared([{"name": "a", "value": 0, "unit": "s"}], [{"name": "a", "value": 2, "unit": "s"}])


def test_roles_of_processes():
    guarded = ["python", "-I", "-S", "uavsim/supervise/guard.py", "4", "[]", "python", "-m", "headless_simulator"]
    assert role_of(guarded) == "guards"
    assert role_of(["python", "-P", "-m", "headless_simulator", "--carla-port", "0"]) == "simulator"
    assert role_of(["python", "-P", "-m", "uavsim.capture.client_worker"]) == "client"
    assert role_of(["python", "-c", "from multiprocessing.spawn import spawn_main"]) == "validator"
    assert role_of(["python", "-m", "uavsim", "generate"]) == "flow"
