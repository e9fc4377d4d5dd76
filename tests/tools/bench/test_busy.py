from pathlib import Path

import pytest
from headless_simulator.rendering import GraphicsCard

from tools.bench.busy import asked_images, busy_share, idle_ticks, noting
from tools.common.plans import scene_plan, settled


def test_three_images_on_paper():
    pauses = [(0.0, 0.1), (5.0, 5.1), (5.2, 5.3), (7.0, 7.25)]  # the first one is of the warm-up
    assert busy_share(pauses[::-1], before=1, latency_s=0.1) == pytest.approx(0.3 / 2.25)


def test_a_card_that_never_waits_is_wholly_busy():
    pauses = [(0.1 * k, 0.1 * (k + 1)) for k in range(6)]
    assert busy_share(pauses, before=2, latency_s=0.1) == pytest.approx(1.0)


def test_what_a_scene_asks_for_on_paper():
    plan = settled(scene_plan(samples=3, warmup_ticks=20), ticks=2, first_ticks=5)  # 25 cameras with masks
    assert asked_images(plan) == (3 * 50, 5 * 25, 2 * 2 * 25)
    assert idle_ticks(plan) == 2 * 8  # of ten, two go on while the last one's images are drawn


def test_what_the_card_makes_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(GraphicsCard, "make", GraphicsCard.make)  # set back after the test
    noting(str(tmp_path / "pauses"))
    made = GraphicsCard(0.002).make()
    (line,) = (tmp_path / "pauses").read_text().splitlines()
    assert tuple(map(float, line.split())) == pytest.approx(made, abs=1e-6)
