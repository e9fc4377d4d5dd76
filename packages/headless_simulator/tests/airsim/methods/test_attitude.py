"""Gains and rotors."""

import airsim
import pytest

from tests.airsim.conftest import hang


def test_gains_and_rotors(serve, connect) -> None:
    client = connect(serve())
    hang(client)
    client.setVelocityControllerGains(airsim.VelocityControllerGains())
    client.setPositionControllerGains(airsim.PositionControllerGains())
    client.setAngleRateControllerGains()
    client.setAngleLevelControllerGains()
    client.simContinueForTime(2)
    rotors = client.getRotorStates().rotors
    assert sum(r["thrust"] for r in rotors) == pytest.approx(9.80665 / 0.984, rel=0.01)  # its weight, in thinner air
