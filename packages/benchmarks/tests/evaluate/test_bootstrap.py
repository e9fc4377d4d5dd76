"""Intervals over scenes, and contributions of scenes to a statistic."""

import numpy as np

from uavsim_benchmarks.evaluate.bootstrap import interval_of, jackknife, scene_draws


def test_every_draw_takes_as_many_scenes_as_there_are() -> None:
    draws = scene_draws(7, 200, np.random.default_rng(3))
    assert draws.shape == (200, 7)
    assert (draws.sum(axis=1) == 7).all()
    assert (draws == 0).any()
    assert (draws > 1).any()
    assert scene_draws(0, 5, np.random.default_rng(3)).shape == (5, 0)


def test_an_interval_leaves_out_draws_without_truth() -> None:
    drawn = np.concatenate([np.linspace(0.0, 1.0, 1001), [np.nan, np.nan]])
    found = interval_of(0.4, drawn)
    assert found.value == 0.4
    np.testing.assert_allclose([found.low, found.high], [0.025, 0.975])
    empty = interval_of(0.4, np.array([np.nan]))
    assert np.isnan([empty.low, empty.high]).all()


def test_a_scene_raises_a_mean_by_what_it_is_above_the_others() -> None:
    values = np.array([1.0, 2.0, 6.0])
    raised = jackknife(lambda weight: float((weight * values).sum() / weight.sum()), 3)
    np.testing.assert_allclose(raised, [3 - 4, 3 - 3.5, 3 - 1.5])
