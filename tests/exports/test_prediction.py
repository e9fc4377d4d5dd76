"""Prediction targets: cars on a straight road, sample by sample."""

from typing import Any

import pytest

from uavsim.exports.formats.prediction import prediction_tokens


def boxes(samples: int, speed_mps: float) -> list[dict[str, Any]]:
    rows = range(samples)
    return [{"instance_token": "i", "sample_token": f"s{n}", "translation": [n * 0.5 * speed_mps, 0, 0]} for n in rows]


@pytest.mark.parametrize(
    ("samples", "speed_mps", "category", "found"),
    [
        (20, 5.0, "vehicle.car", [f"i_s{n}" for n in range(2, 8)]),  # a second of past, six of future
        (20, 0.1, "vehicle.car", []),  # stands
        (14, 5.0, "vehicle.car", []),  # not long enough
        (20, 5.0, "human.pedestrian.adult", []),
        (20, 5.0, "vehicle.ego", []),
    ],
)
def test_moving_vehicles_with_past_and_future_are_predicted(
    samples: int, speed_mps: float, category: str, found: list[str]
) -> None:
    times = {f"s{n}": 1_000_000 + 500_000 * n for n in range(samples)}
    assert prediction_tokens(boxes(samples, speed_mps), sample_us=times, category_of={"i": category}) == found
