"""The validator reports nothing for a clean dataset, and every planted defect with its code and place."""

import json
from pathlib import Path

import pytest

from tests.validate.defects import DEFECTS
from tests.validate.disk import Disk
from uavsim.validate import Finding, validate_dataset


def test_clean_dataset_has_no_finding(clean: Path) -> None:
    (report,) = validate_dataset(clean, workers=1)
    assert [str(f) for f in report.findings] == []
    assert report.ok
    assert report.skipped == {}
    assert report.dialect == "strict"
    assert report.facts["images"] == 90


def test_process_pool_finds_the_same(clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(clean, tmp_path / "data")
    DEFECTS["box_shifted_by_a_metre"].plant(disk)
    alone = validate_dataset(disk.root, workers=1)
    monkeypatch.setattr("uavsim.validate.evidence._POOL_FROM_TABLE_BYTES", 1)
    assert validate_dataset(disk.root, workers=2)[0].as_json() == alone[0].as_json()


@pytest.mark.parametrize("name", DEFECTS)
def test_planted_defect_is_reported_with_code_and_place(name: str, clean: Path, tmp_path: Path) -> None:
    disk, defect = Disk(clean, tmp_path / "data"), DEFECTS[name]
    sample = disk.sample(defect.sample, defect.scene)["token"] if defect.sample is not None and defect.scene else ""

    defect.plant(disk)
    (report,) = validate_dataset(disk.root, workers=1)

    json.dumps(report.as_json(), allow_nan=False)

    def is_expected(finding: Finding) -> bool:
        matches = finding.code == defect.code and finding.scene == (defect.scene or "")
        matches &= not defect.channel or finding.channel == defect.channel
        return matches and (not sample or finding.sample == sample)

    reported = "\n".join(f"{f.code} {f.place_text}: {f.message}" for f in report.findings)
    assert any(map(is_expected, report.findings)), f"{defect.code} not among:\n{reported}"
