from pathlib import Path

import pytest
from typer.testing import CliRunner
from uavsim_baselines import cli

from tests.conftest import small


def ended(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["uavsim-baselines", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return int(end.value.code or 0)


def test_from_a_yaml_to_a_table(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    yaml = tmp_path / "model.yaml"
    yaml.write_text(small(toy).model_dump_json())  # JSON is YAML
    run = str(tmp_path / "run")
    assert ended(monkeypatch, "train", str(yaml), "--out", run, "--set", "training.steps=2") == 0
    assert ended(monkeypatch, "predict", "--out", run) == 0
    assert ended(monkeypatch, "evaluate", "--out", run) == 0
    capsys.readouterr()
    assert ended(monkeypatch, "table", run, run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("| sharing | AP 1 m |")
    assert len(lines) == 4
    assert lines[2] == lines[3]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["predict", "--out", "nowhere"], 2, "uavsim-baselines train writes it"),
        (["train", "nowhere.yaml", "--out", "x"], 2, "nowhere.yaml"),
        (["trian"], 2, "trian"),
        (["table", "nowhere"], 2, "uavsim-baselines evaluate writes it"),
    ],
)
def test_what_is_wrong_is_one_line_and_an_exit_code(
    words: list[str], code: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(monkeypatch, *words) == code
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert says in error
    assert error.count("\n") == 1


def test_help_lists_the_commands() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"]).output
    assert all(command in shown for command in ("train", "predict", "evaluate", "table"))
