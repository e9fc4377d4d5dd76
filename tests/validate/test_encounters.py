"""Checks of encounters accept a valid dataset and find planted defects."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.encounter_factory import make_encounter_dataset
from tests.validate.disk import edited_table
from uavsim.validate import validate_version


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encounter_dataset(tmp_path_factory.mktemp("air"), heights_m=(30.0,))


@pytest.fixture
def root(clean: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(clean, tmp_path / "air"))


def codes(root: Path) -> set[str]:
    report = validate_version(root, "v1.0-mini", workers=1)
    return {finding.code for finding in report.findings if finding.code.startswith(("encounter.", "pixels.no_box"))}


def test_a_good_dataset_has_no_finding(clean: Path) -> None:
    assert codes(clean) == set()


def rewrite(root: Path, table: str, change: Callable[[list[dict[str, Any]]], object]) -> None:
    with edited_table(root / "v1.0-mini", table) as rows:
        change(rows)


DEFECTS: list[tuple[str, Callable[[dict[str, Any]], object], str]] = [
    ("intruder_view", lambda row: row.update(range_m=row["range_m"] + 0.01), "encounter.range"),
    ("encounter", lambda row: row.update(cpa_m=row["cpa_m"] + 40.0), "encounter.cpa"),
    ("intruder_view", lambda row: row["bbox"].__setitem__(0, row["bbox"][0] + 1), "encounter.box"),
    ("intruder_view", lambda row: row.update(visible_px=row["visible_px"] + 1), "encounter.box"),
    ("intruder_view", lambda row: row.update(is_above_horizon=-1), "encounter.horizon"),
]
PLANTED = {str(number): code for number, (_, _, code) in enumerate(DEFECTS)} | {"no row": "encounter.missing"}


@pytest.mark.parametrize(("table", "change", "code"), DEFECTS)
def test_planted_defect_of_encounters_is_found(
    root: Path, table: str, change: Callable[[dict[str, Any]], object], code: str
) -> None:
    rewrite(root, table, lambda rows: change(rows[-1]))

    assert codes(root) == {code}


def test_an_image_that_shows_it_without_a_row_is_found(root: Path) -> None:
    rewrite(root, "intruder_view", list.pop)

    assert codes(root) == {"encounter.missing"}
