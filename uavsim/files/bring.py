"""Bring files of a data set into another folder: by hard link, by copy where the file system has none."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from uavsim.errors import DatasetError, StorageError
from uavsim.files.parse import open_regular
from uavsim.files.whole import whole_file

__all__ = ["bring_file"]


def bring_file(source: Path, target: Path) -> None:
    """Hard-link a regular file, or copy it where the file system cannot link; one that is brought already is left.

    Raises:
        DatasetError: it is missing, or no regular file.
        StorageError: the target cannot be written, or something else is there.
    """
    try:
        mode = source.stat().st_mode
    except (OSError, ValueError) as error:
        raise DatasetError(f"{source}: is missing; run uavsim validate") from error
    if not stat.S_ISREG(mode):
        raise DatasetError(f"{source}: is not a regular file; run uavsim validate")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.is_symlink() and target.is_file():
            return
        os.link(source.resolve(), target)
    except FileExistsError as error:
        raise StorageError(f"{target}: cannot be written: a link, a folder or a device is there") from error
    except OSError:
        with open_regular(source) as data, whole_file(target) as copy:
            shutil.copyfileobj(data, copy, 1 << 20)
