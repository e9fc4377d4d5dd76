"""Findings of doctor on graphics cards, with a stub of ``nvidia-smi``."""

from pathlib import Path

import pytest

from tests.supervise.fake_cards import fake_cards
from uavsim.config.run import SimulatorConfig
from uavsim.probing.graphics import cards, cards_in_flight

HERE = SimulatorConfig(kind="attach", ports={"carla": 2000})
ELSEWHERE = SimulatorConfig(kind="attach", host="10.0.0.7", ports={"carla": 2000})


def said(config: SimulatorConfig = HERE, *, simulator: str = "unreal") -> list[tuple[str, str]]:
    return [(one.level, one.found) for one in cards_in_flight("sim", config, simulator=simulator)]


def test_a_server_that_uses_no_card_is_suspected_of_software_vulkan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cards(tmp_path, monkeypatch, free_mb=23000, used_mb=412)
    [finding] = cards_in_flight("sim", HERE, simulator="unreal")
    assert finding.level == "warning"
    assert finding.found == "no card of this machine has more than 412 MB in use while the server renders"
    assert "lavapipe" in finding.remedy
    assert said(ELSEWHERE) == []  # its card is in another machine
    assert said(simulator="headless") == []


@pytest.mark.parametrize(("free_mb", "level"), [(9000, "good"), (900, "warning")])
def test_a_card_that_is_nearly_full_while_a_server_renders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_mb: int, level: str
) -> None:
    fake_cards(tmp_path, monkeypatch, free_mb=free_mb, used_mb=7000)
    assert said() == [(level, f"{free_mb} MB free while the server renders")]
    assert [one.level for one in cards()] == [level]


def test_cards_without_a_driver_give_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert said() == []
    assert [one.found for one in cards()] == ["no NVIDIA driver was found"]
