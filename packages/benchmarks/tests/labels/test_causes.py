"""Each cause alone, by hand."""

import numpy as np
import pytest

from labels.samples import make_job, measured
from uavsim.config.events import EventThresholds
from uavsim_benchmarks.labels.causes import AIRCOPBENCH, CAUSES, causes_of, primary

THRESHOLDS = EventThresholds()


def names(job, images) -> list[list[str]]:
    """Return the causes of the first image's objects."""
    return [[CAUSES[c] for c in np.flatnonzero(row)] for row in causes_of(job, images, THRESHOLDS)[0]]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"amodal_px": 100}, []),
        ({"amodal_px": 400}, ["occluded"]),
        ({"box_px": 8.0}, ["too_small"]),
        ({"truncation": 0.5}, ["out_of_view"]),
        ({"in_view": [[False], [True]]}, ["out_of_view"]),
    ],
)
def test_one_cause_of_an_object(choices, expected) -> None:
    job = make_job([[100], [100]], **choices)
    assert names(job, measured(job)) == [expected]


@pytest.mark.parametrize(
    ("poor", "expected"),
    [
        (("dark",), ["brightness"]),
        (("clipped_share",), ["brightness"]),
        (("noise_sigma", "psnr_db"), ["noise"]),
        (("blur_px",), ["blur"]),
        (("psnr_db",), ["blur"]),
    ],
)
def test_a_poor_image_hinders_every_object(poor, expected) -> None:
    job = make_job([[100, 150]])
    assert names(job, measured(job, poor=poor)) == [expected, expected]


def test_shadow_and_loss() -> None:
    job = make_job([[100, 100]])
    assert names(job, measured(job, shaded=[0.9, 0.2])) == [["under_shadow"], []]
    assert names(job, measured(job, arrived=False)) == [["image_loss"], ["image_loss"]]


def test_what_nobody_sees_has_no_cause() -> None:
    job = make_job([[3], [2]], amodal_px=400)
    assert names(job, measured(job)) == [[]]


def test_the_first_of_several_causes_is_named_and_all_have_a_name_in_aircopbench() -> None:
    table = np.zeros((3, len(CAUSES)), dtype=bool)
    table[0, [2, 3]] = table[1, 7] = True
    assert [CAUSES[c] if c >= 0 else "" for c in primary(table)] == ["occluded", "blur", ""]
    assert set(AIRCOPBENCH) == set(CAUSES)
