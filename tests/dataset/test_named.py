"""Names in tables are checked before they become paths."""

from pathlib import Path

import pytest

from uavsim.dataset.named import check_scene_names, check_shared_names, check_splits
from uavsim.errors import DatasetError
from uavsim.files.names import DataFolder

BAD = ["../x.png", "/etc/passwd", "a/../../x", "a\\b.png", "a\nb.png", "", 7, None]


@pytest.fixture
def files(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(("table", "column"), [("sample_data", "filename"), ("layer", "filename")])
def test_a_file_outside_of_the_folder_is_refused(files: DataFolder, table: str, column: str, name: object) -> None:
    with pytest.raises(DatasetError, match=table):
        check_scene_names(files, {"name": "scene_00"}, {table: [{column: name}]})


@pytest.mark.parametrize("name", ["a/b", "..", ".hidden", "", None])
def test_a_scene_or_channel_is_one_part_of_a_path(files: DataFolder, name: object) -> None:
    with pytest.raises(DatasetError, match="scene"):
        check_scene_names(files, {"name": name}, {})
    with pytest.raises(DatasetError, match="channel"):
        check_shared_names(files, "sensor", [{"channel": name}])
    with pytest.raises(DatasetError, match="scene"):
        check_splits(files, {"train": [name]})


def test_good_names_pass_and_a_file_that_is_missing_is_no_fault(files: DataFolder) -> None:
    check_scene_names(files, {"name": "scene_00"}, {"sample_data": [{"filename": "samples/CAM/scene_00__CAM__1.png"}]})
    check_shared_names(files, "sensor", [{"channel": "CAMERA_FRONT_id_0"}])
    check_splits(files, {"uav_train": ["scene_00"], "uav_val": []})
    with pytest.raises(DatasetError, match="not a list"):
        check_splits(files, {"uav_train": "scene_00"})
