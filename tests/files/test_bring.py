"""Hard-link a file, or copy it where there are no hard links."""

import os

import pytest

from uavsim.errors import StorageError
from uavsim.files.bring import bring_file


def test_file_is_hard_linked(tmp_path):
    (tmp_path / "a").write_bytes(b"pixels")
    bring_file((tmp_path / "a").open("rb"), tmp_path / "new/folder/b")
    assert (tmp_path / "a").samefile(tmp_path / "new/folder/b")
    bring_file((tmp_path / "a").open("rb"), tmp_path / "new/folder/b")  # brought already


def test_file_is_copied_without_hard_links(tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise OSError(18, "Invalid cross-device link")

    (tmp_path / "a").write_bytes(b"pixels")
    monkeypatch.setattr(os, "link", no_links)
    bring_file((tmp_path / "a").open("rb"), tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"pixels"
    assert not (tmp_path / "a").samefile(tmp_path / "b")


def test_link_at_the_target_is_not_followed(tmp_path):
    (tmp_path / "a").write_bytes(b"pixels")
    (tmp_path / "others").write_bytes(b"mine")
    (tmp_path / "b").symlink_to(tmp_path / "others")
    with pytest.raises(StorageError, match="is a link, a folder or a device"):
        bring_file((tmp_path / "a").open("rb"), tmp_path / "b")
    assert (tmp_path / "others").read_bytes() == b"mine"
