"""The towns that a server can load: the built-in ones, files, and what clients send. Loaded towns are kept."""

from __future__ import annotations

import difflib
import tempfile
from pathlib import Path
from typing import Final

from headless_simulator.errors import CallRefused
from headless_simulator.scene import Town
from headless_simulator.towns.load import NAMES, load_opendrive, load_town

OPENDRIVE_MAP: Final = "OpenDriveMap"
_LARGEST_OPENDRIVE: Final = 48 << 20


class TownLibrary:
    """Towns by name.

    Args:
        seed: for the procedural parts.
    """

    def __init__(self, *, seed: int) -> None:
        self._seed = seed
        self._towns: dict[str, Town] = {}

    def names(self) -> list[str]:
        """Everything that ``town`` knows."""
        return sorted({*NAMES, *self._towns})

    def town(self, name: str) -> Town:
        """Give a town by its name, with or without folders, in any spelling of ``_Opt``.

        Raises:
            CallRefused: there is no such town; the message names the nearest.
        """
        key = name.rsplit("/", 1)[-1]
        key = key if key in self.names() else key.removesuffix("_Opt")
        if key not in self._towns:
            if key not in NAMES:
                near = difflib.get_close_matches(key, self.names(), n=1, cutoff=0.0)
                raise CallRefused(f"Map '{name}' not found; the nearest is {near[0] if near else 'none'!r}")
            self._towns[key] = load_town(key, seed=self._seed)
        return self._towns[key]

    def open_file(self, path: Path) -> Town:
        """Load an OpenDRIVE file under its own name."""
        town = load_opendrive(path, seed=self._seed)
        self._towns[town.name] = town
        return town

    def take_opendrive(self, text: str) -> None:
        """Build the map that a client sends as text.

        Raises:
            CallRefused: it cannot be taken; the message says where.
        """
        if len(text) > _LARGEST_OPENDRIVE:
            raise CallRefused(f"an OpenDRIVE text of {len(text)} characters is more than {_LARGEST_OPENDRIVE}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"{OPENDRIVE_MAP}.xodr")
            path.write_text(text, encoding="utf-8", errors="surrogateescape")
            try:
                town = load_opendrive(path, seed=self._seed)
            except (ValueError, OSError) as problem:
                raise CallRefused(f"the OpenDRIVE text cannot be used: {problem}") from problem
        self._towns[OPENDRIVE_MAP] = town
