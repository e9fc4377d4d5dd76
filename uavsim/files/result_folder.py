"""Checks of the folder that a user names for a result."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from uavsim.errors import InputError

_DEEPEST: Final = 4  # levels of folders in a result


def check_result_folder(out: Path) -> None:
    """Check a folder for a result before writing to it. The folder itself may be a link, because the user chose it.

    Raises:
        InputError: the path is no folder and cannot be created, or a folder in it is a link.
    """
    refuse_no_folder(out)
    for link in _linked_folders(out, depth=_DEEPEST):
        raise InputError(
            f"{link} is a link to a folder, but results are written into real folders only; choose another folder"
        )


def check_result_beside(folder: Path, out: Path) -> None:
    """Check the folder of a result that is computed from a dataset, before writing to it.

    Raises:
        InputError: the dataset does not exist, the folder is in it, or see ``check_result_folder``.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    refuse_no_folder(out)
    refuse_inside(folder, out)
    check_result_folder(out)


def refuse_inside(folder: Path, out: Path) -> None:
    """Refuse a result path that is the dataset or inside it.

    Raises:
        InputError: ``out`` is the dataset or inside it.
    """
    try:
        inside = out.resolve() == folder.resolve() or folder.resolve() in out.resolve().parents
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"{out}: cannot be a folder for the result: {error}") from error
    if inside:
        raise InputError(f"{out} is the dataset itself, or in it; choose another folder for the result")


def refuse_no_folder(out: Path) -> None:
    """Refuse a path that is no folder and cannot become one.

    Raises:
        InputError: the path, or a path component, is a file, a device or a dangling link.
    """
    step = out
    while not os.path.lexists(step) and step != step.parent:
        step = step.parent
    if os.path.lexists(step) and not step.is_dir():
        link = " (a dangling link)" if step.is_symlink() else ""
        raise InputError(f"{step} is not a directory{link}, so {out} cannot be one; choose another path")


def _linked_folders(folder: Path, *, depth: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            below = [Path(entry.path) for entry in entries if entry.is_dir()]
    except OSError:  # missing, or closed to this user, which writing reports
        return
    for path in below:
        if path.is_symlink():
            yield path
        elif depth > 1:
            yield from _linked_folders(path, depth=depth - 1)
