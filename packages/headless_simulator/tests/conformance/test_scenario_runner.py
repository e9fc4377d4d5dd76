"""What the trial makes of scenario_runner's files and of how its runs end."""

from pathlib import Path

import pytest
from conformance.scenario_runner import Scenario, drive_of, ending_of, open_scenarios, xml_scenarios

RESULT = "============ Results of Scenario: Odd_1 ---- {} ============="
TRACE = "Traceback (most recent call last):"
ROW = "│ tesla.model3 (id=7) │ {} (Req.) │ {} │ 1 │ 0 │"


@pytest.mark.parametrize(
    ("lines", "code", "ending"),
    [
        ([RESULT.format("SUCCESS"), ROW.format("CollisionTest", "SUCCESS")], 0, ("ran", "SUCCESS")),
        (
            [RESULT.format("FAILURE"), ROW.format("CollisionTest", "FAILURE"), ROW.format("Timeout", "SUCCESS")],
            0,
            ("ran", "FAILURE (CollisionTest)"),
        ),
        ([TRACE, "IndexError: odd"], 0, ("FAIL", "IndexError: odd")),
        ([TRACE, "Exception: Error: Unable to spawn"], 0, ("no place", "Exception: Error: Unable to spawn")),
        (
            [TRACE, "AttributeError: 'NoneType' object has no attribute 'transform'"],
            0,
            ("no place", "AttributeError: 'NoneType' object has no attribute 'transform'"),
        ),
        ([RESULT.format("SUCCESS"), TRACE, "KeyError: 3"], 0, ("FAIL", "KeyError: 3")),
        (["nothing of note"], 1, ("FAIL", "nothing of note")),
        ([], -11, ("FAIL", "signal 11")),
        ([RESULT.format("SUCCESS")], -6, ("FAIL", "signal 6")),
        (
            [RESULT.format("SUCCESS"), "All scenario tests were passed successfully!", "terminate called"],
            -6,
            ("ran", "SUCCESS; then the client ended itself with signal 6"),
        ),
        ([RESULT.format("SUCCESS"), "No more scenarios .... Exiting"], None, ("ran", "SUCCESS")),
        (["RuntimeError: time-out"], None, ("too slow", "RuntimeError: time-out")),
    ],
)  # fmt: skip
def test_ending_of_scenario_runs(lines: list[str], code: int | None, ending: tuple[str, str]):
    assert ending_of(lines, code) == ending


def test_every_scenario_of_a_checkout_is_found(tmp_path: Path):
    examples = tmp_path / "srunner" / "examples"
    examples.mkdir(parents=True)
    (examples / "Odd.xml").write_text('<scenarios><scenario name="Odd_1" type="Odd" town="Town01"/></scenarios>')
    (examples / "Cut.xosc").write_text(
        '<OpenSCENARIO><RoadNetwork><LogicFile filepath="maps/Town04.xodr"/></RoadNetwork></OpenSCENARIO>'
    )

    assert list(xml_scenarios(tmp_path)) == [Scenario("Odd/Odd_1", "Town01", ("--scenario", "Odd_1", "--reloadWorld"))]
    assert list(open_scenarios(tmp_path)) == [
        Scenario("Cut.xosc", "Town04", ("--openscenario", "srunner/examples/Cut.xosc", "--reloadWorld"))
    ]


@pytest.mark.parametrize(
    ("name", "drive"),
    [
        ("SignalizedJunctionLeftTurn/SignalizedJunctionLeftTurn_4", ["--turn", "left", "--obey-lights"]),
        ("VehicleTurning/VehicleTurningRight_7", ["--turn", "right"]),
        ("RunningRedLight/OppositeVehicleRunningRedLight_2", ["--obey-lights"]),
        ("CutIn/CutInFrom_left_Lane", []),
        ("Slalom.xosc", ["--obey-lights"]),  # its criteria count red lights
    ],
)
def test_driver_options_follow_the_scenario(name: str, drive: list[str]):
    assert drive_of(Scenario(name, "Town04", ())) == drive
