"""Where a result may go."""

import os
from pathlib import Path

import pytest

from uavsim.errors import InputError
from uavsim.files.result_folder import check_result_folder


def test_a_new_folder_one_that_is_there_and_a_link_to_one_are_good(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "there" / "file_link").symlink_to(tmp_path / "file")
    for name in ("new/er", "there", "link", "link/new", "there/../new"):
        check_result_folder(tmp_path / name)


def test_what_is_no_folder_is_reported_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("of somebody else")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("/nonexistent/x")
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "device").symlink_to("/dev/full")
    for name in ("file", "pipe", "nowhere", "itself", "device", "file/out", "nowhere/out", "itself/out/x"):
        with pytest.raises(InputError, match="name another place"):
            check_result_folder(tmp_path / name)


def test_a_folder_in_it_may_not_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "out" / "all").mkdir(parents=True)
    check_result_folder(tmp_path / "out")
    (tmp_path / "out" / "all" / "drone_0").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="drone_0 is a link to a folder"):
        check_result_folder(tmp_path / "out")
