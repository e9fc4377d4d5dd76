"""Checks of the folder for a result."""

import os
from pathlib import Path

import pytest

from uavsim.errors import InputError
from uavsim.files.result_folder import check_result_folder


def test_new_and_existing_folders_and_links_to_folders_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    (tmp_path / "there" / "file_link").symlink_to(tmp_path / "file")
    for name in ("new/er", "there", "link", "link/new", "there/../new"):
        check_result_folder(tmp_path / name)


def test_path_that_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("foreign")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "nowhere").symlink_to("/nonexistent/x")
    (tmp_path / "itself").symlink_to("itself")
    (tmp_path / "device").symlink_to("/dev/full")
    for name in ("file", "pipe", "nowhere", "itself", "device", "file/out", "nowhere/out", "itself/out/x"):
        with pytest.raises(InputError, match=r"is not a directory.*; choose another path"):
            check_result_folder(tmp_path / name)


def test_linked_folder_inside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "out" / "all").mkdir(parents=True)
    check_result_folder(tmp_path / "out")
    (tmp_path / "out" / "all" / "drone_0").symlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="drone_0 is a link to a folder"):
        check_result_folder(tmp_path / "out")
