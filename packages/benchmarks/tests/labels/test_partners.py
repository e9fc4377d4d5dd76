"""Collaboration labels by hand: drone 0 needs help; drones 1 and 2 are possible partners."""

from labels.samples import make_job, measured
from uavsim.config.events import EventThresholds
from uavsim_benchmarks.labels.causes import causes_of
from uavsim_benchmarks.labels.partners import Help, help_of_image

THRESHOLDS = EventThresholds()


def help_of(job, **choices) -> Help:
    images = measured(job)
    if choices.get("lost"):
        images[0] = measured(job, arrived=False)[0]
    return help_of_image(job, 0, causes_of(job, images, THRESHOLDS), THRESHOLDS)


def test_who_sees_more_of_what_is_occluded_is_asked_and_for_that() -> None:
    found = help_of(make_job([[30, 100, 100], [100, 100, 100], [60, 100, 100]]))
    assert (found.when, found.who, found.why) == (True, (1,), ("occluded",))
    assert found.what.tolist() == [0]
    assert found.gain_px.tolist() == [70.0, 0.0]  # drone 2's view is occluded, too


def test_nobody_is_asked_for_what_one_sees_well() -> None:
    found = help_of(make_job([[100, 100], [900, 900], [100, 100]]))
    assert (found.when, found.who, found.why) == (False, (), ())
    assert found.what.tolist() == []


def test_what_is_far_away_does_not_concern_a_drone() -> None:
    job = make_job([[30], [100], [100]], away_m=[[200.0], [10], [10]])
    assert not help_of(job).when
    assert not help_of(job).concerned.any()


def test_equal_partners_are_named_together_the_one_with_more_pixels_first() -> None:
    found = help_of(make_job([[30], [100], [120]], amodal_px=[[120], [120], [120]]))
    assert found.who == (2, 1)


def test_a_lost_image_needs_everything() -> None:
    found = help_of(make_job([[100, 100], [100, 20], [100, 100]]), lost=True)
    assert (found.when, found.who, found.why) == (True, (2,), ("image_loss",))
    assert found.what.tolist() == [0, 1]


def test_a_drone_alone_has_nobody_to_ask() -> None:
    found = help_of(make_job([[10, 30]], amodal_px=400))
    assert (found.when, found.who, found.partners.tolist()) == (False, (), [])
