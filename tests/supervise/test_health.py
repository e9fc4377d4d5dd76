"""Health checks without a simulator."""

import stat
from pathlib import Path

import pytest

from uavsim.supervise.health import Pace, free_gpu_mb


def test_a_simulator_far_below_its_best_pace_is_slow() -> None:
    pace = Pace()
    for images_per_s, slow in ((8.0, False), (12.0, False), (4.0, False), (2.9, False), (2.9, False), (2.9, True)):
        pace.note(images_per_s)
        assert pace.is_slow is slow
    pace.note(3.1)
    assert not pace.is_slow
    for _ in range(3):
        pace.note(1.0)
    assert pace.is_slow
    pace.forget()
    pace.note(1.0)
    assert not pace.is_slow


def test_a_scene_that_waited_for_its_map_makes_no_simulator_ill() -> None:
    pace = Pace()
    for images_per_s in (12.0, 1.0, 12.0, 11.0, 1.0, 1.0, 12.0):
        pace.note(images_per_s)
        assert not pace.is_slow


@pytest.mark.parametrize(
    ("script", "free_mb"),
    [("echo 7012; echo 250", 250), ("echo 7012", 7012), ("exit 9", None), ("echo '[N/A]'", None)],
)
def test_graphics_memory_is_asked_of_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, free_mb: int | None
) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert free_gpu_mb(None) == free_mb


def test_no_driver_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert free_gpu_mb(0) is None


def test_without_a_share_none_is_slow() -> None:
    pace = Pace(0.0)
    for images_per_s in (10.0, 0.1, 0.1, 0.1, 0.1):
        pace.note(images_per_s)
    assert not pace.is_slow
