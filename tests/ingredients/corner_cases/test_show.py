"""Impossible corner cases: one line with alternatives, before anything starts."""

import sys
from pathlib import Path

import pytest

from uavsim.cli import main

CASES = """
tags: {lost_cone: {synonyms: [fallen_cone]}}
cases:
  cones: {tag: lost_cone, parts: [static.prop.trafficcone01]}
"""
DATASET = """
towns: {Town10HD: {scenes: 1}}
samples: 2
formation: solo
rig: openad
corner_cases: {from: street, min_visible_px: 60}
"""


@pytest.mark.parametrize(
    ("was", "becomes", "message"),
    [
        ("tag: lost_cone", "tag: lost_coen", "street.yaml:4: cases.cones.tag: unknown tag 'lost_coen'; did you mean"),
        ("min_visible_px: 60", "min_visible_px: 900000", "min_visible_px is 900000; reduce it to 85"),
    ],
)  # fmt: skip
def test_an_impossible_request_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    was: str,
    becomes: str,
    message: str,
) -> None:
    assert was in CASES + DATASET
    folder = tmp_path / "flight_plans" / "corner_cases"
    folder.mkdir(parents=True)
    (folder / "street.yaml").write_text(CASES.replace(was, becomes))
    (tmp_path / "mine.yaml").write_text(DATASET.replace(was, becomes))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["uavsim", "generate", "--dataset", "mine.yaml", "--out", "data"])
    with pytest.raises(SystemExit) as ended:
        main()

    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.count("\n") == 1
    assert message in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flight_plans", "mine.yaml"]  # nothing started
