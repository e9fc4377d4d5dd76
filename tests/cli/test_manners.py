"""Common behaviour of all commands: examples, version, completion, quiet, JSON, dry runs, colour, Ctrl-C."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.e2e.command import uavsim
from uavsim import cli
from uavsim.cli import build_app, with_quiet
from uavsim.cli.commands import COMMANDS, OVERVIEW

WITHOUT_EXAMPLES = {"mock-sim"}  # passes its options on to the headless simulator, which has its own


def test_every_example_is_a_command_line_that_is_accepted() -> None:
    commands = with_quiet(build_app()).commands
    examples = {name: COMMANDS.pick(name).examples for name in COMMANDS.names()} | {"": OVERVIEW.examples}
    assert {name for name, lines in examples.items() if not lines} == WITHOUT_EXAMPLES
    for name, lines in examples.items():
        for line in lines:
            program, command, *words = shlex.split(line)
            assert program == "uavsim"
            assert name in ("", command), f"{line!r} is shown at the command {name}"
            commands[command].make_context(command, list(words))  # raises where typer refuses it


@pytest.mark.parametrize("command", ["generate", "check"])
def test_help_shows_the_examples(command: str) -> None:
    help_text = uavsim(command, "--help", env=os.environ | {"COLUMNS": "200"}).stdout
    assert "Examples:" in help_text
    assert all(line in help_text for line in COMMANDS.pick(command).examples)
    assert "--quiet" in help_text


def test_version(run: Run) -> None:
    code, printed, _ = run("--version")
    assert code == 0
    assert printed.startswith("uavsim ")


def test_a_shell_gets_commands_and_the_options_of_one() -> None:
    def completed(words: str, word_index: int) -> list[str]:
        script = "import sys; sys.argv = ['uavsim']; from uavsim.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "_UAVSIM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(word_index)},
        )
        return done.stdout.split()

    assert completed("uavsim regen", 1) == ["regenerate"]
    assert completed("uavsim status --js", 2) == ["--json"]


def test_quiet_prints_errors_alone(tmp_path: Path) -> None:
    rig = tmp_path / "formation.yaml"
    rig.write_text("drones: 5\nshape: nonsense\n")
    done = uavsim("check", str(rig), "-q")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")


def test_json_is_all_that_is_on_standard_output(run: Run) -> None:
    _, printed, _ = run("plan", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0", "--json")
    (scene,) = json.loads(printed)["scenes"]
    assert scene["scene"] == "scene_0000"
    assert scene["town"] == "Town10HD"
    assert scene["images"] == 125


@pytest.mark.parametrize("words", [["--json"], []])
def test_a_dry_run_of_generate_writes_nothing(working_folder: Path, run: Run, words: list[str]) -> None:
    code, printed, error = run(
        "generate", "--dataset", "smoke", "--town", "Town10HD", "--out", "out", "--dry-run", *words
    )
    assert code == 0, error
    assert not (working_folder / "out").exists()
    if words:
        assert json.loads(printed)["scenes"]["Town10HD"][0] == "scene_0000"
    else:
        assert "scene_0000" in printed
        assert "nothing was started or written" in printed


def test_a_dry_run_of_generate_finds_what_a_run_would_refuse(run: Run) -> None:
    assert run("generate", "--dataset", "smoke", "--town", "Town99", "--out", "out", "--dry-run")[0] == 2


@pytest.mark.parametrize(
    "words", [["export", "--format", "coco"], ["convert", "--dialect", "uav3d", "--no-infos"], ["publish"]]
)
def test_a_dry_run_on_a_dataset_writes_nothing(strict: Path, tmp_path: Path, run: Run, words: list[str]) -> None:
    out = tmp_path / "new"
    target = ["--out", str(out)] if words[0] == "publish" else [str(out)]
    code, printed, error = run(words[0], str(strict), *target, *words[1:], "--dry-run")
    assert code == 0, error
    assert "--dry-run" in printed
    assert str(out) in printed
    assert not out.exists()


def test_no_color_is_honoured() -> None:
    terminal = os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    coloured = uavsim("nonsense", env=terminal | {"NO_COLOR": ""})
    plain = uavsim("nonsense", env=terminal | {"NO_COLOR": "1"})
    assert "\x1b[1;31m" in coloured.stderr
    assert "31m" not in plain.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["generate", "--dataset", "smoke", "--out", "my data"],
            "interrupted; the scenes that are committed stay. Continue with: uavsim generate --dataset smoke --out 'my data'",
        ),
        (["validate", "x"], "interrupted. Start again with: uavsim validate x"),
    ],
)
def test_ctrl_c_says_how_to_continue(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(command: str | None = None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["uavsim", *words])
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setattr(cli, "build_app", interrupted)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    assert message in capsys.readouterr().err
