"""What the trial of late messages compares, by cases worked out on paper."""

import numpy as np
import pytest

from tools.trials.asynchrony import Flight, Seen, arrived, boxes_heard, count_scene, shifted


def seen(time_ms: int, x_m: float) -> Seen:
    return Seen(time_ms * 1000, {"car": np.array([x_m, 0.0])})


KEYFRAMES = [seen(100 * k, 1.0 * k) for k in range(9)]  # a car at 10 m/s
FIRINGS = [seen(100 * k + 40, 1.0 * k + 0.4) for k in range(9)]
FLIGHT = Flight(
    keyframes={"0": [Seen(own.timestamp_us, {}) for own in KEYFRAMES], "1": KEYFRAMES},
    firings={"0": [], "1": FIRINGS},
    moving=[frozenset({"car"})] * 9,
    clock={"0": lambda _time_us: 5_000.0, "1": lambda _time_us: -15_000.0},
)


def test_a_shift_is_as_old_as_whole_keyframes_and_a_message_as_its_way_and_its_wait() -> None:
    shift = shifted(100)(FLIGHT, "1", 8)
    assert shift is not None
    assert (shift[0], shift[1]) == (KEYFRAMES[7], KEYFRAMES[6])
    assert shift[2] == pytest.approx(0.1)
    heard = arrived(100, offset=0.0)(FLIGHT, "1", 8)
    assert heard is not None
    assert (heard[0], heard[1]) == (FIRINGS[6], FIRINGS[5])
    assert heard[2] == pytest.approx(0.16)
    assert arrived(900)(FLIGHT, "1", 8) is None


def test_motion_is_compensated_by_what_two_clocks_show() -> None:
    right, by_clocks = arrived(100, offset=0.0)(FLIGHT, "1", 8), arrived(100)(FLIGHT, "1", 8)
    assert right is not None
    assert by_clocks is not None
    assert boxes_heard(right, compensated=False)["car"].tolist() == pytest.approx([6.4, 0.0])
    assert boxes_heard(right, compensated=True)["car"].tolist() == pytest.approx([8.0, 0.0])
    assert boxes_heard(by_clocks, compensated=True)["car"].tolist() == pytest.approx([8.2, 0.0])  # 20 ms at 10 m/s


def test_a_box_that_is_a_metre_off_is_a_miss() -> None:
    late, own = (count_scene(FLIGHT, arrived(100), compensated=moved) for moved in (False, True))
    assert late.hit.tolist() == [False, False]
    assert own.hit.tolist() == [True, True]
    assert late.truth == own.truth == 2
