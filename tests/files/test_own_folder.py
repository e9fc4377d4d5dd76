"""Access to a folder in which other processes write at the same time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from uavsim.files.own_folder import OwnFolder


def test_file_renamed_during_listing_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "ledger"
    folder.mkdir()
    for name in ("a.json", "b.json.tmp", "c.json"):
        (folder / name).touch()
    listed = os.scandir

    @contextmanager
    def scandir(path: Any) -> Iterator[list[os.DirEntry[str]]]:
        with listed(path) as entries:
            found = list(entries)
        (folder / "b.json.tmp").rename(folder / "b.json")
        yield found

    monkeypatch.setattr("uavsim.files.own_folder.os.scandir", scandir)
    assert [name for name, _ in OwnFolder(tmp_path).names("ledger")] == ["a.json", "c.json"]


def test_missing_folder_has_no_names(tmp_path: Path) -> None:
    assert OwnFolder(tmp_path).names("ledger") == []
