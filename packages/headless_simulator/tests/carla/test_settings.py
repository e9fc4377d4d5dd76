import pytest
from headless_simulator.carla.settings import Settings
from headless_simulator.errors import ClientError


def test_settings_round_trip():
    wire = [True, True, [True, 0.025], True, 0.01, 16, 100.0, True, 3000.0, 2000.0, True]

    assert Settings().changed(wire).wire() == wire
    assert Settings().changed([False, False, [False]]).fixed_step_s is None


@pytest.mark.parametrize("step", [-0.1, 1e9, float("nan")])
def test_invalid_step_is_refused(step):
    with pytest.raises(ClientError):
        Settings().changed([True, False, [True, step]])
