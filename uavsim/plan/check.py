"""Check configuration files and the files they refer to, without a simulator."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.config.formation import Formation
from uavsim.config.library import Library, kind_of, kinds
from uavsim.config.load import Loaded, display_path, load
from uavsim.config.schema import SCHEMA_COMMENT
from uavsim.errors import ConfigError, InputError, UnknownNameError
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.plan import checks, config_to_plan
from uavsim.plan.numbering import town_scenes
from uavsim.plan.scenes import DatasetPlanner
from uavsim.plan.swarm import formation_offsets
from uavsim.plan.trajectories import route_path
from uavsim.plan.weather import weather_track
from uavsim.records.ingredients import file_kinds
from uavsim.records.plan import SwarmTrajectory
from uavsim.registry import nearest, pick

_SUFFIXES: Final = (".yaml", ".yml")
_MOST_PLANNED: Final = 1000
_LONGEST_CHECKED_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class FileFinding:
    """The finding of one file: its kind, the error or None, and all of its errors in the order of the lines."""

    path: Path
    kind: str
    error: str | None
    every: tuple[str, ...] = ()


def check_paths(paths: Sequence[Path]) -> list[FileFinding]:
    """Check files, and all YAML files of folders.

    Raises:
        InputError: a path does not exist, or a folder has no YAML files.
    """
    library = Library.of()
    return [_check(file, library) for path in paths for file in _files(path)]


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.is_file():
        yield path
        return
    found = sorted(f for f in path.rglob("*") if f.suffix in _SUFFIXES and not _hidden(f.relative_to(path)))
    if not found:
        raise InputError(f"{path}: holds no YAML file")
    yield from found


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _check(path: Path, library: Library) -> FileFinding:
    kind = "?"
    try:
        kind = _kind(path)
        loaded: Loaded[Any] = load(path, kinds()[kind])
        if kind in _DEEPER:
            _DEEPER[kind](loaded, library.beside(path))
        elif kind in file_kinds() and (deeper := file_kinds()[kind].check) is not None:
            deeper.load()(loaded)
    except ConfigError as error:
        return FileFinding(path, kind, str(error), error.every or (str(error),))
    except InputError as error:
        said = f"{display_path(path)}:1: {error}"
        return FileFinding(path, kind, said, (said,))
    return FileFinding(path, kind, None)


def _kind(path: Path) -> str:
    """Return the kind of a file, from its editor comment or else from its folder."""
    try:
        with path.open("rb") as file:
            first = file.readline(500).decode("utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"{display_path(path)}: cannot be read: {error.strerror}") from error
    match = SCHEMA_COMMENT.match(first)
    kind = match[1] if match else kind_of(path)
    if kind in kinds():
        return kind
    if match:
        guess = nearest(match[1], kinds())
        hint = f"did you mean {guess}.json?" if guess else f"known: {', '.join(kinds())}"
        raise ConfigError(f"{display_path(path)}:1: there is no schema {match[1]}.json; {hint}")
    raise ConfigError(
        f"{display_path(path)}:1: unknown kind of file: put it into flight_plans/datasets, formations, "
        f"rigs, weather, {', '.join(file.folder for file in file_kinds().values())}, "
        f"or start it with '# yaml-language-server: $schema=.schemas/KIND.json', KIND one of {', '.join(kinds())}"
    )


def _dataset(loaded: Loaded[Any], _: Library) -> None:
    """Plan the scenes of every town, up to a limit."""
    planner = DatasetPlanner.open(str(loaded.source.path))
    for town in loaded.model.towns:
        for plan in planner.plans(town, town_scenes(loaded, town).numbers[:_MOST_PLANNED]):
            del plan  # each is planned when it is asked for


def _routes(loaded: Loaded[Any], library: Library) -> None:
    """Check that every route stays inside its town."""
    try:
        town = library.town(loaded.model.town).model
    except UnknownNameError as error:
        raise loaded.error(("town",), str(error)) from error
    for name in loaded.model.routes:
        xy = route_path(library, loaded, name).position_m[:, :2]
        low, high = np.array([town.x_m[0], town.y_m[0]]), np.array([town.x_m[1], town.y_m[1]])
        out = ((xy < low) | (xy > high)).any(axis=1)
        if out.any():
            x, y = xy[int(out.argmax())]
            raise loaded.error(("routes", name), f"reaches x={x:.1f} y={y:.1f}, outside {town.name}")


def _formation(loaded: Loaded[Any], _: Library) -> None:
    """Check the distances between hovering drones; the dataset's check covers routes."""
    formation: Formation = loaded.model
    last_s = formation.keyframes[-1].time_s if formation.keyframes else 0.0
    time_s = np.linspace(0.0, min(last_s, 3600.0), 1 + int(min(last_s, _LONGEST_CHECKED_S) * 20))
    places_m = formation_offsets(formation, time_s)
    places_m[..., 2] += np.array(formation.altitude_offsets_m or np.zeros(formation.drones))
    swarm = SwarmTrajectory(tuple(range(formation.drones)), SE3(quaternion.IDENTITY, places_m))
    distance_m, a, b, step = checks.nearest_pair(swarm)
    if distance_m < formation.min_separation_m:
        raise loaded.error(
            ("keyframes",) if formation.keyframes else ("spacing_m",),
            f"drones {a} and {b} come within {distance_m:.2f} m of each other at {time_s[step]:.2f} s "
            f"(min_separation_m is {formation.min_separation_m:g})",
        )


def _rig(loaded: Loaded[Any], _: Library) -> None:
    """Check that lenses can be rendered; lidars depend on the dataset's step."""
    config_to_plan.cameras(loaded)


def _weather(loaded: Loaded[Any], _: Library) -> None:
    """Check that presets exist in CARLA."""
    weather_track(loaded, scene_us=10_000_000)


def _run(loaded: Loaded[Any], library: Library) -> None:
    """Check that the dataset exists."""
    if loaded.model.dataset is None:
        return
    try:
        dataset = library.dataset(loaded.model.dataset).model
        for town in loaded.model.towns:
            pick({name.casefold(): name for name in dataset.towns}, town.casefold(), what="town of the dataset")
    except UnknownNameError as error:
        raise loaded.error(("dataset",), str(error)) from error


_DEEPER: Final[dict[str, Callable[[Loaded[Any], Library], None]]] = {
    "rig": _rig,
    "routes": _routes,
    "formation": _formation,
    "weather": _weather,
    "dataset": _dataset,
    "run": _run,
}
"""Checks beyond the model, by kind of file."""
