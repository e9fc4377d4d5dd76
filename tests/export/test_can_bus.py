"""Messages of a car that drives in a circle: what a driver would feel."""

from __future__ import annotations

import numpy as np

from uavsim.export.can_bus import pose_messages


def on_circle(step: int) -> dict[str, object]:
    """10 m around the origin, counter-clockwise, 0.2 radians a second, a pose every 0.1 s."""
    angle = 0.02 * step
    half = (angle + np.pi / 2) / 2
    return {
        "timestamp": 1_700_000_000_000_000 + 100_000 * step,
        "translation": [10 * np.cos(angle), 10 * np.sin(angle), 0.0],
        "rotation": [np.cos(half), 0.0, 0.0, np.sin(half)],
        "uav_velocity": [-2 * np.sin(angle), 2 * np.cos(angle), 0.0],
    }


def test_a_circle_is_felt_as_one() -> None:
    messages = pose_messages([on_circle(step) for step in range(9)])
    assert [m["utime"] for m in messages] == [1_700_000_000_000_000 + 100_000 * k for k in range(9)]
    for message in messages[1:-1]:
        np.testing.assert_allclose(message["vel"], [2, 0, 0], atol=1e-9)  # straight ahead
        np.testing.assert_allclose(message["accel"], [0, 0.4, 0], atol=1e-3)  # v^2 / r, to the left
        np.testing.assert_allclose(message["rotation_rate"], [0, 0, 0.2], atol=1e-9)


def test_one_pose_alone_stands_still() -> None:
    (message,) = pose_messages([on_circle(0)])
    assert message["accel"] == message["rotation_rate"] == [0.0, 0.0, 0.0]
