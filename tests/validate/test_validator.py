"""The validator says nothing about a clean data set and names the place of every planted defect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.validate.defects import DEFECTS
from tests.validate.disk import Disk
from tests.validate.planting import Defect
from uavsim.validate import Finding, validate_dataset


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
    monkeypatch.setattr("uavsim.validate.evidence._POOL_FROM_IMAGES", 1)
    assert validate_dataset(disk.root, workers=2)[0].as_json() == alone[0].as_json()


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_is_named_at_its_place(name: str, clean: Path, tmp_path: Path) -> None:
    disk, planted = Disk(clean, tmp_path / "data"), DEFECTS[name]
    planted.plant(disk)
    (report,) = validate_dataset(disk.root, workers=1)
    json.dumps(report.as_json(), allow_nan=False)
    said = "\n".join(f"{f.code} {f.place}: {f.message}" for f in report.findings)
    assert any(_is_it(f, planted, disk, clean) for f in report.findings), f"{planted.code} not among:\n{said}"


def _is_it(finding: Finding, planted: Defect, disk: Disk, clean: Path) -> bool:
    place = finding.code == planted.code and finding.scene == (planted.scene or "")
    if planted.channel:
        place = place and finding.channel == planted.channel
    if planted.sample is not None and planted.scene:
        place = place and finding.sample == _clean_sample(disk, clean, planted)
    return place


def _clean_sample(disk: Disk, clean: Path, planted: Defect) -> str:
    kept, disk.root = disk.root, clean  # the copy may have lost the row
    try:
        return disk.sample(planted.sample or 0, planted.scene or "")["token"]
    finally:
        disk.root = kept
