from pathlib import Path

import pytest

from tools.bench.growth import DRONES, PAIRS, TICKS, exponent, intervals_of, per_scene, write_swarm
from uavsim.config.library import Library


@pytest.mark.parametrize("drones", DRONES)
def test_every_swarm_flies_as_many_ticks_and_about_as_many_images(drones: int, tmp_path: Path):
    assert intervals_of(drones) * drones * 5 == pytest.approx(PAIRS, rel=0.25)
    library = Library.of((tmp_path,))
    for intervals in (1, intervals_of(drones)):
        dataset = library.with_dataset(write_swarm(tmp_path, drones, intervals=intervals))[0].model
        assert round(dataset.keyframe_s / dataset.step_s) * (dataset.samples - 1) == TICKS


def test_start_up_is_in_no_scene():
    assert per_scene({1: 10.0 + 2.0, 10: 10.0 + 20.0, 100: 10.0 + 218.0}) == pytest.approx({10: 2.0, 100: 2.2})


def test_growth_is_a_power():
    assert exponent(4.0, 100.0, times=5) == pytest.approx(2.0)
