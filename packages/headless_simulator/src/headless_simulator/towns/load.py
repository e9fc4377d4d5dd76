"""Loading of a town by name, or from an OpenDRIVE file."""

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Final

from headless_simulator.scene import Town
from headless_simulator.towns import cache
from headless_simulator.towns.errors import TownRefused
from headless_simulator.towns.limits import CLIENT, Limits

# Names of ``layouts.LAYOUTS``, which a start with a cached town need not import.
NAMES: Final = ("Town01", "Town02", "Town03", "Town04", "Town05", "Town06", "Town07", "Town10HD", "Town12")
OPT: Final = "_Opt"  # CARLA's layered variants: the same town under another name


def load_town(name: str, *, seed: int = 0) -> Town:
    """Return a procedural town that resembles CARLA's in extent, lanes and spawn points.

    Args:
        name: one of ``NAMES``, with or without "_Opt", which becomes part of the town's name; map paths are accepted too.
        seed: random seed; the roads do not depend on it.

    Raises:
        TownRefused: unknown town; the message has the nearest name.
    """
    plain = name.rsplit("/", 1)[-1]
    if plain.endswith(OPT):
        return as_opt(load_town(plain.removesuffix(OPT), seed=seed))
    cached = cached_town(plain, seed=seed)
    if cached is not None:
        return cached
    if plain not in NAMES:
        near = difflib.get_close_matches(plain, NAMES, n=1, cutoff=0.0)[0]
        raise TownRefused(f"unknown town {name!r}; did you mean {near!r}? Towns: {', '.join(NAMES)}")
    from headless_simulator.towns.build import built_town  # scipy and the layouts are slow to import

    town = built_town(plain, seed=seed)
    cache.save(cache.key(plain, b"", seed), town)
    return town


def cached_town(plain: str, *, seed: int, opendrive: bytes = b"") -> Town | None:
    """Return the cached town of a name and, if given, an OpenDRIVE text, or None."""
    return cache.load(cache.key(plain, opendrive, seed))


def as_opt(town: Town) -> Town:
    """Return a town under its layered variant's name; all data is shared."""
    return replace(town, name=f"{town.name}{OPT}")


def load_opendrive(path: str | Path, *, seed: int = 0, limits: Limits = CLIENT) -> Town:
    """Return a town from an OpenDRIVE file, with buildings and trees beside its roads.

    Raises:
        OpenDriveRefused: the file is invalid; one line with the element and its line.
    """
    file = Path(path)
    if file.exists() and not file.is_file():
        raise TownRefused(f"cannot read {file}: it is not a regular file")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise TownRefused(f"cannot read {file}: {error.strerror}") from None
    cached = cached_town(file.stem, seed=seed, opendrive=data)
    if cached is not None:
        return cached
    from headless_simulator.towns.build import built_opendrive  # see load_town

    town = built_opendrive(data, name=file.stem, file_name=file.name, seed=seed, limits=limits)
    cache.save(cache.key(file.stem, data, seed), town)
    return town
