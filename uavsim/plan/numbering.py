"""Scene numbers of a dataset; a number determines town, route, split and seed."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.config.dataset import AltitudeSchedule, DatasetConfig, NameSchedule, Splits
from uavsim.config.load import Loaded
from uavsim.errors import InputError
from uavsim.registry import pick

__all__ = [
    "TownScenes",
    "altitude_of",
    "as_text",
    "parse_numbers",
    "requested",
    "scene_rng",
    "scene_seed",
    "splits_of",
    "town_of",
    "town_scenes",
    "turn_of",
]

_STREAMS: Final = {
    "seed": 0,
    "jitter": 1,
    "weather": 2,
    "formation": 3,
    "altitude": 4,
    "degradations": 5,
    "encounters": 6,
    "corner_cases": 7,
}
_MOST_IN_A_RANGE: Final = 1_000_000
_MOST_DIGITS: Final = 9
UAV3D_HELD_OUT: Final = frozenset({1, 3, 5})


@dataclass(frozen=True, slots=True)
class TownScenes:
    """The scene numbers of one town in a dataset."""

    town: str
    numbers: range
    """Default scene numbers."""
    allowed: range
    """Scene numbers that may be requested."""


def town_scenes(dataset: Loaded[DatasetConfig], town: str) -> TownScenes:
    """Return the scene numbers of a town in a dataset; the name ignores case.

    Raises:
        ConfigError: two towns have the same number, or a split has a number without a town.
        UnknownNameError: the dataset has no such town.
    """
    ranges = _ranges(dataset)
    names = {name.casefold(): name for name in ranges}
    return pick(ranges, names.get(town.casefold(), town), what=f"town of the dataset {dataset.name!r}:")


def town_of(dataset: Loaded[DatasetConfig], numbers: Sequence[int] | None) -> str:
    """Return the only town of a dataset, or the town of the first requested scene.

    Raises:
        ConfigError: see ``town_scenes``.
        InputError: the town is ambiguous.
    """
    ranges = _ranges(dataset)
    if len(ranges) == 1:
        return next(iter(ranges))
    matching_towns = [town for town, scenes in ranges.items() if numbers and numbers[0] in scenes.allowed]
    if not matching_towns:
        raise InputError(f"the dataset {dataset.name!r} has several towns; choose one: {', '.join(ranges)}")
    return matching_towns[0]


def _ranges(dataset: Loaded[DatasetConfig]) -> dict[str, TownScenes]:
    next_number, ranges = 0, {}
    for name, share in dataset.model.towns.items():
        first = next_number if share.first_scene is None else share.first_scene
        most = share.most_scenes or share.scenes
        ranges[name] = TownScenes(name, range(first, first + share.scenes), range(first, first + most))
        next_number = first + most
    ordered = sorted(ranges.values(), key=lambda scenes: scenes.allowed.start)
    for before, after in itertools.pairwise(ordered):
        if after.allowed.start < before.allowed.stop:
            key_path = ("towns", after.town, "first_scene")
            raise dataset.error(key_path, f"{before.town} already has scene {after.allowed.start}; increase it")
    _check_splits(dataset, [scenes.allowed for scenes in ordered])
    return ranges


def _check_splits(dataset: Loaded[DatasetConfig], allowed: Sequence[range]) -> None:
    """Refuse scene numbers in splits that no town has."""
    for name, numbers in dataset.model.splits.scenes.items():
        for index, number in enumerate(numbers):
            if not any(number in scenes for scenes in allowed):
                what = f"the dataset has no scene {number}; it has {_listed(allowed)}"
                raise dataset.error(("splits", "scenes", name, index), what)


def _listed(ranges: Sequence[range]) -> str:
    """Format increasing ranges: ``0 to 3, 7``."""
    runs: list[range] = []
    for numbers in ranges:
        joined = runs and runs[-1].stop == numbers.start
        runs[-1:] = [range(runs[-1].start, numbers.stop)] if joined else [*runs[-1:], numbers]
    return ", ".join(str(run.start) if len(run) == 1 else f"{run.start} to {run.stop - 1}" for run in runs)


def parse_numbers(text: str, *, what: str = "--scenes") -> tuple[int, ...]:
    """Read ``0-4,7`` as (0, 1, 2, 3, 4, 7): increasing, each once.

    Args:
        text: scene numbers.
        what: name of the option in the error.

    Raises:
        InputError: the syntax is invalid, or a range descends.
    """
    numbers: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (_is_number(first) and (not dash or _is_number(last))):
            raise InputError(f"{what} {text!r}: write numbers and ranges, for example 0-4,7")
        low, high = int(first), int(last or first)
        if high < low or high - low > _MOST_IN_A_RANGE:
            raise InputError(f"{what} {text!r}: the range {part.strip()} is descending or too long")
        numbers.update(range(low, high + 1))
    return tuple(sorted(numbers))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS


def requested(scenes: TownScenes, numbers: Sequence[int] | None) -> Sequence[int]:
    """Return the requested numbers, sorted and unique.

    Raises:
        InputError: a number is not in this town.
    """
    if numbers is None:
        return scenes.numbers
    foreign = [number for number in numbers if number not in scenes.allowed]
    if foreign:
        raise InputError(
            f"{scenes.town} has no scene {foreign[0]}, only {scenes.allowed.start}-{scenes.allowed.stop - 1} "
            f"in this dataset{_counted_in_town(scenes, numbers)}"
        )
    if not numbers:
        raise InputError("no scene is requested; give at least one")
    return sorted(set(numbers))


def _counted_in_town(scenes: TownScenes, numbers: Sequence[int]) -> str:
    """Suggest the correct numbers if the given ones count within the town."""
    if max(numbers) >= len(scenes.allowed):
        return ""
    scene_numbers = sorted({scenes.allowed[number] for number in numbers})
    return f"; counted within {scenes.town} that is --scenes {as_text(scene_numbers)}"


def as_text(numbers: Sequence[int]) -> str:
    """Write increasing numbers as ``parse_numbers`` reads them: ``0-4,7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def scene_rng(seed: int, number: int, stream: str) -> np.random.Generator:
    """Return the random generator of one purpose in one scene; it depends on the arguments only."""
    key = (
        _STREAMS[stream] if stream in _STREAMS else int.from_bytes(stream.encode())
    )  # by their names, those that packages add
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number, key)))


