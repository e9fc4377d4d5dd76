"""Encounters in the output of ``uavsim plan``."""

import json
import sys
from pathlib import Path

import pytest

from uavsim.cli import main
from uavsim.images.codec import decode_rgb


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["uavsim", *arguments])
    try:
        main()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def test_plan_shows_encounters_and_their_statistics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "plan", "--dataset", "aot-mini", "--scenes", "0-1", "--png", "plan.png") == 0

    out = capsys.readouterr().out
    assert "encounters, profile aot" in out
    assert "on collision course" in out
    assert "55 %" in out
    image = decode_rgb((tmp_path / "plan-encounters.png").read_bytes())
    assert image.shape[0] > 2 * 340  # two rows


@pytest.mark.release
def test_plan_reports_the_same_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "plan", "--dataset", "aot-mini", "--scenes", "0", "--json") == 0

    reported = json.loads(capsys.readouterr().out)
    encounter = reported["encounters"][0]
    assert {one["scene"] for one in reported["encounters"]} == {"scene_0000"}
    assert encounter["planned"]
    assert encounter["profile"] == "aot"
    assert encounter["cpa_s"] > encounter["begin_s"]
    assert {row["measure"] for row in reported["coverage"]} >= {"encounters", "on collision course"}


FAST = "{kind: aeroplane, range_m: 1500, cpa_m: 0, time_to_cpa_s: 5}"
LOW = "{kind: drone, range_m: 300, cpa_m: 150, time_to_cpa_s: 20, passing_deg: 270}"


@pytest.mark.parametrize(
    ("command", "encounter", "reason", "nearest"),
    [
        (
            ("generate", "--out", "data"),
            FAST,
            "it would have to fly at",
            "an aeroplane flies at 25 to 90 m/s; possible: ",
        ),
        (("plan",), LOW, "it comes 79.1 m below the ground (ground_clearance_m is 15)", "; possible: cpa_m: 48"),
        (
            ("generate", "--out", "data"),
            "{kind: zeppelin, range_m: 900, cpa_m: 0, closing_mps: 9}",
            "encounters[0].kind: unknown value 'zeppelin'",
            "",
        ),
    ],
)
def test_an_impossible_encounter_is_one_line_with_the_nearest_possible(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    encounter: str,
    reason: str,
    nearest: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "flight_plans" / "encounters"
    folder.mkdir(parents=True)
    (folder / "fast.yaml").write_text(f"profile: aot\ncamera: FRONT\nencounters: [{encounter}]\n")
    (tmp_path / "mine.yaml").write_text(
        "towns: {Town10HD: {scenes: 1}}\nsamples: 60\nformation: single\nrig: aot_small\naltitude_m: 120\nencounters: fast\n"
    )
    assert run(monkeypatch, *command, "--dataset", "mine.yaml") == 2

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "fast.yaml:3: encounters[0]" in error
    assert reason in error
    assert nearest in error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flight_plans", "mine.yaml"]  # nothing started
