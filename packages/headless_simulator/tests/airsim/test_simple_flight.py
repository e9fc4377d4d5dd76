"""Flights of every mission, against recorded traces of AirSim's flight code."""

from pathlib import Path

import pytest
from conformance.airlib.compare import difference, read_traces, thin
from conformance.airlib.flat_world import FlatWorld
from conformance.airlib.flights import fly_ours
from conformance.airlib.missions import MISSIONS, Mission

TRACES = read_traces(Path(__file__).with_name("traces") / "airlib.npz")


@pytest.mark.parametrize("mission", MISSIONS, ids=lambda mission: mission.name)
def test_flies_as_airlib(mission: Mission) -> None:
    apart = difference(TRACES[mission.name], thin(fly_ours(mission, FlatWorld())))

    assert apart.agrees, apart
