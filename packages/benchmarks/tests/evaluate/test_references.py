"""Scores against stored answers of the benchmarks' own programs."""

import json
from pathlib import Path

import pytest

from evaluate.references import REFERENCES, STORED


@pytest.mark.parametrize("name", REFERENCES)
def test_ours_are_theirs(name: str, tmp_path: Path) -> None:
    reference, stored = REFERENCES[name], json.loads((STORED / f"{name}.json").read_text())
    assert stored["from"] == reference.repository
    assert reference.compare(reference.cases(tmp_path), stored["answers"]) > 20
