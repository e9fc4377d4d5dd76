"""Jobs have the tables' values of images and boxes."""

from pathlib import Path

import numpy as np

import uavsim
from uavsim_benchmarks.labels.jobs import jobs_of


def test_views_are_those_of_the_tables(labelled_set: Path) -> None:
    samples = list(uavsim.open(labelled_set).samples())
    jobs = list(jobs_of(uavsim.open(labelled_set)))
    partly = 0
    for sample, job in zip(samples, jobs, strict=True):
        row_of = {image.token: row for row, image in enumerate(job.images)}
        entries = 0
        for column, views in enumerate(sample.boxes.views):
            for view in views:
                cell = (row_of[view["sample_data_token"]], column)
                found = job.views
                assert found.in_view[cell]
                assert (found.visible_px[cell], found.amodal_px[cell]) == (view["visible_px"], view["amodal_px"])
                assert (found.occlusion[cell], found.truncation[cell]) == (view["occlusion"], view["truncation"])
                assert found.amodal_box_px[cell].tolist() == view["amodal_box"]
                partly += 0 < view["occlusion"] < 1
                entries += 1
        assert job.views.in_view.sum() == entries
        away_m = sample.boxes.map_SE3_box.translation_m - sample.images[3].map_SE3_optical.translation_m
        np.testing.assert_allclose(job.views.away_m[3], np.hypot(*away_m.T[:2]))
    assert partly  # shares, not whole numbers


def test_without_pixels_no_file_is_looked_for(labelled_set: Path) -> None:
    job = next(jobs_of(uavsim.open(labelled_set), pixels=False))
    assert {(image.file, image.mask) for image in job.images} == {(None, None)}
    assert all(image.file and image.mask for image in next(jobs_of(uavsim.open(labelled_set))).images)
