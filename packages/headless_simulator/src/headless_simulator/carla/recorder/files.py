"""Paths of recordings: allowed folders only, and no other kind of file is overwritten.

A client names a recording by an absolute path below a folder that the operator configured, or by a path below the first of
them. Paths that leave these folders, by ``..``, by another absolute path or by a link, are refused. Every folder on the path
is opened separately, without following links, so that no component can be exchanged between check and opening.
"""

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from headless_simulator.carla.recorder.layout import MAGIC
from headless_simulator.errors import CallRefused

_HEAD: Final = len(MAGIC).to_bytes(2, "little") + MAGIC.encode()
_HEAD_AT: Final = 2  # behind the version
_DEEPEST: Final = 8
_LONGEST: Final = 255  # bytes of one part of a name
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class RecordingPath:
    """A recording's path: ``parts`` below ``folder``, the last one is the file name."""

    folder: Path
    parts: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Return the path that clients get."""
        return self.folder.joinpath(*self.parts)


def folders() -> tuple[Path, ...]:
    """Return the recording folders: ``$HEADLESS_SIMULATOR_RECORDINGS``, separated by ``:``, the first for bare names.

    The default is ``headless-simulator/recordings`` in ``$XDG_STATE_HOME`` or ``~/.local/state``.
    """
    named = [part for part in os.environ.get("HEADLESS_SIMULATOR_RECORDINGS", "").split(os.pathsep) if part]
    if named:
        return tuple(Path(part).absolute() for part in named)
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else Path.home() / ".local" / "state"
    return (state.absolute() / "headless-simulator" / "recordings",)


def resolve(name: str) -> RecordingPath:
    """Return the path of a recording's name.

    Raises:
        CallRefused: the name is not a valid file name, or leaves the folders.
    """
    allowed = folders()
    root = next((root for root in allowed if name.startswith(f"{root}/")), allowed[0])
    below = name.removeprefix(f"{root}/")
    parts = tuple(part for part in below.split("/") if part not in {"", "."})
    if not name.strip() or not parts or not all(map(_is_name, parts)) or len(parts) > _DEEPEST:
        raise CallRefused(f"{name!r:.80} is not a valid recording name; use at most {_DEEPEST} printable parts")
    if below.startswith("/") or ".." in parts:
        raise CallRefused(
            f"{name!r:.200} is not in a recording folder ({' or '.join(map(str, allowed))}); use a path in one of them, or "
            "start the simulator with HEADLESS_SIMULATOR_RECORDINGS set to the path's folder"
        )
    return RecordingPath(root, parts)


def _is_name(part: str) -> bool:
    try:
        return len(part.encode()) <= _LONGEST and part.isprintable()
    except UnicodeEncodeError:  # bytes that are not valid text
        return False


@contextlib.contextmanager
def _opened_folder(recording_path: RecordingPath, *, make: bool) -> Iterator[int]:
    """Open a recording's folder from the root on, refusing links."""
    if make:
        recording_path.folder.mkdir(parents=True, exist_ok=True)
    number = os.open(recording_path.folder, _FOLDER & ~os.O_NOFOLLOW)  # the user may keep the folder itself elsewhere
    try:
        for part in recording_path.parts[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=number)
            below = os.open(part, _FOLDER, dir_fd=number)
            os.close(number)
            number = below
        yield number
    finally:
        os.close(number)


def create(recording_path: RecordingPath) -> BinaryIO:
    """Open a file for a new recording, unbuffered and locked; an older recording is truncated.

    Raises:
        CallRefused: the file cannot be written, or exists and is not a recording.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        with _opened_folder(recording_path, make=True) as within:
            number = os.open(recording_path.parts[-1], flags, 0o644, dir_fd=within)
    except OSError as problem:
        special = problem.errno in (errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO)
        reason = "it is not a regular file, or its path contains a link" if special else problem.strerror
        raise CallRefused(f"cannot record to {recording_path.path!s:.300}: {reason}") from problem
    file = os.fdopen(number, "r+b", buffering=0)
    try:
        _take_over(file, recording_path.path)
    except BaseException:
        file.close()
        raise
    return file


def _take_over(file: BinaryIO, path: Path) -> None:
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        raise CallRefused(f"cannot record to {path}: it is not a regular file")
    if status.st_nlink > 1:
        raise CallRefused(f"cannot record to {path}: the file has another hard link; choose another name")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise CallRefused(f"cannot record to {path}: {problem.strerror}") from problem
        raise CallRefused(f"cannot record to {path}: another recording is using this file") from problem
    head = file.read(_HEAD_AT + len(_HEAD))
    if head and head[_HEAD_AT:] != _HEAD:
        raise CallRefused(f"cannot record to {path}: the existing file is not a CARLA recording; choose another name")
    file.seek(0)
    file.truncate()


def open_existing(recording_path: RecordingPath) -> BinaryIO | None:
    """Open a recording for reading; None if it is not a readable regular file."""
    try:
        with _opened_folder(recording_path, make=False) as within:
            flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
            number = os.open(recording_path.parts[-1], flags, dir_fd=within)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb")
