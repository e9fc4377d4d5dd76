"""A result folder stays the opened one, even if its name is reassigned."""

from pathlib import Path

import pytest

from uavsim.errors import InputError, StorageError
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole


def test_files_follow_a_renamed_folder(tmp_path: Path) -> None:
    out = ResultPath.open(tmp_path / "new/out")
    (tmp_path / "victim").mkdir()
    (tmp_path / "new/out").rename(tmp_path / "moved")
    (tmp_path / "new/out").symlink_to(tmp_path / "victim")
    target = write_whole(out / "a" / "b.txt", b"ours")
    assert (tmp_path / "moved/a/b.txt").read_bytes() == b"ours"
    assert not any((tmp_path / "victim").iterdir())
    assert target.display_path == tmp_path / "new/out/a/b.txt"
    with target.open_to_read() as file:
        assert file.read() == b"ours"


def test_folder_exchanged_for_a_link_is_refused_by_name(tmp_path: Path) -> None:
    out = ResultPath.open(tmp_path / "out")
    (tmp_path / "victim").mkdir()
    (tmp_path / "out/a").symlink_to(tmp_path / "victim")
    with pytest.raises(StorageError, match=f"^{tmp_path}/out/a is a link"):
        write_whole(out / "a" / "b.txt", b"ours")
    (tmp_path / "out/c").symlink_to(tmp_path / "victim/c")
    with pytest.raises(InputError, match="it is a link"):
        write_whole(out / "c", b"ours")
    with pytest.raises(StorageError, match="was replaced by a link"):
        (out / "c").open_to_read()
    assert not any((tmp_path / "victim").iterdir())


def test_user_named_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "out").symlink_to("mine")
    assert ResultPath.open(tmp_path / "out").is_empty()
    write_whole(ResultPath.open(tmp_path / "out") / "a", b"ours")
    assert (tmp_path / "mine/a").read_bytes() == b"ours"
    assert not ResultPath.open(tmp_path / "out").is_empty()


def test_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="choose another path"):
        ResultPath.open(tmp_path / "file/out")


def test_temp_files_of_killed_writers_are_swept_per_folder(tmp_path: Path) -> None:
    for folder in ("out", "out/a", "out/b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / ".x.0123456789ab.uavsim-tmp").write_bytes(b"half")
        (tmp_path / folder / "mine.txt").write_bytes(b"mine")
    out = ResultPath.open(tmp_path / "out")
    write_whole(out / "y", b"whole")
    write_whole(out / "a" / "y", b"whole")
    names = {str(path.relative_to(tmp_path / "out")) for path in out.display_path.rglob("*") if path.is_file()}
    assert names == {"y", "mine.txt", "a/y", "a/mine.txt", "b/mine.txt", "b/.x.0123456789ab.uavsim-tmp"}


def refused(out: ResultPath) -> None:
    with out.unfinished("job"):
        raise InputError("refused")


def test_unused_new_folder_is_removed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("new", "mine", "used"):
        out = ResultPath.open(tmp_path / name)
        if name == "used":
            write_whole(out / "a", b"ours")
        with pytest.raises(InputError):  # of an occupied folder, or during the work
            refused(out)
        del out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "used"]
