"""The tables of differences between the modes give the effects that are measured on made-up files."""

import re

import pytest

from tools.common import ROOT
from trials.evaluation_modes import Effect, effects_on_made_up_files

DOCS = ROOT / "docs"


def shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def page_of(benchmark: str) -> str:
    return (DOCS / f"evaluation-{benchmark}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> list[Effect]:
    return list(effects_on_made_up_files(tmp_path_factory.mktemp("effects")))


@pytest.mark.parametrize("benchmark", ["aot", "openad", "aircopbench"])
def test_the_page_gives_the_effects_that_are_measured(benchmark: str, made_up: list[Effect]) -> None:
    measured = [effect for effect in made_up if effect.benchmark == benchmark]
    assert measured
    rows = re.findall(r"^\|.*\|$", page_of(benchmark), re.MULTILINE)
    for effect in measured:
        both = f"{shown(effect.official)} (?:to|, or `{effect.figure}`) {shown(effect.corrected)}"
        refused = f"{shown(effect.official)}, or `{effect.figure}` {shown(effect.corrected)}"
        assert any(re.search(both, row) or refused in row for row in rows), (effect, rows)
