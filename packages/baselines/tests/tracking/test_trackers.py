import pytest
import torch
from uavsim_baselines.bev.boxes import Boxes
from uavsim_baselines.tracking.trackers import TRACKERS


def made(*rows: tuple[float, float, float, float], labels: tuple[int, ...] | None = None) -> Boxes:
    """Return boxes from rows of x, y, vx, vy."""
    table = torch.tensor(rows, dtype=torch.float64).reshape(-1, 4)
    n = len(table)
    ones = torch.ones(n, 3, dtype=torch.float64)
    label = torch.tensor(labels or (0,) * n)
    centre = torch.cat([table[:, :2], ones[:, :1]], dim=1)
    return Boxes(centre, ones, ones[:, 0], table[:, 2:], label, torch.linspace(0.9, 0.5, n, dtype=torch.float64))


@pytest.mark.parametrize("name", list(TRACKERS))
def test_two_that_pass_each_other_keep_their_numbers(name: str) -> None:
    tracker = TRACKERS[name]()
    # 1 m apart sideways, 10 m/s towards each other, 0.5 s a sample: at the third sample they have passed
    found = [tracker.step(made((-5 + 5 * n, 0, 10, 0), (5 - 5 * n, 1, -10, 0)), time_s=100 + 0.5 * n) for n in range(4)]
    assert found == [[0, 1]] * 4


@pytest.mark.parametrize("name", list(TRACKERS))
def test_a_track_outlives_a_gap_and_not_a_long_one(name: str) -> None:
    tracker = TRACKERS[name]()
    assert tracker.step(made((0, 0, 4, 0)), time_s=0.0) == [0]
    assert tracker.step(made(), time_s=0.5) == []
    assert tracker.step(made((4, 0, 4, 0)), time_s=1.0) == [0]
    for n in range(4):
        tracker.step(made(), time_s=1.5 + 0.5 * n)
    assert tracker.step(made((14, 0, 4, 0)), time_s=3.5) == [1]


@pytest.mark.parametrize("name", list(TRACKERS))
def test_another_class_or_a_place_out_of_reach_is_another_track(name: str) -> None:
    tracker = TRACKERS[name]()
    tracker.step(made((0, 0, 0, 0)), time_s=0.0)
    assert tracker.step(made((0, 0, 0, 0), labels=(1,)), time_s=0.5) == [1]
    assert tracker.step(made((9, 0, 0, 0)), time_s=1.0) == [2]


def test_the_filter_learns_a_velocity_that_no_detector_says() -> None:
    tracker = TRACKERS["kalman"](reach_m=1.5)
    # 2 m a sample at first within reach only because the filter follows: speed grows 0.5 m a sample, said velocity is 0
    positions = [0.0, 1.0, 2.5, 4.0, 6.0, 8.0, 10.0]
    assert [tracker.step(made((x, 0, 0, 0)), time_s=0.5 * n) for n, x in enumerate(positions)] == [[0]] * 7
    greedy = TRACKERS["greedy"](reach_m=1.5)
    assert [greedy.step(made((x, 0, 0, 0)), time_s=0.5 * n) for n, x in enumerate(positions)][-1] != [0]


def test_the_least_sum_of_distances_is_not_the_nearest_first() -> None:
    # tracks at 0 and 3; boxes at 2 (the better score) and 5: nearest first takes 3 for 2, and leaves 5 out of reach of 0
    first, second = made((0, 0, 0, 0), (3, 0, 0, 0)), made((2, 0, 0, 0), (5, 0, 0, 0))
    hungarian, greedy = TRACKERS["kalman"](reach_m=2.5), TRACKERS["greedy"](reach_m=2.5)
    for tracker in (hungarian, greedy):
        assert tracker.step(first, time_s=0.0) == [0, 1]
    assert hungarian.step(second, time_s=0.5) == [0, 1]
    assert greedy.step(second, time_s=0.5) == [1, 2]
