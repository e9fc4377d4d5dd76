"""Properties and detection of dialects."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from uavsim.dataset.dialects import DIALECTS, dialect_of
from uavsim.dataset.reader import open_dataset
from uavsim.errors import DatasetError


@pytest.mark.parametrize("name", DIALECTS.names())
def test_frames_undo_themselves(name: str) -> None:
    frames = DIALECTS.pick(name).frames
    rng = np.random.default_rng(3)
    vectors, rotations = rng.normal(size=(50, 3)), rng.normal(size=(50, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    np.testing.assert_allclose(frames.vector_to_map(frames.vector_from_map(vectors)), vectors, atol=1e-15)
    np.testing.assert_allclose(frames.rotation_to_map(frames.rotation_from_map(rotations)), rotations, atol=1e-15)
    assert frames.size_to_wlh(frames.size_from_wlh([1.0, 2.0, 3.0])) == [1.0, 2.0, 3.0]


def test_uav3d_writes_length_first() -> None:
    assert DIALECTS.pick("uav3d").frames.size_from_wlh([1.9, 4.5, 1.6]) == [4.5, 1.9, 1.6]


def test_datasets_of_others_are_distinguished_by_their_looks(strict: Path, uav3d: Path, tmp_path: Path) -> None:
    for root, name in ((strict, "strict"), (uav3d, "uav3d")):
        copy = tmp_path / name
        shutil.copytree(root / "v1.0-mini", copy / "v1.0-mini")
        (copy / "v1.0-mini/uav_dataset.json").unlink()
        assert dialect_of(open_dataset(copy)).name == name


def test_a_dialect_that_is_not_installed_is_named(strict: Path, tmp_path: Path) -> None:
    shutil.copytree(strict / "v1.0-mini", tmp_path / "v1.0-mini")
    info = tmp_path / "v1.0-mini/uav_dataset.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), "dialect": "metres_up"}))
    with pytest.raises(
        DatasetError, match=r"uav_dataset\.json: dialect 'metres_up' is not installed; known: strict, uav3d"
    ):
        dialect_of(open_dataset(tmp_path))
