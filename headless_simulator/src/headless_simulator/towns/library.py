"""The towns that a server can load: the built-in ones, files, and what clients send. Loaded towns are kept."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from headless_simulator.errors import CallRefused
from headless_simulator.scene import Town
from headless_simulator.towns.errors import TownRefused
from headless_simulator.towns.load import NAMES, OPT, as_opt, load_opendrive, load_town

OPENDRIVE_MAP: Final = "OpenDriveMap"
_LARGEST_OPENDRIVE: Final = 48 << 20


def opendrive_files(folder: Path) -> dict[str, Path]:
    """Every OpenDRIVE file (``*.xodr``) of a folder, by the name without its ending.

    Raises:
        TownRefused: there is no such folder, or no such file in it.
    """
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".xodr" and path.is_file())
    except OSError as error:
        raise TownRefused(f"--maps {folder}: {error.strerror}") from None
    if not found:
        raise TownRefused(f"--maps {folder}: there is no OpenDRIVE file (*.xodr) in it")
    return {path.stem: path for path in found}


class TownLibrary:
    """Towns by name.

    Args:
        seed: for the procedural parts.
        files: OpenDRIVE files that are towns too, by name; a file goes before a built-in town of the same name.
    """

    def __init__(self, *, seed: int, files: Mapping[str, Path] | None = None) -> None:
        self._seed = seed
        self._files = dict(files or {})
        self._towns: dict[str, Town] = {}

    def names(self) -> list[str]:
        """Everything that ``town`` knows."""
        return sorted({*NAMES, *(f"{name}{OPT}" for name in NAMES), *self._files, *self._towns})

    def town(self, name: str) -> Town:
        """Give a town by its name, with or without folders. A town's name with ``_Opt`` is the same town of that name.

        Raises:
            CallRefused: there is no such town; the message names the nearest. Or its file cannot be taken.
        """
        key = name.rsplit("/", 1)[-1]
        if key not in self._towns:
            self._towns[key] = self._load(name, key)
        return self._towns[key]

    def _load(self, name: str, key: str) -> Town:
        if key in self._files:
            try:
                return load_opendrive(self._files[key], seed=self._seed)
            except TownRefused as problem:
                raise CallRefused(f"Map '{name}' cannot be used: {problem}") from problem
        plain = key.removesuffix(OPT)
        if plain != key and (plain in self.names()):
            return as_opt(self.town(plain))
        if key not in NAMES:
            near = difflib.get_close_matches(key, self.names(), n=1, cutoff=0.0)[0]
            raise CallRefused(f"Map '{name}' not found; the nearest is {near!r}")
        return load_town(key, seed=self._seed)

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