def scene_seed(seed: int, number: int, *, stream: str = "seed") -> int:
    """Return a scene's seed for the simulator or another purpose, 31 bits."""
    return int(scene_rng(seed, number, stream).integers(0, 2**31))


def altitude_of(schedule: AltitudeSchedule | None, rng: np.random.Generator, *, number: int) -> float | None:
    """Return a schedule's altitude, metres, for the town's scene ``number`` (counted from 0)."""
    if schedule is None or schedule.fixed is not None:
        return schedule.fixed if schedule is not None else None
    if schedule.cycle:
        return schedule.cycle[number % len(schedule.cycle)]
    return schedule.draw[int(rng.integers(len(schedule.draw)))]


def turn_of(schedule: NameSchedule, rng: np.random.Generator, *, number: int) -> str:
    """Return a schedule's name for the town's scene ``number`` (counted from 0)."""
    if schedule.fixed is not None:
        return schedule.fixed
    if schedule.cycle:
        return schedule.cycle[number % len(schedule.cycle)]
    weights = np.array(list(schedule.draw.values()))
    return list(schedule.draw)[int(rng.choice(len(weights), p=weights / weights.sum()))]


def splits_of(splits: Splits, number: int) -> tuple[str, ...]:
    """Return the splits of the scene with this number.

    UAV3D's rule: of the last digit d and the one before, t: d in 1, 3, 5 is held out, for validation where t is even and
    for test where it is odd.
    """
    if splits.rule == "uav3d":
        if number % 10 not in UAV3D_HELD_OUT:
            return ("uav_train",)
        return ("uav_val",) if (number // 10) % 10 % 2 == 0 else ("uav_test",)
    named = tuple(name for name, numbers in splits.scenes.items() if number in numbers)
    return named or ((splits.rest,) if splits.rest else ())
