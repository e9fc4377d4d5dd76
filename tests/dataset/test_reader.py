from pathlib import Path

import pytest

from tests.dataset_factory import make_dataset
from uavsim.dataset.reader import open_dataset
from uavsim.dataset.tables import read_rows, write_rows
from uavsim.errors import DatasetError, InputError, UnknownNameError


def test_scenes_stream_with_all_their_rows(strict: Path) -> None:
    reader = open_dataset(strict)
    scenes = list(reader.scenes())
    assert [scene.scene["name"] for scene in scenes] == ["scene_00", "scene_01"]
    for table in (known.name for known in reader.tables):
        if table in scenes[0].rows:
            assert scenes[0].rows[table] + scenes[1].rows[table] == read_rows(strict / f"v1.0-mini/{table}.json")
    assert reader.splits == {"uav_train": ["scene_00"], "uav_val": ["scene_01"]}


def test_a_stray_row_is_reported(tmp_path: Path) -> None:
    root = make_dataset(tmp_path, scenes=1, samples=1, sweeps=0, drones=1, cameras=("BOTTOM",), size_px=(32, 18))
    path = root / "v1.0-mini/sample_annotation.json"
    write_rows(path, [*read_rows(path), {"token": "x", "sample_token": "of no scene", "instance_token": "y"}])
    with pytest.raises(DatasetError, match="belongs to no scene"):
        list(open_dataset(root).scenes())


def test_unknown_names(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"v1\.0-mini"):
        open_dataset(strict, "v1.0-mimi")
    with pytest.raises(InputError, match="no such folder"):
        open_dataset(tmp_path / "nowhere")
    with pytest.raises(DatasetError, match="not a dataset"):
        open_dataset(tmp_path)
