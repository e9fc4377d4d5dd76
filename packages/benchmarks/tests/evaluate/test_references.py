"""Scores against stored answers of the benchmarks' own programs."""

import json
from pathlib import Path

import pytest

from evaluate.references import REFERENCES, STORED

LONG = {"openad"}  # its program takes a quarter of a minute


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.release if name in LONG else ()) for name in REFERENCES]
)
def test_ours_are_theirs(name: str, tmp_path: Path) -> None:
    reference, stored = REFERENCES[name], json.loads((STORED / f"{name}.json").read_text())
    assert stored["from"] == reference.repository
    assert reference.compare(reference.cases(tmp_path), stored["answers"]) > 20
