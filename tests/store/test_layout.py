"""Valid parts of file names, and the scene of a file."""

import pytest

from uavsim.errors import InputError
from uavsim.store.layout import check_name, file_roots, scene_of_file, scene_of_staging, staging_name


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", ".hidden", "a..b", "a b", "a\n", "ä", "-a", "x" * 101])
def test_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"scene .* cannot be a file name"):
        check_name(name, what="scene")


def test_plain_names_stay_as_they_are() -> None:
    assert [check_name(name, what="scene") for name in ("scene_00", "A-1.b", "x" * 100)] == [
        "scene_00",
        "A-1.b",
        "x" * 100,
    ]


def test_a_file_names_its_scene_and_a_foreign_one_names_none() -> None:
    assert scene_of_file("scene_00__CAMERA_FRONT_id_0__17.png") == "scene_00"
    assert scene_of_file("holiday.png") is None
    assert scene_of_file("__CAMERA_FRONT_id_0__17.png") is None


def test_staging_folders_are_known_again_and_never_shared() -> None:
    names = {staging_name("scene_00") for _ in range(20)}
    assert len(names) == 20
    assert {scene_of_staging(name) for name in names} == {"scene_00"}
    for other in ("scene_00", "scene_00~12", "scene_00~0123456789abcdeg", "../x~0123456789abcdef"):
        assert scene_of_staging(other) is None


def test_folders_of_files_name_no_folder_twice() -> None:
    roots = file_roots()
    assert {"samples", "sweeps", "masks", "depth"} <= set(roots)
    assert len(roots) == len(set(roots))
