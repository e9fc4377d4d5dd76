from pathlib import Path

import pytest

from tools.bench.growth import DRAWN_PAIRS, DRONES, PAIRS, TICKS, Cost, Swarm, per_scene, spread, write_swarm
from uavsim.config.library import Library


@pytest.mark.parametrize("is_drawn", [False, True])
@pytest.mark.parametrize("drones", DRONES)
def test_every_swarm_flies_as_many_ticks_and_about_as_many_images(drones: int, is_drawn: bool, tmp_path: Path):
    swarm = Swarm(drones=drones, is_drawn=is_drawn)
    assert swarm.intervals * drones * 5 == pytest.approx(DRAWN_PAIRS if is_drawn else PAIRS, rel=0.25)
    library = Library.of((tmp_path,))
    for intervals in (1, swarm.intervals):
        dataset = library.with_dataset(write_swarm(tmp_path, swarm, intervals=intervals))[0].model
        assert round(dataset.keyframe_s / dataset.step_s) * (dataset.samples - 1) == TICKS


def test_start_up_is_in_no_scene_and_in_no_spread():
    costs = per_scene({1: 10.0 + 2.0, 10: 10.0 + 20.0, 100: 10.0 + 218.0})
    assert costs == pytest.approx({10: 2.0, 100: 2.2})
    assert spread(list(costs.values())) == pytest.approx(0.1)


def test_the_least_of_the_turns_counts():
    assert Cost(3.0, 10.0).least(Cost(2.0, 11.0)) == Cost(2.0, 10.0)
