"""Entry points: a town by its name, or from an OpenDRIVE file."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Final

from headless_simulator.scene import Town
from headless_simulator.towns import cache
from headless_simulator.towns.errors import OpenDriveRefused, TownRefused
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.network import WALKABLE, Network
from headless_simulator.towns.strips import limit_at
from headless_simulator.towns.styles import MOTORWAY, SMALL_TOWN, SUBURBAN, Style
from headless_simulator.towns.xodr_reader import read_network

NAMES: Final[tuple[str, ...]] = tuple(LAYOUTS)
_FAST_KMH: Final = 85.0
OPT: Final = "_Opt"  # CARLA's layered variants: the same town under a name of its own


def load_town(name: str, *, seed: int = 0) -> Town:
    """A procedural town that is like CARLA's of that name in extent, lanes and spawn points.

    Args:
        name: one of ``NAMES``, with "_Opt" after it or not: that is the town's name then; map paths are taken too.
        seed: for what is drawn by chance; the roads do not depend on it.

    Raises:
        TownRefused: there is no such town; the message names the nearest.
    """
    plain = name.rsplit("/", 1)[-1]
    if plain.endswith(OPT):
        return as_opt(load_town(plain.removesuffix(OPT), seed=seed))
    kept = kept_town(plain, seed=seed)
    if kept is not None:
        return kept
    if plain not in LAYOUTS:
        near = difflib.get_close_matches(plain, NAMES, n=1, cutoff=0.0)[0]
        raise TownRefused(f"there is no town {name!r}; did you mean {near!r}? There are {', '.join(NAMES)}")
    layout = LAYOUTS[plain]
    text = layout.plan().opendrive()
    from headless_simulator.towns.assemble import assemble  # scipy is slow to import and not needed for a cached town

    town = assemble(plain, text, read_network(text.encode(), plain), layout.style, seed)
    cache.save(cache.key(plain, b"", seed), town)
    return town


def kept_town(plain: str, *, seed: int, opendrive: bytes = b"") -> Town | None:
    """A town that was built before: of that name, and from that OpenDRIVE text where there is one; None without."""
    return cache.load(cache.key(plain, opendrive, seed))


def as_opt(town: Town) -> Town:
    """Give a town its layered variant's name; everything else is shared."""
    return replace(town, name=f"{town.name}{OPT}")


def load_opendrive(path: str | Path, *, seed: int = 0) -> Town:
    """A town from an OpenDRIVE file: its roads, and buildings and trees placed clear of them.

    Raises:
        OpenDriveRefused: the file cannot be taken; one line with the element and its line.
    """
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise TownRefused(f"cannot read {file}: {error.strerror}") from None
    kept = kept_town(file.stem, seed=seed, opendrive=data)
    if kept is not None:
        return kept
    network = read_network(data, file.name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OpenDriveRefused(file.name, data[: error.start].count(b"\n") + 1, "document", "it is not UTF-8") from None
    from headless_simulator.towns.assemble import assemble  # see load_town

    town = assemble(file.stem, text, network, _style_for(file.stem, network), seed)
    cache.save(cache.key(file.stem, data, seed), town)
    return town


def _style_for(name: str, network: Network) -> Style:
    """The style of the town that a file is named after, else one by how fast its roads are and who walks there."""
    for plain, layout in LAYOUTS.items():
        if name.startswith(plain):
            return replace(layout.style, spawn_points=0, river_m=(), parks_m=())
    whole = walked = fast = 0.0
    for road in network.roads.values():
        if not road.junction:
            lanes = {lane.kind for section in road.sections for lane in section.lanes.values()}
            whole += road.length_m
            walked += road.length_m if lanes & WALKABLE else 0.0
            fast += road.length_m if limit_at(road, 0.0, 50.0) >= _FAST_KMH else 0.0
    if fast > 0.5 * whole:
        return MOTORWAY
    return SMALL_TOWN if walked > 0.5 * whole else SUBURBAN
