"""What a data set may name: one rule for every reader and exporter.

File names, scene names, splits and channels of a data set come from files that anybody may have written. A name that breaks
the rule never reaches a path; a file that a name leads to is looked at with lstat, component by component.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError

__all__ = ["GENERATION_MARK", "MISSING", "DataFolder", "check_part", "generation_name", "name_fault", "part_fault"]

MISSING: Final = "is missing"
_MOST_BYTES: Final = 1024
_MOST_PART_BYTES: Final = 255
GENERATION_MARK: Final = "~"


def name_fault(name: object) -> str | None:
    """Tell why ``name`` may not be a file name of a data set; None when it may.

    A good name is relative, ``/``-separated, in its shortest form, and of characters that people can see.
    """
    if not isinstance(name, str):
        return "is no text"
    if not name:
        return "is empty"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "holds half a character (a lone surrogate)"
    plain = name.isascii() and name.isprintable()  # nearly all names; the rest is looked at letter by letter
    if not plain and any(unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"} for letter in name):
        return "holds control characters"
    if "\\" in name:
        return "holds a backslash"
    if name.startswith("/"):
        return "is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leaves the data set's folder"
    if "." in parts or "" in parts:
        return "is not in its shortest form"
    if size > _MOST_PART_BYTES and (size > _MOST_BYTES or any(len(part.encode()) > _MOST_PART_BYTES for part in parts)):
        return "is too long"
    return None


def part_fault(name: object) -> str | None:
    """Tell why ``name`` may not be one part of a path (a scene, a split, a channel, a version); None when it may."""
    fault = name_fault(name)
    return fault or ("holds a slash" if "/" in str(name) else "starts with a dot" if str(name)[0] == "." else None)


def check_part(name: object, *, what: str) -> str:
    """Return ``name`` if it may be one part of a path.

    Raises:
        DatasetError: it may not.
    """
    fault = part_fault(name)
    if fault:
        raise DatasetError(f"{what} {_shown(name)} {fault}: it cannot be part of a file name")
    return str(name)


def generation_name(name: str, generation: int) -> str:
    """Return the name of an image of another generation of its scene: ``a/s__C__12.png`` becomes ``a/s__C__12~2.png``."""
    if generation == 0:
        return name
    folder, slash, file = name.rpartition("/")
    head, mark, last = file.rpartition("__")
    stem, dot, suffixes = last.partition(".")
    return f"{folder}{slash}{head}{mark}{stem}{GENERATION_MARK}{generation}{dot}{suffixes}"


class DataFolder:
    """A data set's folder for readers: a name leads to a regular file inside it, or is refused.

    Links are followed as far as they stay inside; the folder itself may be reached by one.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)
        self._faults: dict[str, str | None] = {}  # of folders: images lie in few of them

    def fault(self, name: object) -> str | None:
        """Tell why ``name`` leads to no file that may be read; None when it does. Never opens anything."""
        wrong = name_fault(name)
        if wrong:
            return wrong
        folder, _, _ = str(name).rpartition("/")
        if folder not in self._faults:
            self._faults[folder] = self.leads_outside(folder)
        return self._faults[folder] or self._fault_of_file(str(name))

    def file(self, name: object, *, what: str = "a table names") -> Path:
        """Return the path of a file.

        Raises:
            DatasetError: see ``fault``.
        """
        wrong = self.fault(name)
        if wrong:
            raise DatasetError(f"{self.root}: {what} {_shown(name)}, which {wrong}; run uavsim validate")
        return self.root / str(name)

    def _fault_of_file(self, name: str) -> str | None:
        path = f"{self._real_root}/{name}"
        try:
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                outside = self.leads_outside(name)
                if outside:
                    return outside
                mode = os.stat(path).st_mode  # noqa: PTH116 - a million files: no Path each
        except FileNotFoundError:
            return MISSING
        except OSError as error:
            return f"cannot be looked at ({error.strerror})"
        return None if stat.S_ISREG(mode) else "is not a regular file"

    def leads_outside(self, name: str) -> str | None:
        """Tell that a name leads out of the folder by a link, however long the chain; None when it does not."""
        try:
            real = os.path.realpath(f"{self._real_root}/{name}", strict=False)
        except OSError as error:
            return f"cannot be looked at ({error.strerror})"
        inside = real == self._real_root or real.startswith(f"{self._real_root.rstrip('/')}/")
        return None if inside else "leads outside the data set's folder by a link"


def _shown(name: object) -> str:
    text = ascii(name)
    return text if len(text) <= 120 else f"{text[:117]}..."
