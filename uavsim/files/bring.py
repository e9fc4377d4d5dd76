"""Bring files of a dataset into another folder: by hard link, by copy where the file system has none."""

import os
import shutil
from pathlib import Path
from typing import BinaryIO

from uavsim.errors import StorageError
from uavsim.files.own_folder import mark_in
from uavsim.files.whole import AGAIN, HeldPath, parent_of, storage_errors, whole_file


def bring_file(source: BinaryIO, target: Path | HeldPath) -> None:
    """Hard-link an open regular file, or copy it where the file system cannot link; one that is brought already is left.

    Args:
        source: of ``DataFolder.open``, closed here.
        target: where it goes.

    Raises:
        StorageError: the target cannot be written, or something else is there.
    """
    with source, storage_errors(f"write {target}", again=AGAIN):
        with parent_of(target) as folder:
            try:
                # by the descriptor: what the name means by now does not matter
                os.link(f"/proc/self/fd/{source.fileno()}", target.name, dst_dir_fd=folder, follow_symlinks=True)
                return
            except FileExistsError as error:
                if mark_in(folder, target.name) is None:
                    raise StorageError(f"{target}: cannot be written: a link, a folder or a device is there") from error
                return
            except OSError:  # another file system, or one without hard links
                pass
        with whole_file(target) as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
