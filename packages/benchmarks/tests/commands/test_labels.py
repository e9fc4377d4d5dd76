"""Commands ``uavsim events``, ``collaboration`` and ``questions``."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.dataset_factory import files_of, make_dataset
from uavsim.cli import build_app
from uavsim.errors import ConfigError, DatasetError, InputError, UavsimError
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest


def run(*words: object) -> str:
    result = CliRunner().invoke(build_app(), [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def swarm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("swarm"), scenes=1, samples=3)


def test_each_command_says_in_json_what_it_wrote(swarm: Path, tmp_path: Path) -> None:
    files = {
        "events": {"image_event.jsonl", "sample_event.jsonl", "events.json"},
        "collaboration": {"object_value.jsonl", "collaboration.json"},
        "questions": {"questions.json", "report.json"},
    }
    for command, names in files.items():
        few = ("--per-task", 4) if command == "questions" else ()
        summary = json.loads(run(command, swarm, "--out", tmp_path / command, "--json", *few))
        assert summary["out"] == str(tmp_path / command)
        assert set(files_of(tmp_path / command)) == names
        assert "wrote" in run(command, swarm, "--out", tmp_path / command, *few)


def test_labels_and_values_come_from_one_reading(swarm: Path, tmp_path: Path) -> None:
    summary = json.loads(run("events", swarm, "--out", tmp_path / "a", "--collaboration", tmp_path / "b", "--json"))
    assert summary["collaboration"]["objects"] > 0
    assert set(files_of(tmp_path / "b")) == {"object_value.jsonl", "collaboration.json"}
    assert "helps" in run("events", swarm, "--out", tmp_path / "a", "--collaboration", tmp_path / "b")
    with pytest.raises(InputError, match="the dataset itself"):
        run("events", swarm, "--out", tmp_path / "a", "--collaboration", swarm / "values")


def test_our_own_reader_scores_the_questions(swarm: Path, tmp_path: Path) -> None:
    run("questions", swarm, "--out", tmp_path, "--seed", 3, "--per-task", 8)
    questions = json.loads((tmp_path / "questions.json").read_text())["results"]
    answers = [{"question_id": q["question_id"], "predicted_answer": q["correct_answer"]} for q in questions]
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    scores = evaluate("aircopbench", EvaluationRequest(tmp_path / "questions.json", tmp_path / "answers.json")).scores
    assert (scores["accuracy"], scores["uncategorised"]) == (1.0, 0)
    for question in questions:
        assert all((swarm / file).is_file() for file in question["uav_paths"].values())


def test_a_dry_run_writes_nothing(swarm: Path, tmp_path: Path) -> None:
    for command in ("events", "collaboration", "questions"):
        assert json.loads(run(command, swarm, "--out", tmp_path / "new", "--dry-run", "--json"))["samples"] == 3
        assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("command", ["events", "collaboration", "questions"])
def test_bad_input_is_one_line_and_writes_nothing(command: str, swarm: Path, tmp_path: Path) -> None:
    (tmp_path / "levels.yaml").write_text("objects: {seen_px: many}\n")
    (tmp_path / "empty").mkdir()
    cases: list[tuple[type[UavsimError], int, tuple[object, ...]]] = [
        (InputError, 2, (swarm, "--out", swarm / "labels")),
        (InputError, 2, (swarm, "--out", tmp_path / "levels.yaml")),
        (ConfigError, 2, (swarm, "--out", tmp_path / "out", "--thresholds", tmp_path / "levels.yaml")),
        (DatasetError, 4, (tmp_path / "empty", "--out", tmp_path / "out")),
    ]
    for error, code, words in cases:
        with pytest.raises(error) as found:
            run(command, *words)
        assert found.value.exit_code == code
        assert "\n" not in str(found.value)
        assert not (tmp_path / "out").exists()


def test_twins_that_are_not_there_are_refused(swarm: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"twin\.json is missing"):
        run("events", swarm, "--out", tmp_path / "out", "--twins", tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_single_drone_is_valued_and_asked_for_what_it_can_be(tmp_path: Path) -> None:
    root = make_dataset(tmp_path / "one", scenes=1, samples=1, drones=1, size_px=(96, 54))
    summary = json.loads(run("collaboration", root, "--out", tmp_path / "out", "--json"))
    assert (summary["drones"], summary["helps"]["objects"]) == ([0], [[0.0]])
    shutil.rmtree(tmp_path / "out")
    run("events", root, "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out/events.json").read_text())["images_that_ask"] == 0
