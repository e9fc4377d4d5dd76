"""The folder that a user names for a result: it can be made or written to, and nothing in it leads elsewhere."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from uavsim.errors import InputError

_DEEPEST: Final = 4  # no result has folders below


def check_result_folder(out: Path) -> None:
    """Check a place before anything is written there. It may be a link to a folder itself: the user named it.

    Raises:
        InputError: a file, a device or a link that leads nowhere is there or on the way, or a folder in it is a link.
    """
    refuse_no_folder(out)
    for link in _linked_folders(out, depth=_DEEPEST):
        raise InputError(
            f"{link} is a link to a folder, and a result goes into folders of its own: name another folder"
        )


def check_result_beside(folder: Path, out: Path) -> None:
    """Check a place for what is made from a dataset, before anything is written there.

    Raises:
        InputError: the dataset is not there, the place is in it, or see ``check_result_folder``.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    refuse_no_folder(out)
    refuse_inside(folder, out)
    check_result_folder(out)


def refuse_inside(folder: Path, out: Path) -> None:
    """Refuse a file or folder for a result that is the dataset, or in it.

    Raises:
        InputError: it is.
    """
    try:
        inside = out.resolve() == folder.resolve() or folder.resolve() in out.resolve().parents
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{out}: cannot be a folder for the result: {error}") from error
    if inside:
        raise InputError(f"{out} is the dataset itself, or in it: name another folder for the result")


def refuse_no_folder(out: Path) -> None:
    """Refuse a place where no folder is and none can be made.

    Raises:
        InputError: a file, a device or a link that leads nowhere is there, or on the way.
    """
    step = out
    while not os.path.lexists(step) and step != step.parent:
        step = step.parent
    if os.path.lexists(step) and not step.is_dir():
        kind = "a link that leads to no folder" if step.is_symlink() else "a file, a pipe or a device"
        raise InputError(f"{step} is {kind}, and {out} is to be a folder: name another place")


def _linked_folders(folder: Path, *, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            below = [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:  # not there yet, or closed to this user: writing says so
        return
    for path in below:
        if path.is_symlink():
            yield path
        elif depth > 1:
            yield from _linked_folders(path, depth=depth - 1)
