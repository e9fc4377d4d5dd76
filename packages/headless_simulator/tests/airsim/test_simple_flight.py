"""Every mission is flown as AirSim's own flight code flew it: the traces say how they were made."""

from pathlib import Path

import numpy as np
import pytest
from conformance.airlib.compare import Difference, difference, read_traces, thin
from conformance.airlib.flat_world import FlatWorld
from conformance.airlib.flights import Answer, Trace, fly_ours
from conformance.airlib.missions import MISSIONS, Mission

TRACES = read_traces(Path(__file__).with_name("traces") / "airlib.npz")


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.name)
def test_flies_as_airlib(mission: Mission) -> None:
    apart = difference(TRACES[mission.name], thin(fly_ours(mission, FlatWorld())))

    assert apart.agrees, apart


def test_every_mission_has_a_trace_that_moves() -> None:
    assert set(TRACES) == {mission.name for mission in MISSIONS}
    assert len(MISSIONS) > 30
    for name, drones in TRACES.items():
        for trace in drones:
            assert np.ptp(trace.poses[:, 2]) > 1.0, name


def test_a_difference_is_seen() -> None:
    there = Trace(np.array([[0, 0, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0, 0]], np.float32), [Answer(5, "true")])
    turned = [0, 0, -0.06, np.cos(0.01), 0, 0, np.sin(0.01)]
    here = Trace(np.array([turned, [1, 0, 0, -1, 0, 0, 0]], np.float32), [Answer(5, "false")])

    apart = difference([there], [here])

    assert apart.metres == pytest.approx(0.06)
    assert apart.degrees == pytest.approx(np.degrees(0.02), rel=1e-3)
    assert apart.answers == "call 0: true in step 5 there, false in step 5 here"
    assert not apart.agrees
    assert not Difference(0.051, 0, "").agrees
    assert not Difference(0, 0.51, "").agrees
    assert Difference(0.049, 0.49, "").agrees
