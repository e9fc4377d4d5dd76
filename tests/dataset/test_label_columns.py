"""Label columns of installed packages are written only on request."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.plugins import install_plugin
from uavsim.annotate import AnnotateOptions, annotate
from uavsim.config.dataset import Labels
from uavsim.dataset import scene_fragment
from uavsim.errors import DatasetError, InputError, UnknownNameError
from uavsim.records import label_columns
from uavsim.records.labels import SceneLabels
from uavsim.records.recording import Recording
from uavsim.registry import Registry

SOURCE = """
def height(labels):
    return [round(z, 3) for z in labels.boxes.map_SE3_box.translation_m[:, 2].tolist()]


def too_short(labels):
    return []
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with two columns, and reset the registry."""
    adds = {"acme_height": "acme_columns:height", "acme_short": "acme_columns:too_short"}
    site = install_plugin(tmp_path, "acme_columns", group="uavsim.label_columns", adds=adds, source=SOURCE)
    known = label_columns.COLUMNS
    extended: Registry = Registry("label_columns", {n: known.pick(n) for n in known.builtin}, what="label column")
    monkeypatch.syspath_prepend(site)
    for module in ("dataset.strict_boxes", "records.label_columns"):
        monkeypatch.setattr(f"uavsim.{module}.COLUMNS", extended)


@pytest.mark.usefixtures("installed")
def test_additional_column_is_written_on_request(recording: Recording, labels: SceneLabels) -> None:
    with_column = annotate(recording, options=AnnotateOptions(columns=("acme_height",)))
    rows = scene_fragment(with_column).rows["sample_annotation"]
    assert [row["acme_height"] for row in rows] == [round(row["translation"][2], 3) for row in rows]
    assert list(rows[0])[-1] == "acme_height"
    assert "acme_height" not in scene_fragment(labels).rows["sample_annotation"][0]


@pytest.mark.usefixtures("installed")
def test_a_column_of_the_wrong_length_is_refused(labels: SceneLabels) -> None:
    with pytest.raises(DatasetError, match=r"label column 'acme_short': 0 values for \d+ boxes"):
        scene_fragment(replace(labels, columns=("acme_short",)))


def test_a_column_that_is_not_installed_is_refused_before_anything_flies() -> None:
    with pytest.raises(ValueError, match="unknown label column 'acme_height'"):
        Labels(columns=("acme_height",))
    with pytest.raises(UnknownNameError):
        AnnotateOptions(columns=("acme_height",))


@pytest.mark.usefixtures("installed")
def test_a_dataset_may_ask_for_an_installed_column() -> None:
    assert Labels(columns=("acme_height",)).columns == ("acme_height",)


def test_built_in_column_cannot_be_requested() -> None:
    with pytest.raises(InputError, match="'uav_seen_by' is always written"):
        AnnotateOptions(columns=("uav_seen_by",))
    with pytest.raises(ValueError, match="'uav_seen_by' is always written"):
        Labels(columns=("uav_seen_by",))
