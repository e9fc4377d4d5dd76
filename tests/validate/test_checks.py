"""The list of checks is complete: each code is documented and has a planted defect."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.validate import (
    clock_defects,
    shutter_defects,
    test_cases,
    test_encounters,
    test_events,
    test_maps,
    test_points,
    test_streams,
)
from tests.validate.defects import DEFECTS
from uavsim.dataset.dialects import DIALECTS
from uavsim.validate.checks import CHECKS, checks, codes
from uavsim.validate.dataset import DIALECTS as KNOWN_DIALECTS

DOCS = Path(__file__).parents[2] / "docs"
TABLE, PAGE = DOCS / "validation-checks.md", DOCS / "validation.md"


def reported_codes() -> set[str]:
    """Return the codes of the page's table: ``group.code``, ``.code`` of the group before, ``group.*`` for all of it."""
    found: set[str] = set()
    group = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        first = line.split("|")[1] if line.startswith("| `") else ""
        for name in re.findall(r"`([a-z_]*\.(?:[a-z_]+|\*))`", first):
            group = name.partition(".")[0] or group
            code = name if name.partition(".")[0] else group + name
            found |= {known for known in codes() if known.startswith(f"{group}.")} if code.endswith("*") else {code}
    return found


def test_the_page_reports_every_code_and_no_other() -> None:
    assert reported_codes() == set(codes())


def test_every_code_is_planted() -> None:
    of_groups = (
        test_points,
        test_events,
        test_maps,
        test_cases,
        test_encounters,
        test_streams,
        clock_defects,
        shutter_defects,
    )
    planted = {code for module in of_groups for code in module.PLANTED.values()}
    assert {defect.code for defect in DEFECTS.values()} | planted == {code for check in CHECKS for code in check.codes}


def test_the_page_counts_the_defects() -> None:
    (reported,) = re.findall(r"Each of the (\d+) defects", PAGE.read_text(encoding="utf-8"))
    assert int(reported) == len(DEFECTS)


def test_checks_need_no_docstrings_at_run_time() -> None:
    program = "from uavsim.validate.checks import checks; print(len(checks()))"
    done = subprocess.run([sys.executable, "-OO", "-B", "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(checks())


def test_names_are_unique_and_rules_are_sentences() -> None:
    assert len({check.name for check in checks()}) == len(checks())
    for check in checks():
        assert check.rule.endswith("."), check.name


@pytest.mark.parametrize("name", KNOWN_DIALECTS)
def test_a_dialect_names_the_checks_that_it_alone_has_to_pass(name: str) -> None:
    alone = {check.name for check in checks() if check.dialects == (name,)}
    assert alone == set(DIALECTS.pick(name).checks)
