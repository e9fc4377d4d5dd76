"""The validator says nothing about a clean dataset and names the place of every planted defect."""

import re
from pathlib import Path

import pytest

from tests.validate.defects import DEFECTS
from tests.validate.disk import Disk
from uavsim.validate import validate_dataset


def test_nothing_is_found_where_nothing_is_wrong(clean: Path) -> None:
    (report,) = validate_dataset(clean, workers=1)
    assert [str(f) for f in report.findings] == []
    assert report.ok
    assert report.skipped == {}
    assert report.dialect == "strict"
    assert report.facts["images"] == 90


def test_a_pool_of_processes_finds_the_same(clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(clean, tmp_path / "data")
    DEFECTS["box_shifted_by_a_metre"].plant(disk)
    alone = validate_dataset(disk.root, workers=1)
    monkeypatch.setattr("uavsim.validate.evidence._POOL_FROM_TABLE_BYTES", 1)
    assert validate_dataset(disk.root, workers=2)[0].as_json() == alone[0].as_json()


def test_every_planted_defect_is_looked_for_beside_its_checks() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    asked = set(re.findall(r'"(\w+)"', "".join(re.findall(r"planted\((.*?)\)\)", tests))))
    assert asked == {defect.code.split(".")[0] for defect in DEFECTS.values()}
