"""CAN messages of a car that drives in a circle."""

from itertools import pairwise

import numpy as np
import pytest

from uavsim.exports.formats.can_bus import meta, pose_messages, vehicle_messages
from uavsim.ingredients.vehicles_can_bus import STATE
from uavsim.typing import FloatArray, JsonDict


def on_circle(step: int) -> dict[str, object]:
    """Return a pose on a circle of 10 m, counter-clockwise at 0.2 rad/s, every 0.1 s."""
    angle = 0.02 * step
    half = (angle + np.pi / 2) / 2
    return {
        "timestamp": 1_700_000_000_000_000 + 100_000 * step,
        "translation": [10 * np.cos(angle), 10 * np.sin(angle), 0.0],
        "rotation": [np.cos(half), 0.0, 0.0, np.sin(half)],
        "uav_velocity": [-2 * np.sin(angle), 2 * np.cos(angle), 0.0],
    }


def test_pose_messages_on_a_circle_have_its_accelerations() -> None:
    messages = pose_messages([on_circle(step) for step in range(9)])
    assert [m["utime"] for m in messages] == [1_700_000_000_000_000 + 20_000 * k for k in range(41)]
    for message in messages:
        assert list(message) == ["utime", "accel", "orientation", "pos", "rotation_rate", "vel"]
        np.testing.assert_allclose(message["vel"], [2, 0, 0], atol=1e-5)  # straight ahead
        np.testing.assert_allclose(
            message["accel"], [0, 0.4, 9.81], atol=1e-3
        )  # v^2 / r to the left, and the reaction to gravity
        np.testing.assert_allclose(message["rotation_rate"], [0, 0, 0.2], atol=1e-9)


def test_single_pose_gives_one_message_at_rest() -> None:
    (message,) = pose_messages([on_circle(0)])
    assert message["accel"] == [0.0, 0.0, 9.81]
    assert message["rotation_rate"] == [0.0, 0.0, 0.0]


def states(step: int) -> tuple[object, ...]:
    """Return the recorded state of the same car at 20 Hz."""
    angle = 0.01 * step
    half = (angle + np.pi / 2) / 2
    position_m, quat_wxyz = (10 * np.cos(angle), 10 * np.sin(angle), 0.0), (np.cos(half), 0.0, 0.0, np.sin(half))
    return 1_700_000_000_000_000 + 50_000 * step, position_m, quat_wxyz, 0.25, -0.1, 0.0, 0.0, 1.0, 0x20


@pytest.fixture(scope="module")
def messages() -> dict[str, list[JsonDict]]:
    return vehicle_messages(np.array([states(step) for step in range(201)], STATE))


def inner(rows: list[JsonDict], key: str) -> FloatArray:
    """Return (N, ...) values of a message without the first and last half second, where a spline lacks a neighbour."""
    values = np.array([row[key] for row in rows], dtype=np.float64)
    cut = max(len(values) // 20, 1)
    return values[cut:-cut]


def test_messages_have_nuscenes_rates(messages: dict[str, list[JsonDict]]) -> None:
    assert {name: len(rows) for name, rows in messages.items()} == {
        "ms_imu": 1001, "pose": 501, "steeranglefeedback": 1001, "vehicle_monitor": 21, "zoesensors": 8001,
        "zoe_veh_info": 1001,
    }  # fmt: skip
    for rows in messages.values():
        assert len({later["utime"] - row["utime"] for row, later in pairwise(rows)}) == 1


def test_all_messages_describe_one_motion(messages: dict[str, list[JsonDict]]) -> None:
    """The car drives at 2 m/s on a circle of 10 m."""
    for name, key in (("ms_imu", "linear_accel"), ("pose", "accel")):
        np.testing.assert_allclose(
            inner(messages[name], key), [[0, 0.4, 9.81]] * len(inner(messages[name], key)), atol=1e-3
        )
    np.testing.assert_allclose(inner(messages["pose"], "vel") - [2, 0, 0], 0, atol=1e-5)
    np.testing.assert_allclose(inner(messages["pose"], "rotation_rate") - [0, 0, 0.2], 0, atol=1e-5)
    wheel_rad = -15 * np.arctan(2.588 / 10)  # to the left is negative
    np.testing.assert_allclose(inner(messages["steeranglefeedback"], "value"), wheel_rad, atol=1e-3)
    monitor, info = messages["vehicle_monitor"], messages["zoe_veh_info"]
    np.testing.assert_allclose(inner(monitor, "vehicle_speed"), 7.2, atol=0.011)
    np.testing.assert_allclose(inner(monitor, "yaw_rate"), np.degrees(0.2), atol=0.06)
    left, right = (2.0 + side * 0.2 * 1.51 / 2 for side in (-1, 1))
    rpm = 60 / (2 * np.pi * 0.31)
    np.testing.assert_allclose(inner(info, "RL_wheel_speed"), left * rpm, rtol=1e-4)
    np.testing.assert_allclose(inner(info, "RR_wheel_speed"), right * rpm, rtol=1e-4)
    np.testing.assert_allclose(inner(info, "transversal_accel"), 0.4 / 9.81, atol=0.003)


def test_pedals_gear_and_blinkers_equal_the_simulators(messages: dict[str, list[JsonDict]]) -> None:
    for row in messages["vehicle_monitor"]:
        monitor = {
            key: row[key]
            for key in ("throttle", "brake", "brake_switch", "gear_position", "left_signal", "right_signal")
        }
        assert monitor == {
            "throttle": 250, "brake": 0, "brake_switch": 1, "gear_position": 7, "left_signal": 1, "right_signal": 0,
        }  # fmt: skip
    assert {row["throttle_sensor"] for row in messages["zoesensors"]} == {250}


def test_meta_counts_messages(messages: dict[str, list[JsonDict]]) -> None:
    found = meta(messages)
    assert found["pose"]["message_count"] == 501
    assert found["pose"]["timespan"] == pytest.approx(10.0)
    np.testing.assert_allclose(found["pose"]["var_stats"]["vel"]["mean"], [2, 0, 0], atol=1e-3)


def test_standing_car_does_not_steer() -> None:
    still = np.array([states(0)] * 41, STATE)
    still["timestamp_us"] += 50_000 * np.arange(41)
    rows = vehicle_messages(still)
    assert {row["value"] for row in rows["steeranglefeedback"]} == {0.0}
    assert {row["odom"] for row in rows["zoe_veh_info"]} == {0}


def test_brake_switch_has_a_position_for_light_braking() -> None:
    state = np.array([states(step) for step in range(201)], STATE)
    state["brake"] = np.repeat([0.0, 0.05, 0.5], 67)
    assert list(dict.fromkeys(row["brake_switch"] for row in vehicle_messages(state)["vehicle_monitor"])) == [1, 2, 3]
