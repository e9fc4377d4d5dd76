import numpy as np
import pytest

from uavsim.errors import SimulatorError
from uavsim.probing.calibrate import solve_origin

NED = np.array([[0.0, 0, -60], [35, -8, -64], [-11, 20, -70], [4, 31, -58]])


def test_origin_of_points_worked_out_on_paper() -> None:
    """Unreal's z is up: a prop 90 m high in CARLA, 60 m above AirSim's origin, puts that origin 30 m high."""
    measured = solve_origin(NED * (1, 1, -1) + [172.2, -183.9, 30.0], NED)
    np.testing.assert_allclose(measured.origin_ue_m, [172.2, -183.9, 30.0], atol=1e-9)
    assert measured.worst_m < 1e-9
    assert abs(measured.turn_deg) < 1e-9


def test_a_turned_frame_shows_in_turn_and_residual() -> None:
    angle = np.radians(2.0)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    measured = solve_origin(NED * (1, 1, -1) @ turn.T, NED)
    assert measured.turn_deg == pytest.approx(2.0, abs=1e-6)
    assert measured.residual_m > 0.3


def test_two_points_are_too_few() -> None:
    with pytest.raises(SimulatorError, match="at least 3 measured positions"):
        solve_origin(NED[:2], NED[:2])
