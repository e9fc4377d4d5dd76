"""Find configurations: in the user's folders first, then in uavsim's own.

A folder of the search path holds ``flight_plans/`` and ``town_configs/``, or is itself a ``flight_plans`` folder. Inside:
``corner_cases/ datasets/ encounters/ formations/ rigs/ weather/`` and one ``<town>.yaml`` of routes a town. A name is looked
up by its file's stem, whatever its case; what ends in ``.yaml`` or ``.yml`` is a path, from the current folder or from the
file that names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from uavsim.config.base import Model
from uavsim.config.dataset import DatasetConfig, dataset_config
from uavsim.config.events import EventThresholds
from uavsim.config.formation import Formation
from uavsim.config.load import Loaded, display_path, load
from uavsim.config.rig import Rig
from uavsim.config.routes import RoutesConfig
from uavsim.config.run import RunConfig
from uavsim.config.stored import CONFIG_FILE, StoredConfig, key_of, read_stored
from uavsim.config.town import TownConfig
from uavsim.config.weather import Weather
from uavsim.errors import ConfigError, DatasetError, InputError, UnknownNameError
from uavsim.files.parse import read_regular
from uavsim.records.ingredients import file_kinds
from uavsim.registry import pick

__all__ = ["PLANS", "Library", "folders", "kind_of", "kinds", "packaged_root"]

M = TypeVar("M", bound=Model)
PLANS: Final = "UAVSIM_PLANS"
"""Environment variable with folders that have flight_plans/ and town_configs/, for processes started elsewhere."""
_SUFFIXES: Final = (".yaml", ".yml")
_MOST_TRAJECTORY_BYTES: Final = 8 << 20  # an hour of 20 poses a second

_KINDS: Final[dict[str, type[Model]]] = {
    "town": TownConfig,
    "routes": RoutesConfig,
    "formation": Formation,
    "rig": Rig,
    "weather": Weather,
    "run": RunConfig,
    "events": EventThresholds,
}
_SPOKEN: Final = {
    "dataset": "dataset",
    "routes": "town (it has no routes)",
    "events": "thresholds",
}
_FOLDERS: Final = {
    "formation": "formations",
    "rig": "rigs",
    "weather": "weather",
    "dataset": "datasets",
    "routes": ".",
    "run": "runs",
    "events": "events",
}


def kinds() -> dict[str, type[Model]]:
    """Return the model of every kind of file, including those of ingredients."""
    brought = {kind: file.model.load() for kind, file in file_kinds().items()}
    return _KINDS | {"dataset": dataset_config()} | brought


def folders() -> dict[str, str]:
    """Return the folder of every kind of file but towns, below ``flight_plans``."""
    return _FOLDERS | {kind: file.folder for kind, file in file_kinds().items()}


def packaged_root() -> Path:
    """Return the folder of uavsim's own ``flight_plans`` and ``town_configs``."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent


def kind_of(path: Path) -> str | None:
    """Return the kind of a YAML file by its folder; None when the folder names no kind."""
    kind_by_folder = {folder: kind for kind, folder in folders().items() if folder != "."}
    parent = path.resolve().parent.name
    if parent in kind_by_folder:
        return kind_by_folder[parent]
    return {"flight_plans": "routes", "town_configs": "town"}.get(parent)


