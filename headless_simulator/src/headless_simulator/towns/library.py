"""The towns that a server can load: the built-in ones, files, and what clients send. Loaded towns are kept."""

from __future__ import annotations

import difflib
import threading
from pathlib import Path
from typing import Final

from headless_simulator.errors import CallRefused
from headless_simulator.scene import Town
from headless_simulator.towns import cache
from headless_simulator.towns.apart import build_apart
from headless_simulator.towns.errors import TownRefused
from headless_simulator.towns.load import NAMES, kept_town, load_opendrive
from headless_simulator.towns.xodr_reader import read_network

OPENDRIVE_MAP: Final = "OpenDriveMap"
_LARGEST_OPENDRIVE: Final = 24 << 20
_MOST_KEPT: Final = 16  # towns from clients' texts on disk


class TownLibrary:
    """Towns by name; safe to use from several threads at once, and no town waits for another one.

    Args:
        seed: for the procedural parts.
    """

    def __init__(self, *, seed: int) -> None:
        self._seed = seed
        self._towns: dict[str, Town] = {}
        self._lock = threading.Lock()
        self._building: dict[str, threading.Lock] = {}

    def names(self) -> list[str]:
        """Everything that ``town`` knows."""
        with self._lock:
            return sorted({*NAMES, *self._towns})

    def town(self, name: str) -> Town:
        """Give a town by its name, with or without folders, in any spelling of ``_Opt``.

        Raises:
            CallRefused: there is no such town; the message names the nearest.
        """
        key, names = name.rsplit("/", 1)[-1], self.names()
        key = key if key in names else key.removesuffix("_Opt")
        if key not in names:
            near = difflib.get_close_matches(key[:100], names, n=1, cutoff=0.0)
            raise CallRefused(f"Map '{name:.100}' not found; the nearest is {near[0] if near else 'none'!r}")
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        with building:
            return self._towns.get(key) or self._built(key)

    def _built(self, key: str) -> Town:
        try:
            town = kept_town(key, seed=self._seed) or build_apart(key, seed=self._seed)
        except TownRefused as problem:
            raise CallRefused(str(problem)) from problem
        with self._lock:
            self._towns[key] = town
        return town

    def open_file(self, path: Path) -> Town:
        """Load an OpenDRIVE file under its own name."""
        town = load_opendrive(path, seed=self._seed)
        with self._lock:
            self._towns[town.name] = town
        return town

    def take_opendrive(self, text: str) -> None:
        """Build the map that a client sends as text.

        Raises:
            CallRefused: it cannot be taken; the message says where.
        """
        if len(text) > _LARGEST_OPENDRIVE:
            raise CallRefused(f"an OpenDRIVE text of {len(text)} characters is more than {_LARGEST_OPENDRIVE}")
        data = text.encode("utf-8", "surrogateescape")
        try:
            town = kept_town(OPENDRIVE_MAP, seed=self._seed, opendrive=data)
            if town is None:
                read_network(data, f"{OPENDRIVE_MAP}.xodr")  # what breaks a rule is refused at once
                town = build_apart(OPENDRIVE_MAP, seed=self._seed, opendrive=data)
                cache.keep_newest(OPENDRIVE_MAP, _MOST_KEPT)
        except ValueError as problem:
            raise CallRefused(f"the OpenDRIVE text cannot be used: {problem}") from problem
        with self._lock:
            self._towns[OPENDRIVE_MAP] = town
