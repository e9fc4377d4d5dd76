"""Facts of a small dataset's images against its labels."""

from pathlib import Path

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import make_dataset
from uavsim.config.events import EventThresholds
from uavsim.images import codec
from uavsim_benchmarks.labels.jobs import jobs_of
from uavsim_benchmarks.questions import facts
from uavsim_benchmarks.questions.facts import groups_of

GOOD = {"luminance": 120.0, "contrast": 120.0, "noise_sigma": 1.0, "blur_px": 0.3}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("facts"), scenes=1, samples=1)


def test_facts_are_those_of_the_labels(small: Path) -> None:
    job = next(jobs_of(uavsim.open(small)))
    groups = groups_of(job, EventThresholds())
    assert sorted(group.camera for group in groups) == ["BACK", "BOTTOM", "FRONT", "LEFT", "RIGHT"]
    row = {image.name: number for number, image in enumerate(job.images)}
    for group in groups:
        assert group.frame == f"scene_00_{group.camera}_0"
        for view in group.views:
            number = row[view.filename]
            visible_px = {obj.instance: obj.visible_px for obj in view.objects}
            columns = np.flatnonzero(job.views.in_view[number])
            assert visible_px == {job.instances[n]: job.views.visible_px[number, n] for n in columns}
            assert np.linalg.norm(view.heading) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changed", "fault", "possible"),
    [
        ({}, "none", set()),
        ({"luminance": 40.0, "contrast": 60.0}, "dark", {"dark"}),
        ({"luminance": 72.0}, "", {"dark"}),
        ({"luminance": 200.0}, "bright", {"bright"}),
        ({"contrast": 60.0}, "flat", {"flat"}),
        ({"noise_sigma": 12.0}, "noisy", {"noisy"}),
        ({"blur_px": 2.0}, "blurred", {"blurred"}),
        ({"blur_px": 2.0, "noise_sigma": 5.0}, "", {"blurred", "noisy"}),
        ({"contrast": 103.0, "noise_sigma": 17.0}, "", {"flat", "noisy"}),  # fog under grains
    ],
)
def test_a_fault_is_named_where_all_see_it_and_no_other(changed: dict, fault: str, possible: set) -> None:
    assert facts._faults(GOOD | changed) == (possible, fault)


def test_what_has_the_colours_of_its_surroundings_does_not_stand_out(small: Path, monkeypatch) -> None:
    job = next(jobs_of(uavsim.open(small)))
    rows = np.flatnonzero(job.views.visible_px[0] > 0)
    assert len(rows)
    width, height = job.images[0].size_px
    monkeypatch.setattr(codec, "decode_rgb", lambda _: np.full((height, width, 3), 90, np.uint8))
    assert not facts._stand_out(job, 0, rows).any()
    mask = job.images[0].mask
    assert mask is not None
    ids = codec.mask_ids_and_tags(mask)[0]
    painted = np.where(ids[..., None] > 0, 200, 90).astype(np.uint8).repeat(3, axis=2)
    monkeypatch.setattr(codec, "decode_rgb", lambda _: painted)
    assert facts._stand_out(job, 0, rows).any()


def test_who_is_alone_is_no_matter_of_what_is_hidden() -> None:
    middle, size = np.array([[50.0, 50], [75, 50], [300, 50]]), np.full((3, 2), 20.0)
    assert facts._alone(middle, size, np.array([True, True, True])).tolist() == [True, True, True]
    middle[1, 0] = 62.0
    assert facts._alone(middle, size, np.array([True, True, True])).tolist() == [False, False, True]
    assert facts._alone(middle, size, np.array([True, False, True])).tolist() == [True, False, True]
