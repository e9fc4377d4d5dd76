"""The loadable towns: built-in ones, files, and clients' texts. Loaded towns stay in memory."""

import difflib
import resource
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headless_simulator.errors import CallRefused
from headless_simulator.scene import Town
from headless_simulator.terminal import note
from headless_simulator.towns import cache
from headless_simulator.towns.apart import build_apart
from headless_simulator.towns.errors import TownRefused
from headless_simulator.towns.limits import OPERATOR
from headless_simulator.towns.load import NAMES, OPT, as_opt, cached_town, load_opendrive

OPENDRIVE_MAP: Final = "OpenDriveMap"
_LARGEST_OPENDRIVE: Final = 24 << 20
_LARGE_FILE: Final = 10 << 20
_MOST_CACHED_TEXTS: Final = 16  # towns from clients' texts on disk


def opendrive_files(folder: Path) -> dict[str, Path]:
    """Return every OpenDRIVE file (``*.xodr``) of a folder, by file stem.

    Raises:
        TownRefused: the folder does not exist or has no such file.
    """
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".xodr" and path.is_file())
    except OSError as error:
        raise TownRefused(f"--maps {folder}: {error.strerror}") from None
    if not found:
        raise TownRefused(f"--maps {folder}: the folder has no OpenDRIVE file (*.xodr)")
    return {path.stem: path for path in found}


@contextmanager
def _logged_cost(name: str, size: int) -> Iterator[None]:
    """Log the cost of a large file before and after loading."""
    if size < _LARGE_FILE:
        yield
        return
    note(f"{name}: {size >> 20} MB of OpenDRIVE; building it takes minutes and gigabytes once, then it is kept on disk")
    began = time.monotonic()
    yield
    used = max(resource.getrusage(whose).ru_maxrss for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    note(f"{name}: loaded in {time.monotonic() - began:.0f} s with at most {used >> 10} MB of memory")


class TownLibrary:
    """Towns by name; thread-safe, and towns load in parallel.

    Args:
        seed: seed of the procedural parts.
        files: additional OpenDRIVE files by name; a file precedes a built-in town of the same name.
    """

    def __init__(self, *, seed: int, files: Mapping[str, Path] | None = None) -> None:
        self._seed = seed
        self._files = dict(files or {})
        self._towns: dict[str, Town] = {}
        self._lock = threading.Lock()
        self._building: dict[str, threading.Lock] = {}

    def names(self) -> list[str]:
        """Return all names for ``town``."""
        with self._lock:
            plain = {*NAMES, *self._files, *self._towns}
        return sorted({*plain, *(f"{name}{OPT}" for name in NAMES)})

    def town(self, name: str) -> Town:
        """Return a town by name, with or without folders, in any case. The suffix ``_Opt`` selects the same town by that name.

        Raises:
            CallRefused: unknown town, with the nearest name in the message, or an invalid file.
        """
        key, names = name.rsplit("/", 1)[-1], self.names()
        if key not in names and key.removesuffix(OPT) not in names:  # CARLA's FindMapPath ignores case
            spelled = {known.casefold(): known for known in (*(f"{each}{OPT}" for each in names), *names)}
            key = spelled.get(key.casefold(), key)
        if key not in names and key.removesuffix(OPT) not in names:
            near = difflib.get_close_matches(key[:100], names, n=1, cutoff=0.0)
            raise CallRefused(f"Map '{name:.100}' not found; the nearest is {near[0] if near else 'none'!r}")
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        with building:
            return self._towns.get(key) or self._built(key)

    def _built(self, key: str) -> Town:
        plain = key.removesuffix(OPT)
        is_opt = plain != key and key not in self._files
        town = as_opt(self.town(plain)) if is_opt else self._from_text_or_layout(key)
        with self._lock:
            self._towns[key] = town
        return town

    def _from_text_or_layout(self, key: str) -> Town:
        try:
            data = self._files[key].read_bytes() if key in self._files else None
            cached = cached_town(key, seed=self._seed, opendrive=data or b"")
            with _logged_cost(key, len(data or b"") if cached is None else 0):
                return cached or build_apart(key, seed=self._seed, opendrive=data, trusted=data is not None)
        except OSError as error:
            raise CallRefused(f"Map {key!r} cannot be used: its file cannot be read: {error.strerror}") from error
        except TownRefused as problem:
            raise CallRefused(f"Map {key!r} cannot be used: {problem}") from problem

    def open_file(self, path: Path) -> Town:
        """Load an OpenDRIVE file under its own name."""
        with _logged_cost(path.stem, path.stat().st_size if path.is_file() else 0):
            town = load_opendrive(path, seed=self._seed, limits=OPERATOR)
        with self._lock:
            self._towns[town.name] = town
        return town

    def take_opendrive(self, text: str) -> None:
        """Build the map that a client sends as text.

        Raises:
            CallRefused: the text is invalid; the message has the position.
        """
        if len(text) > _LARGEST_OPENDRIVE:
            raise CallRefused(f"the OpenDRIVE text has {len(text)} characters, more than {_LARGEST_OPENDRIVE}")
        data = text.encode("utf-8", "surrogateescape")
        try:
            town = cached_town(OPENDRIVE_MAP, seed=self._seed, opendrive=data)
            if town is None:
                from headless_simulator.towns.xodr_reader import read_network  # see load_town

                read_network(data, f"{OPENDRIVE_MAP}.xodr")  # invalid texts are refused immediately
                town = build_apart(OPENDRIVE_MAP, seed=self._seed, opendrive=data)
                cache.keep_newest(OPENDRIVE_MAP, _MOST_CACHED_TEXTS)
        except ValueError as problem:
            raise CallRefused(f"the OpenDRIVE text cannot be used: {problem}") from problem
        with self._lock:
            self._towns[OPENDRIVE_MAP] = town
