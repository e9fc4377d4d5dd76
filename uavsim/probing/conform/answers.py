"""The answers of a simulator and their file, as validated models: a file may come from any user."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from uavsim.errors import DatasetError, InputError
from uavsim.files.parse import read_regular
from uavsim.files.whole import HeldPath, write_whole

REFERENCE: Final = Path(__file__).with_name("headless.json")
"""The answers of the headless simulator of this version."""
_FORMAT: Final = 1
_MOST_BYTES: Final = 4 << 20

Rule = Literal["equal", "near", "at_most", "at_least", "holds_all", "shown"]
Text = Annotated[str, Field(max_length=400)]
Value: TypeAlias = bool | int | float | Text | Annotated[list[float] | list[Text], Field(max_length=5000)] | None


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Answer(_Model):
    """The answer of a simulator to one question.

    Attributes:
        capability: group of the question, for example ``lockstep``.
        question: text, unique in its capability.
        value: measured value; None if the simulator does not have it.
        unit: unit of the value, or "".
        rule: comparison with another simulator's answer. ``equal``: same value; ``near``: within ``tolerance``, number by
            number; ``at_most`` and ``at_least``: ``tolerance`` is a bound for both; ``holds_all``: the other has all names of
            this one; ``shown``: not compared, for example a speed.
        tolerance: tolerance of the rule, in the value's unit.
        town_only: compared only with answers from the same town.
        note: reason of a missing value.
    """

    capability: Text
    question: Text
    value: Value
    unit: Text = ""
    rule: Rule = "equal"
    tolerance: float = 0.0
    town_only: bool = False
    note: Text = ""


class AnswerFile(_Model):
    """All answers of one simulator.

    Attributes:
        format: version of the file format.
        simulator: ``headless`` or ``unreal``.
        client: version of CARLA's client.
        server: version of CARLA's server.
        airsim: version of AirSim's server, or "".
        town: the loaded town.
        started: start of the test, UTC.
        seconds: duration of the test.
        answers: one per question.
    """

    format: Literal[1] = _FORMAT
    simulator: Text
    client: Text
    server: Text
    airsim: Text
    town: Text
    started: Text
    seconds: Annotated[float, Field(ge=0)]
    answers: Annotated[tuple[Answer, ...], Field(max_length=5000)]

    @model_validator(mode="after")
    def _check_unique_questions(self) -> AnswerFile:
        questions = [(a.capability, a.question) for a in self.answers]
        if len(set(questions)) < len(questions):
            repeated = next(key for key in questions if questions.count(key) > 1)
            raise ValueError(f"{repeated[0]}: {repeated[1]!r} is answered twice")
        return self


def read_answers(path: Path) -> AnswerFile:
    """Read a file of answers.

    Raises:
        InputError: the file is missing, too large, or invalid.
    """
    try:
        return AnswerFile.model_validate_json(read_regular(path, most_bytes=_MOST_BYTES))
    except DatasetError as error:
        raise InputError(f"{error}; expected an answers file of `uavsim conform`") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(f"{path} is not an answers file of `uavsim conform`: {where}: {first['msg']}") from error


def write_answers(path: Path | HeldPath, answers: AnswerFile) -> None:
    """Write the file atomically.

    Raises:
        StorageError: the file cannot be written.
    """
    fields = answers.model_dump(exclude_defaults=True)
    lines = ",\n".join(json.dumps(answer) for answer in fields.pop("answers"))  # one line each, for readable diffs
    write_whole(path, f'{json.dumps(fields)[:-1]}, "answers": [\n{lines}\n]}}\n'.encode())