@dataclass(frozen=True, slots=True)
class Library:
    """Finds and loads configurations by name.

    Args:
        roots: pairs of (flight_plans folder, town_configs folder) in search order.
        stored: the stored configuration of a dataset, which precedes files.
        used: loaded files by key.
        loaded: their content; each is read once.
    """

    roots: tuple[tuple[Path, Path], ...]
    stored: StoredConfig = field(default_factory=StoredConfig, repr=False)
    used: dict[str, Path] = field(default_factory=dict, compare=False, repr=False)
    loaded: dict[tuple[Path, type[Model]], Loaded[Any]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, search_dirs: Iterable[Path] = ()) -> Library:
        """Make a library of the given folders, the current one, those of ``UAVSIM_PLANS`` and uavsim's own.

        Raises:
            InputError: a folder does not exist.
        """
        first = [Path(d) for d in search_dirs]
        last = [Path(d) for d in os.environ.get(PLANS, "").split(os.pathsep) if d]
        for folder in (*first, *last):
            if not folder.is_dir():
                where = f" ({PLANS})" if folder in last else ""
                raise InputError(f"{folder}{where}: no such folder to search for configurations")
        return cls(tuple(dict.fromkeys(_pair(folder) for folder in (*first, Path(), *last, packaged_root()))))

    def beside(self, path: Path) -> Library:
        """Return a library that first searches the folder of ``path``, a file of a flight_plans folder."""
        folder = path.resolve().parent
        if folder.name in folders().values():
            folder = folder.parent
        return replace(self, roots=tuple(dict.fromkeys((_pair(folder), *self.roots))))

    def with_dataset(self, name: str) -> tuple[Loaded[DatasetConfig], Library]:
        """Load a dataset by name, path, or its stored configuration; return it with the library for its references."""
        if Path(name).name == CONFIG_FILE:
            stored = read_stored(Path(name))
            library = replace(self, stored=stored)
            return library._by_name("dataset", stored.dataset, dataset_config()), library
        loaded = self._by_name("dataset", name, dataset_config())
        return loaded, self.beside(loaded.source.path)

    def names(self, kind: str) -> dict[str, Path]:
        """Return the files of one kind by name; where two have the same name, the first found."""
        files: dict[str, Path] = {}
        for flight_plans, town_configs in self.roots:
            folder = town_configs if kind == "town" else flight_plans / folders()[kind]
            found = sorted(f for f in folder.iterdir() if f.suffix in _SUFFIXES) if folder.is_dir() else []
            files = {file.stem: file for file in found} | files
        return files

    def dataset(self, name: str) -> Loaded[DatasetConfig]:
        """Load a dataset by name, path, or its stored configuration."""
        return self.with_dataset(name)[0]

    def formation(self, name: str, *, named_in: Path | None = None) -> Loaded[Formation]:
        """Load a formation by name or path; paths start at the current folder or at the file that names it."""
        return self._by_name("formation", name, Formation, named_in=named_in)

    def rig(self, name: str, *, named_in: Path | None = None) -> Loaded[Rig]:
        """Load a rig by name or path."""
        return self._by_name("rig", name, Rig, named_in=named_in)

    def weather(
        self, name: str, *, named_in: Path | None = None, presets: Sequence[str] = ()
    ) -> Loaded[Weather] | None:
        """Load a weather by name or path; None when the name is one of ``presets`` and no file."""
        if (
            name in presets
            and not self.stored.find("weather", name)
            and (self.stored.files or name not in self.names("weather"))
        ):
            return None
        return self._by_name("weather", name, Weather, named_in=named_in, also=presets)

    def of_ingredient(self, kind: str, name: str, *, named_in: Path | None = None) -> Loaded[Any]:
        """Load a file of an ingredient's kind, by name or path.

        Raises:
            UnknownNameError: no installed package brings this kind.
        """
        return self._by_name(kind, name, pick(kinds(), kind, what="kind of file"), named_in=named_in)

    def town(self, name: str) -> Loaded[TownConfig]:
        """Load a town by name or path."""
        return self._by_name("town", name, TownConfig)

    def routes(self, town: str) -> Loaded[RoutesConfig]:
        """Load the routes of a town.

        Raises:
            ConfigError: the file is of another town.
        """
        routes = self._by_name("routes", town, RoutesConfig)
        if routes.model.town.casefold() != town.casefold() and not town.endswith(_SUFFIXES):
            raise routes.error(("town",), f"these are routes of {routes.model.town!r}, not of {town!r}")
        return routes

    def trajectory(self, name: str, *, named_in: Path) -> str:
        """Read the text of a trajectory's file; its path starts at the current folder or at the file that names it.

        Raises:
            ConfigError: it is missing or cannot be read.
        """
        stored = self.stored.find("trajectory", name)
        if stored is not None:
            return stored[1]
        path = _file(name, named_in)
        try:
            text = read_regular(path, most_bytes=_MOST_TRAJECTORY_BYTES).decode()
        except (DatasetError, UnicodeDecodeError) as error:
            raise ConfigError(f"{display_path(path)}: cannot be read: {error}") from error
        self.used[key_of("trajectory", name)] = path
        return text

    def run(self, name: str) -> Loaded[RunConfig]:
        """Load a run by name or path."""
        return self._by_name("run", name, RunConfig)

    def events(self, name: str) -> Loaded[EventThresholds]:
        """Load thresholds of event labels by name or path."""
        return self._by_name("events", name, EventThresholds)

    def _by_name(
        self, kind: str, name: str, model: type[M], *, named_in: Path | None = None, also: Sequence[str] = ()
    ) -> Loaded[M]:
        stored = self.stored.find(kind, name)
        if stored is not None:
            return load(stored[0], model, text=stored[1])
        if name.endswith(_SUFFIXES):
            return self._load(kind, name, _file(name, named_in), model)
        files = {stem.casefold(): (stem, path) for stem, path in self.names(kind).items()}
        if name.casefold() in files:
            return self._load(kind, name, files[name.casefold()][1], model)
        known = dict.fromkeys([stem for stem, _ in files.values()] + list(also))
        if kind in ("town", "routes"):
            known = dict.fromkeys(_town_names(self.names(kind), kind))
        what = _SPOKEN.get(kind) or (file_kinds()[kind].spoken if kind in file_kinds() else kind)
        if named_in is not None and (file_name := f"{name}.yaml") in {file.name for file in named_in.parent.iterdir()}:
            source = display_path(named_in)
            raise UnknownNameError(f"unknown {what} {name!r}; for the file beside {source}, write {file_name}")
        pick(known, name, what=what)
        raise UnknownNameError(f"unknown {what} {name!r}")  # pick has raised

    def _load(self, kind: str, name: str, path: Path, model: type[M]) -> Loaded[M]:
        if (path, model) not in self.loaded:
            self.loaded[path, model] = load(path, model)
        self.used[key_of(kind, name)] = path
        return self.loaded[path, model]


def _town_names(files: dict[str, Path], kind: str) -> list[str]:
    """Return the towns' own names where their files can be read, else the stems."""
    names = []
    for stem, path in files.items():
        try:
            model = load(path, _KINDS[kind]).model
            names.append(str(getattr(model, "name" if kind == "town" else "town")))
        except ConfigError:
            names.append(stem)
    return names


def _pair(folder: Path) -> tuple[Path, Path]:
    if not (folder / "flight_plans").is_dir() and (folder.name == "flight_plans" or (folder / "datasets").is_dir()):
        return folder, folder.parent / "town_configs"
    return folder / "flight_plans", folder / "town_configs"


def _file(name: str, named_in: Path | None) -> Path:
    path = Path(name)
    beside = (named_in.parent / path) if named_in is not None else path
    if path.is_file() or not beside.is_file():
        if not path.is_file():
            raise ConfigError(f"{display_path(path)}: no such file")
        return path
    return beside
