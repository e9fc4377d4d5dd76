"""A server's answers select the behaviours of a similar headless simulator."""

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
TOGETHER = [
    (("first-image", "parked"), "Town10HD", OF_CARLA),
    (("stop", "exposure"), "Town10HD", OF_CARLA),
    (("no-rendering",), "Town10HD", OF_CARLA),
    (("set-pose", "reset"), "Town10HD", OF_AIRSIM),
    (("continue",), "Town10HD", OF_AIRSIM),
    (("large-map",), "Town12", ("placements",)),
    ((), "Town12", ("placements",)),
]
"""Independent behaviours with the probes that detect them; test_run.py tests the defaults."""


def test_every_behaviour_is_tested() -> None:
    assert {name for names, _, _ in TOGETHER for name in names} == BEHAVIOURS.keys()


@pytest.mark.release
@pytest.mark.parametrize(
    ("names", "town", "probes"), TOGETHER, ids=lambda value: value if isinstance(value, str) else "-".join(value)
)
def test_answers_select_the_behaviours_of_the_server(names: Sequence[str], town: str, probes: Sequence[str]) -> None:
    chosen = {name: BEHAVIOURS[name].values[1] for name in names}
    words = [word for name, value in chosen.items() for word in ("--behaviour", f"{name}={value}")]
    answers = answered("--town", town, *words, probes=probes)
    assert selected(answers) == chosen
    assert not faults(answers)


@pytest.mark.parametrize(
    ("fault", "probe", "entries"),
    [
        ("{fault: untagged, tag: Building}", "hidden", ["{fault: untagged, tag: Terrain}"]),
        ("{fault: stall_traffic}", "traffic", ["{fault: stall_traffic, probability: 1}"]),
    ],
)
def test_defects_of_masks_and_traffic_become_faults(fault: str, probe: str, entries: list[str], tmp_path: Path) -> None:
    (tmp_path / "faults.yaml").write_text(f"faults: [{fault}]")
    assert faults(answered("--faults", str(tmp_path / "faults.yaml"), probes=(probe,))) == entries


def answered(*words: str, probes: Sequence[str]) -> AnswerFile:
    """Return the answers of a simulator with options ``words`` to some probes."""
    with running_simulator(*words) as simulator:
        answers = [one for name in probes for one in answers_of(name, simulator.carla, simulator.airsim)]
    return AnswerFile(
        simulator="", client="", server="", airsim="1", town="", started="", seconds=0, answers=tuple(answers)
    )
