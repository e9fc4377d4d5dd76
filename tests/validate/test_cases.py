"""Missing, too small and untagged corner cases are found; a valid dataset has no finding."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.rare_dataset import make_rare
from uavsim.validate import validate_dataset

PLANTED = {"no case": "cases.none", "too few pixels": "cases.small", "tags": "cases.tag"}


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_rare(tmp_path_factory.mktemp("cases") / "data", cameras=("BOTTOM",))


def change(root: Path, name: str, rows: list[Any]) -> None:
    (root / "v1.0-mini" / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")


def codes(root: Path) -> list[str]:
    (report,) = validate_dataset(root, workers=1)
    return [finding.code for finding in report.findings if finding.severity == "error"]


def test_valid_corner_cases_have_no_finding(rare: Path) -> None:
    assert codes(rare) == []


def test_planted_defect_of_corner_cases_is_found(rare: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(rare, tmp_path / "data"))
    cases, tags = (
        json.loads((root / "v1.0-mini" / f"{n}.json").read_text("utf-8")) for n in ("corner_case", "object_tag")
    )
    change(root, "corner_case", [{**cases[0], "min_visible_px": 1_000_000}])
    change(root, "object_tag", [{**tags[0], "tag": "two words"}, *tags[1:-1]])
    found = codes(root)
    assert found.count(PLANTED["too few pixels"]) == 1
    assert found.count(PLANTED["tags"]) == 2  # one of two words, and an instance without any
    change(root, "corner_case", [])
    assert PLANTED["no case"] in codes(root)
