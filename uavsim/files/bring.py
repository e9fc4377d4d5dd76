"""Hard-link files of a dataset into another folder, or copy them where the file system has no hard links."""

import os
import shutil
from pathlib import Path
from typing import BinaryIO

from uavsim.errors import StorageError
from uavsim.files.own_folder import mark_in
from uavsim.files.whole import AGAIN, HeldPath, parent_of, storage_errors, whole_file


def bring_file(source: BinaryIO, target: Path | HeldPath) -> None:
    """Hard-link an open regular file, or copy it where the file system cannot link; an existing regular file stays.

    Args:
        source: result of ``DataFolder.open``; closed here.
        target: path of the new file.

    Raises:
        StorageError: the target cannot be written, or is no regular file.
    """
    with source, storage_errors(f"write {target}", again=AGAIN):
        with parent_of(target) as folder:
            try:
                # through the descriptor: the name may have been replaced
                os.link(f"/proc/self/fd/{source.fileno()}", target.name, dst_dir_fd=folder, follow_symlinks=True)
                return
            except FileExistsError as error:
                if mark_in(folder, target.name) is None:
                    raise StorageError(f"{target} is a link, a folder or a device; move it away") from error
                return
            except OSError:  # another file system, or one without hard links
                pass
        with whole_file(target) as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
