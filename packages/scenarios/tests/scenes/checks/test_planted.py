"""The list of these checks is whole: a planted defect proves every code."""

from scenes.checks import test_cases, test_encounters, test_streams
from tests.validate import clock_defects
from uavsim.validate.checks import checks
from uavsim_scenarios.checks import CHECKS


def test_every_code_is_planted() -> None:
    of_groups = (test_cases, test_encounters, test_streams, clock_defects)
    planted = {code for module in of_groups for code in module.PLANTED.values()}
    assert planted == {code for check in CHECKS for code in check.codes}


def test_the_validator_makes_them() -> None:
    assert set(CHECKS) <= set(checks())
