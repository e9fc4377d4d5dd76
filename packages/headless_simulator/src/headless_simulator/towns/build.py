"""Building of towns, separate from loading because a start with a cached town need not import it."""

from dataclasses import replace
from typing import Final

from headless_simulator.scene import Town
from headless_simulator.towns.assemble import assemble
from headless_simulator.towns.errors import OpenDriveRefused
from headless_simulator.towns.layouts import LAYOUTS
from headless_simulator.towns.limits import Limits
from headless_simulator.towns.network import WALKABLE, Network
from headless_simulator.towns.strips import limit_at
from headless_simulator.towns.styles import MOTORWAY, SMALL_TOWN, SUBURBAN, Style
from headless_simulator.towns.xodr_reader import read_network

_FAST_KMH: Final = 85.0


def built_town(plain: str, *, seed: int) -> Town:
    """Build a procedural town by its plain name."""
    layout = LAYOUTS[plain]
    text = layout.plan().opendrive()
    return assemble(plain, text, read_network(text.encode(), plain), layout.style, seed)


def built_opendrive(data: bytes, *, name: str, file_name: str, seed: int, limits: Limits) -> Town:
    """Build a town from an OpenDRIVE text.

    Raises:
        OpenDriveRefused: the text is invalid; one line with the element and its line.
    """
    network = read_network(data, file_name, limits)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OpenDriveRefused(file_name, data[: error.start].count(b"\n") + 1, "document", "it is not UTF-8") from None
    return assemble(name, text, network, _style_for(name, network), seed, limits=limits, sign_bends=True)


def _style_for(name: str, network: Network) -> Style:
    """Return the style of the town with the file's name, else one by speed limits and sidewalks."""
    for plain, layout in LAYOUTS.items():
        if name.startswith(plain):
            return replace(layout.style, spawn_points=0, river_m=(), parks_m=())
    total = walked = fast = 0.0
    for road in network.roads.values():
        if not road.junction:
            lanes = {lane.kind for section in road.sections for lane in section.lanes.values()}
            total += road.length_m
            walked += road.length_m if lanes & WALKABLE else 0.0
            fast += road.length_m if limit_at(road, 0.0, 50.0) >= _FAST_KMH else 0.0
    if fast > 0.5 * total:
        return MOTORWAY
    return SMALL_TOWN if walked > 0.5 * total else SUBURBAN
