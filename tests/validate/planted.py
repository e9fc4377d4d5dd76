"""Each planted defect is named at its place: what every test of a group of checks asks."""

import json
from pathlib import Path

from tests.validate.defects import DEFECTS
from tests.validate.disk import Disk
from tests.validate.planting import Defect
from uavsim.validate import Finding, validate_dataset


def planted(*groups: str) -> list[str]:
    """Names of the defects whose findings are of these groups."""
    return [name for name, defect in DEFECTS.items() if defect.code.split(".")[0] in groups]


def assert_named(name: str, clean: Path, folder: Path) -> None:
    """Plant a defect in a copy of the clean dataset; the validator says what it is and where."""
    disk, defect = Disk(clean, folder / "data"), DEFECTS[name]
    defect.plant(disk)
    (report,) = validate_dataset(disk.root, workers=1)
    json.dumps(report.as_json(), allow_nan=False)
    said = "\n".join(f"{f.code} {f.place}: {f.message}" for f in report.findings)
    assert any(_is_it(f, defect, disk, clean) for f in report.findings), f"{defect.code} not among:\n{said}"


def _is_it(finding: Finding, defect: Defect, disk: Disk, clean: Path) -> bool:
    place = finding.code == defect.code and finding.scene == (defect.scene or "")
    if defect.channel:
        place = place and finding.channel == defect.channel
    if defect.sample is not None and defect.scene:
        place = place and finding.sample == _clean_sample(disk, clean, defect)
    return place


def _clean_sample(disk: Disk, clean: Path, defect: Defect) -> str:
    kept, disk.root = disk.root, clean  # the copy may have lost the row
    try:
        return disk.sample(defect.sample or 0, defect.scene or "")["token"]
    finally:
        disk.root = kept
