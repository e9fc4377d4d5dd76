import math

import pytest

from uavsim.config.events import QualityLevels
from uavsim_benchmarks.labels.quality import grade, level_of

BORDERS = (1.0, 2.0, 4.0, 8.0)


@pytest.mark.parametrize(
    ("value", "level"), [(0.5, 5), (1.0, 5), (1.1, 4), (2.0, 4), (3.0, 3), (5.0, 2), (9.0, 1), (1e9, 1)]
)
def test_levels_by_their_borders(value: float, level: int) -> None:
    assert math.floor(level_of(value, BORDERS, falling=False)) == level
    assert math.floor(level_of(-value, (-1.0, -2.0, -4.0, -8.0), falling=True)) == level


def test_a_worse_value_never_has_a_better_level() -> None:
    scores = [level_of(value / 10, BORDERS, falling=False) for value in range(200)]
    assert scores == sorted(scores, reverse=True)


def test_an_image_has_the_level_of_its_worst_measure() -> None:
    levels = QualityLevels()
    found = grade({"noise_sigma": 1.0, "dark": 20.0, "contrast": 60.0, "psnr_db": math.nan}, levels)
    assert (found.level, found.worst_measure, found.poor) == (2, "dark", ("dark",))
    assert grade({"noise_sigma": 0.0}, levels).worst_measure == ""
    assert grade({}, levels).level == 5
