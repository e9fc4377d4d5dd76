"""What a server answers selects the behaviours of a simulator that behaves alike."""

import pytest
from headless_simulator.behaviours import BEHAVIOURS
from headless_simulator.testing import running_simulator

from uavsim.probing.conform.answers import AnswerFile
from uavsim.probing.conform.behaviours import selected
from uavsim.probing.conform.run import answers_of

PROBES = ("drawing", "exposure", "parked", "airsim-clock", "airsim-placing", "airsim-reset")
ASKED_IN_TOWN10 = [name for name in BEHAVIOURS if name != "large-map"]
"""Tiles are streamed in large maps alone; ``tests/e2e/test_large_map.py`` flies in one."""


@pytest.mark.parametrize("behaviour", ["", *ASKED_IN_TOWN10])
def test_a_server_is_told_by_its_answers(behaviour: str) -> None:
    chosen = {behaviour: BEHAVIOURS[behaviour].values[1]} if behaviour else {}
    words = [word for name, value in chosen.items() for word in ("--behaviour", f"{name}={value}")]
    with running_simulator(*words) as simulator:
        answers = [one for name in PROBES for one in answers_of(name, simulator.carla, simulator.airsim)]
    given = AnswerFile(
        simulator="", client="", server="", airsim="1", town="", started="", seconds=0, answers=tuple(answers)
    )
    assert selected(given) == chosen
