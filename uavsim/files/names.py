"""Valid file names of a dataset: one rule for every reader and exporter.

File names, scene names, splits and channels of a dataset come from files of unknown origin. An invalid name never becomes part
of a path; the target of a valid name is checked with lstat, component by component.
"""

import os
import stat
import unicodedata
from io import BufferedReader
from pathlib import Path
from typing import Final

from uavsim.errors import DatasetError
from uavsim.files.parse import open_regular

MISSING: Final = "is missing"
MOST_FILE_BYTES: Final = 1 << 29
"""Maximum size of an image, a point cloud or another file that a table names."""
_MOST_BYTES: Final = 1024
_MOST_PART_BYTES: Final = 255
GENERATION_MARK: Final = "~"


def name_fault(name: object) -> str | None:
    """Return the reason why ``name`` is no valid file name of a dataset; None for a valid name.

    A valid name is relative, ``/``-separated, in its shortest form, and of printable characters.
    """
    if not isinstance(name, str):
        return "is not a string"
    if not name:
        return "is empty"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "holds an unpaired surrogate"
    plain = name.isascii() and name.isprintable()  # fast path for nearly all names
    if not plain and any(unicodedata.category(letter) in {"Cc", "Cf", "Zl", "Zp"} for letter in name):
        return "holds control characters"
    if "\\" in name:
        return "holds a backslash"
    if name.startswith("/"):
        return "is absolute"
    parts = name.split("/")
    if ".." in parts:
        return "leaves the dataset's folder"
    if "." in parts or "" in parts:
        return "is not in its shortest form"
    if size > _MOST_PART_BYTES and (size > _MOST_BYTES or any(len(part.encode()) > _MOST_PART_BYTES for part in parts)):
        return "is too long"
    return None


def part_fault(name: object) -> str | None:
    """Return the reason why ``name`` is no valid path component (scene, split, channel, version); None if valid."""
    fault = name_fault(name)
    return fault or ("holds a slash" if "/" in str(name) else "starts with a dot" if str(name)[0] == "." else None)


def check_part(name: object, *, what: str) -> str:
    """Return ``name`` if it is a valid part of a path.

    Raises:
        DatasetError: ``name`` is invalid.
    """
    fault = part_fault(name)
    if fault:
        raise DatasetError(f"{what} {_quoted(name)} {fault}: it cannot be part of a file name")
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
    """A dataset's folder, through which readers open all of its files.

    A name must lead to a regular file inside it, no larger than stated. Links are followed as long as they stay inside; the
    folder itself may be a link.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)
        self._faults: dict[str, str | None] = {}  # cache for folders, which are few

    def fault(self, name: object, *, most_bytes: int = MOST_FILE_BYTES) -> str | None:
        """Return the reason why ``name`` is no readable file, without opening it; None for a readable file."""
        wrong = name_fault(name)
        if wrong:
            return wrong
        folder, _, _ = str(name).rpartition("/")
        if folder not in self._faults:
            self._faults[folder] = self.leads_outside(folder)
        return self._faults[folder] or self._fault_of_file(str(name), most_bytes)

    def file(self, name: object, *, what: str = "a table names") -> Path:
        """Return the path of a file.

        Raises:
            DatasetError: see ``fault``.
        """
        wrong = self.fault(name)
        if wrong:
            raise DatasetError(f"{self.root}: {what} {_quoted(name)}, which {wrong}; run uavsim validate {self.root}")
        return self.root / str(name)

    def open(self, name: object, *, what: str = "a table names", most_bytes: int = MOST_FILE_BYTES) -> BufferedReader:
        """Open a file for reading.

        Raises:
            DatasetError: see ``fault``; or the file was exchanged meanwhile.
        """
        wrong = self.fault(name, most_bytes=most_bytes)
        if not wrong:
            file = open_regular(f"{self._real_root}/{name}", most_bytes=most_bytes)
            leads_to = os.readlink(f"/proc/self/fd/{file.fileno()}")  # noqa: PTH115 - the name may lead elsewhere now
            if self._is_inside(leads_to):
                return file
            file.close()
            wrong = "leaves the dataset's folder through a link"
        raise DatasetError(f"{self.root}: {what} {_quoted(name)}, which {wrong}; run uavsim validate {self.root}")

    def read(self, name: object, *, what: str = "a table names", most_bytes: int = MOST_FILE_BYTES) -> bytes:
        """Return the bytes of a file.

        Raises:
            DatasetError: see ``open``.
        """
        with self.open(name, what=what, most_bytes=most_bytes) as file:
            return file.read()

    def names(self, folder: str) -> list[str]:
        """Return the sorted names in a folder; [] if it does not exist, is no folder, or leads outside."""
        path = Path(self._real_root, folder)
        if self.leads_outside(folder) or not path.is_dir():
            return []
        return sorted(entry.name for entry in path.iterdir())

    def _is_inside(self, real: str) -> bool:
        return real == self._real_root or real.startswith(f"{self._real_root.rstrip('/')}/")

    def _fault_of_file(self, name: str, most_bytes: int) -> str | None:
        path = f"{self._real_root}/{name}"
        try:
            found = os.lstat(path)
            if stat.S_ISLNK(found.st_mode):
                outside = self.leads_outside(name)
                if outside:
                    return outside
                found = os.stat(path)  # noqa: PTH116 - a million files: no Path each
        except FileNotFoundError:
            return MISSING
        except OSError as error:
            return f"cannot be read ({error.strerror})"
        if not stat.S_ISREG(found.st_mode):
            return "is not a regular file"
        return f"is larger than {most_bytes} bytes" if found.st_size > most_bytes else None

    def leads_outside(self, name: str) -> str | None:
        """Return the fault of a name if its links lead out of the folder, else None."""
        try:
            real = os.path.realpath(f"{self._real_root}/{name}", strict=False)
        except OSError as error:
            return f"cannot be read ({error.strerror})"
        return None if self._is_inside(real) else "leaves the dataset's folder through a link"


def _quoted(name: object) -> str:
    text = ascii(name)
    return text if len(text) <= 120 else f"{text[:117]}..."
