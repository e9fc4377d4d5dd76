"""Facts of a small dataset's images against its labels."""

from pathlib import Path

import numpy as np
import pytest

import uavsim
from tests.dataset_factory import make_dataset
from uavsim.config.events import EventThresholds
from uavsim_benchmarks.labels.jobs import jobs_of
from uavsim_benchmarks.labels.rows import image_row, label_sample
from uavsim_benchmarks.questions.facts import groups_of


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("facts"), scenes=1, samples=1)


def test_facts_are_those_of_the_labels(small: Path) -> None:
    job = next(jobs_of(uavsim.open(small)))
    labelled = label_sample(job, EventThresholds())
    rows = {row["filename"]: row for n in range(len(job.images)) for row in [image_row(labelled, n, EventThresholds())]}
    groups = groups_of(job, EventThresholds())
    assert sorted(group.camera for group in groups) == ["BACK", "BOTTOM", "FRONT", "LEFT", "RIGHT"]
    for group in groups:
        assert group.frame == f"scene_00_{group.camera}_0"
        for view in group.views:
            row = rows[view.filename]
            assert view.quality == row["quality"]
            assert all(count <= row["object_types"][kind] for kind, count in view.counts.items())  # none overlooked
            assert [name for name, _ in view.hindrances] == [
                d["kind"] for d in sorted(row["degradations"], key=lambda d: (-d["objects"], d["kind"]))
            ]
            who = row["collaboration"]["who"]
            assert view.best == (who[0] if len(who) == 1 else -1)
            assert sum(view.what.values()) == len(row["collaboration"]["what"])
            assert np.linalg.norm(view.heading) == pytest.approx(1.0)
