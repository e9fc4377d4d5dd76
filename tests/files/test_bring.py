"""A file is linked where that can be done, copied where not, and nothing foreign is written over."""

import os

import pytest

from uavsim.errors import StorageError
from uavsim.files.bring import bring_file


def test_on_one_file_system_both_names_are_one_file(tmp_path):
    (tmp_path / "a").write_bytes(b"pixels")
    bring_file((tmp_path / "a").open("rb"), tmp_path / "new/folder/b")
    assert (tmp_path / "a").samefile(tmp_path / "new/folder/b")
    bring_file((tmp_path / "a").open("rb"), tmp_path / "new/folder/b")  # brought already


def test_where_nothing_can_be_linked_the_bytes_are_copied(tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise OSError(18, "Invalid cross-device link")

    (tmp_path / "a").write_bytes(b"pixels")
    monkeypatch.setattr(os, "link", no_links)
    bring_file((tmp_path / "a").open("rb"), tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"pixels"
    assert not (tmp_path / "a").samefile(tmp_path / "b")


def test_a_link_at_the_target_is_not_followed(tmp_path):
    (tmp_path / "a").write_bytes(b"pixels")
    (tmp_path / "others").write_bytes(b"mine")
    (tmp_path / "b").symlink_to(tmp_path / "others")
    with pytest.raises(StorageError, match="a link, a folder or a device is there"):
        bring_file((tmp_path / "a").open("rb"), tmp_path / "b")
    assert (tmp_path / "others").read_bytes() == b"mine"
