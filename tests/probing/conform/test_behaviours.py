"""What a server answers selects the behaviours of a simulator that behaves alike."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from headless_simulator.behaviours import BEHAVIOURS
from headless_simulator.testing import running_simulator

from uavsim.probing.conform.answers import AnswerFile
from uavsim.probing.conform.behaviours import faults, selected
from uavsim.probing.conform.run import answers_of

OF_CARLA = ("drawing", "exposure", "parked", "hidden", "traffic")
OF_AIRSIM = ("airsim-clock", "airsim-placing", "airsim-reset")
ON_AIRSIM = {"set-pose", "continue", "reset"}  # these change what AirSim answers, and nothing of CARLA's


def probes_for(behaviour: str) -> tuple[str, ...]:
    if not behaviour:
        return OF_CARLA + OF_AIRSIM
    return OF_AIRSIM if behaviour in ON_AIRSIM else OF_CARLA


@pytest.mark.parametrize(
    ("behaviour", "town", "probes"),
    [
        *((name, "Town10HD", probes_for(name)) for name in ("", *BEHAVIOURS) if name != "large-map"),
        *((name, "Town12", ("placements",)) for name in ("", "large-map")),
    ],
)
def test_a_server_is_told_by_its_answers(behaviour: str, town: str, probes: Sequence[str]) -> None:
    chosen = {behaviour: BEHAVIOURS[behaviour].values[1]} if behaviour else {}
    words = [word for name, value in chosen.items() for word in ("--behaviour", f"{name}={value}")]
    given = answered("--town", town, *words, probes=probes)
    assert selected(given) == chosen
    assert not faults(given)


@pytest.mark.parametrize(
    ("fault", "probe", "told"),
    [
        ("{fault: untagged, tag: Building}", "hidden", ["{fault: untagged, tag: Terrain}"]),
        ("{fault: stall_traffic}", "traffic", ["{fault: stall_traffic, probability: 1}"]),
    ],
)
def test_masks_and_traffic_are_told_as_faults(fault: str, probe: str, told: list[str], tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text(f"faults: [{fault}]")
    assert faults(answered("--faults", str(tmp_path / "faults.yaml"), probes=(probe,))) == told


def answered(*words: str, probes: Sequence[str]) -> AnswerFile:
    """Return what a simulator answers."""
    with running_simulator(*words) as simulator:
        answers = [one for name in probes for one in answers_of(name, simulator.carla, simulator.airsim)]
    return AnswerFile(
        simulator="", client="", server="", airsim="1", town="", started="", seconds=0, answers=tuple(answers)
    )
