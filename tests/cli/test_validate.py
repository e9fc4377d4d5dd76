"""``uavsim validate``: exit codes, one-line errors, reports, and a crashing judge."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.validate.disk import Disk
from tests.validate.small import write_small
from uavsim.cli import build_app, validate
from uavsim.errors import DatasetError, InputError, UavsimError


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged")
    return write_small(folder / "small", folder / "recordings", samples=3)


def run(*arguments: str) -> tuple[str, BaseException | None]:
    done = CliRunner().invoke(build_app(), list(arguments), env={"COLUMNS": "200"})
    return done.output, done.exception


def test_a_clean_dataset_is_called_valid(clean: Path, tmp_path: Path) -> None:
    file = tmp_path / "reports" / "report.json"
    output, error = run("validate", str(clean), "--json", str(file))
    assert error is None, output
    assert "valid" in output
    report = json.loads(file.read_text())
    assert report["ok"]
    assert report["versions"][0]["facts"]["scenes"] == 3


def test_a_broken_dataset_ends_with_code_4_and_names_the_place(clean: Path, tmp_path: Path) -> None:
    disk = Disk(clean, tmp_path / "data")
    disk.image("CAMERA_FRONT_id_0").unlink()
    file = tmp_path / "report.json"
    output, error = run("validate", str(disk.root), "--report", str(file))
    assert isinstance(error, DatasetError)
    assert error.exit_code == 4
    assert "files.missing at scene_01" in str(error)
    assert "files.missing" in output
    (finding,) = [f for f in json.loads(file.read_text())["versions"][0]["findings"] if f["code"] == "files.missing"]
    assert finding["channel"] == "CAMERA_FRONT_id_0"
    assert finding["sample"] == disk.sample()["token"]


@pytest.mark.parametrize(
    ("arguments", "words", "kind"),
    [
        (["validate", "{tmp}"], "no version folder", DatasetError),
        (["validate", "{tmp}/none"], "none: no such folder", InputError),
        (["validate", "{tmp}/none", "--version", "v2"], "none: no such folder", InputError),
        (["validate", "{clean}", "--version", "v2"], "no such version folder; available: v1.0-mini", InputError),
        (["validate", "{clean}", "--dialect", "strikt"], "did you mean 'strict'", InputError),
        (["validate", "{clean}", "--no-pixels", "--report", "/dev/null/x"], "is not a directory", InputError),
    ],
)
def test_bad_input_gets_one_line(
    arguments: list[str], words: str, kind: type[UavsimError], clean: Path, tmp_path: Path
) -> None:
    _, error = run(*(a.format(clean=clean, tmp=tmp_path) for a in arguments))
    assert isinstance(error, kind)
    assert words in str(error)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    "command",
    [
        ["report"],
        ["view", "--save", "x.rrd"],
        ["publish", "--out", "x"],
        ["events", "--out", "x"],
        ["collaboration", "--out", "x"],
        ["questions", "--out", "x"],
        ["export", "x", "--format", "coco"],
        ["twins", "--weather", "hard_rain"],
        ["status"],
        ["annotate"],
        ["convert", "x", "--dialect", "uav3d"],
        ["video", "--out", "x.mp4"],
        ["validate"],
        ["verify"],
        ["replay", "--out", "x"],
        ["regenerate"],
    ],
    ids=lambda command: command[0],
)
def test_a_missing_folder_is_bad_input_in_every_command(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, error = run(command[0], str(tmp_path / "nowhere"), *command[1:])
    code = error.exit_code if isinstance(error, UavsimError) else getattr(error, "code", None)
    assert code == 2, error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("out_path", ["{set}", "{set}/v1.0-mini", "{set}/new/below", "linked"])
@pytest.mark.parametrize(
    "command",
    [
        "occupancy {set} --out {out}",
        "occupancy {set} --out x --kept {out}",
        "publish {set} --out {out}",
        "events {set} --out {out}",
        "export {set} {out} --format coco",
        "convert {set} {out} --dialect uav3d",
        "adopt . --as-twin-of {set} --out {out}",
        "report {set} --out {out}/report.html",
        "video {set} --out {out}/video.mp4",
        "view {set} --save {out}/view.rrd",
    ],
    ids=lambda command: command.split()[0],
)
def test_no_result_goes_into_the_dataset(
    clean: Path, command: str, out_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linked").symlink_to(clean)
    before = {path: path.stat().st_mtime_ns for path in clean.rglob("*")}
    _, error = run(*command.format(set=clean, out=out_path.format(set=clean)).split())
    assert isinstance(error, InputError), error
    assert "is the dataset itself, or in it" in str(error)
    assert {path: path.stat().st_mtime_ns for path in clean.rglob("*")} == before


def test_without_pixels_what_was_not_looked_at_is_said(clean: Path) -> None:
    output, error = run("validate", str(clean), "--no-pixels")
    assert error is None
    assert "not checked: pixels.boxes" in output


VELOCITY = {"ok": False, "not_finite": 3}


def devkit_says(monkeypatch: pytest.MonkeyPatch, **checks: object) -> None:
    good = all(check["ok"] for check in checks.values())
    monkeypatch.setattr(validate, "devkit_report", lambda *_, **__: {"ok": good, "checks": checks})


def test_where_the_devkits_check_fails_the_complaint_says_so(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devkit_says(monkeypatch, load={"ok": True}, velocity=VELOCITY)
    _, error = run("validate", str(clean), "--no-pixels", "--devkit")
    assert isinstance(error, DatasetError)
    assert "not valid, 1 failed check of the nuScenes devkit, though uavsim finds no error" in str(error)
    assert "first: devkit velocity: not_finite 3; --json FILE writes the values" in str(error)
    assert "0 errors" not in str(error)


def test_errors_of_ours_and_failed_checks_of_the_devkit_are_both_counted(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Disk(clean, tmp_path / "data")
    disk.image("CAMERA_FRONT_id_0").unlink()
    devkit_says(monkeypatch, velocity=VELOCITY, tables=VELOCITY)
    _, error = run("validate", str(disk.root), "--no-pixels", "--devkit")
    assert "not valid, 1 error and 2 failed checks of the devkit; first: files.missing at" in str(error)


def test_what_the_devkit_had_nothing_to_compare_for_is_said(clean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    devkit_says(monkeypatch, detection={"ok": True, "note": "nothing to compare: no box", "scenes": 3})
    output, error = run("validate", str(clean), "--no-pixels", "--devkit")
    assert error is None
    assert "devkit detection: good nothing to compare: no box; scenes 3" in output


def test_results_that_the_devkit_refuses_are_bad_input(clean: Path, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"meta": {}, "results": {"x": [{"sample_token": "x"}]}}))
    _, error = run("evaluate", "devkit", "--truth", str(clean), "--results", str(file))
    assert isinstance(error, InputError)
    assert "devkit rejects" in str(error)


def test_a_judge_that_crashes_is_the_systems_failure(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from uavsim.errors import SystemFailure
    from uavsim.validate.devkit_process import run_judge

    (tmp_path / "crash.py").write_text("import sys; sys.exit('out of memory')")
    monkeypatch.setenv("UAVSIM_JUDGE_PYTHON", sys.executable)
    with pytest.raises(SystemFailure, match="out of memory"):
        run_judge("crash", folder=tmp_path)
