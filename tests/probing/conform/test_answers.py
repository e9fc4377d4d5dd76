import json
import os
from pathlib import Path

import pytest

from uavsim.errors import InputError
from uavsim.probing.conform.answers import REFERENCE, Answer, AnswerFile, read_answers, write_answers
from uavsim.probing.conform.ask import Ask

ASK = Ask("lockstep")


def file_of(*answers: Answer) -> AnswerFile:
    return AnswerFile(
        simulator="unreal",
        client="0.9.16",
        server="0.9.16",
        airsim="",
        town="Town10HD_Opt",
        started="2026-01-01",
        seconds=1.0,
        answers=answers,
    )


def test_answers_file_round_trip(tmp_path: Path) -> None:
    written = file_of(
        ASK.near("a", [1.0, 2.5], 0.1, unit="m"), ASK.holds_all("b", ["y", "x"]), ASK.absent("c", "no such thing")
    )
    write_answers(tmp_path / "a.json", written)
    assert read_answers(tmp_path / "a.json") == written


def test_the_stored_answers_hold_every_capability() -> None:
    capabilities = {a.capability for a in read_answers(REFERENCE).answers}
    assert {"lockstep", "placements", "stamps", "masks and boxes", "determinism", "AirSim flight"} <= capabilities
    assert not [a for a in read_answers(REFERENCE).answers if a.question == "asked to the end"]


def test_non_finite_numbers_become_a_sentinel() -> None:
    assert ASK.near("a", float("nan"), 0.1).value == -1e9
    assert ASK.at_most("a", float("nan"), 0.1).value == 1e9
    assert ASK.near("a", [float("inf"), 1.0], 0.1).value == [-1e9, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the file"),
        ("{", "the file"),
        ('{"format": 2}', "format"),
        (
            json.dumps(json.loads(file_of().model_dump_json()) | {"answers": [{"capability": "a", "question": "b"}]}),
            "value",
        ),
        (json.dumps(json.loads(file_of().model_dump_json()) | {"seconds": -1}), "seconds"),
    ],
)
def test_a_foreign_file_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_answers(path)
    assert "\n" not in str(refused.value)


def test_a_question_answered_twice_is_refused(tmp_path: Path) -> None:
    text = json.loads(file_of(ASK.equal("a", 1)).model_dump_json())
    (tmp_path / "a.json").write_text(json.dumps(text | {"answers": text["answers"] * 2}))
    with pytest.raises(InputError, match="answered twice"):
        read_answers(tmp_path / "a.json")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="larger than"):
        read_answers(tmp_path / "a.json")


def test_fifo_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.json")
    with pytest.raises(InputError, match="not a regular file"):
        read_answers(tmp_path / "a.json")
