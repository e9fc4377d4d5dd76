"""Compare the obstacles of ``town_configs/*.yaml`` with the headless towns' tall buildings, or write them anew.

    python -m tools.town_obstacles [--write] [TOWN ...]

An obstacle is the upright box around a building whose roof is higher than 30 m and that reaches into what may be flown over,
whole metres outwards. It stands in the map frame: y is minus the simulator's y. Ends with 4 if a
file does not say what the town has.
"""

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from headless_simulator.scene import TAG, StaticObject
from headless_simulator.towns.load import NAMES, load_town

from tools.common import ROOT
from uavsim.config.load import load
from uavsim.config.town import Obstacle, TownConfig

FOLDER: Final = ROOT / "town_configs"
LEAST_TOP_M: Final = 30.0
MARGIN_M: Final = 1.0
SEED: Final = 0  # of the towns that ``headless-simulator`` serves by default
HEAD: Final = (
    "# Buildings above 30 m in the headless look-alike; the real town's stand elsewhere: put those here before you fly low.\n"
    "# Written by python -m tools.town_obstacles --write.\n"
)


def obstacles_of(town_objects: Iterable[StaticObject], config: TownConfig) -> list[Obstacle]:
    """Return the boxes around tall buildings within the town's bounds, from west to east."""
    boxes = (_box_of(item, config.ground_z_m) for item in town_objects)
    found = sorted(box for box in boxes if box is not None and _reaches_into(box, config))
    return [
        Obstacle(name=f"building {number}", x_m=(west, east), y_m=(south, north), top_m=top)
        for number, (west, south, east, north, top) in enumerate(found, start=1)
    ]


def _reaches_into(box: tuple[int, int, int, int, int], config: TownConfig) -> bool:
    west, south, east, north, _ = box
    return west < config.x_m[1] and east > config.x_m[0] and south < config.y_m[1] and north > config.y_m[0]


def _box_of(item: StaticObject, ground_z_m: float) -> tuple[int, int, int, int, int] | None:
    """Return (west, south, east, north, top), metres, of a tall building; None for other objects."""
    top_m = item.box_centre_m[2] + item.box_half_m[2] - ground_z_m
    if item.tag != TAG["building"] or top_m <= LEAST_TOP_M:
        return None
    yaw_rad = math.radians(item.pose[4])
    cos, sin = abs(math.cos(yaw_rad)), abs(math.sin(yaw_rad))
    along, across, _ = item.box_half_m
    reach_x = round(along * cos + across * sin + MARGIN_M, 6)  # the sine of half a turn is not quite 0
    reach_y = round(along * sin + across * cos + MARGIN_M, 6)
    x, y = item.box_centre_m[0], -item.box_centre_m[1]
    return (
        math.floor(x - reach_x),
        math.floor(y - reach_y),
        math.ceil(x + reach_x),
        math.ceil(y + reach_y),
        math.ceil(top_m),
    )


def with_obstacles(text: str, obstacles: Sequence[Obstacle]) -> str:
    """Return a town's YAML with its obstacles replaced."""
    other_lines = [line for line in text.splitlines() if not _of_obstacles(line)]
    lines = [
        f"  - {{name: {o.name}, x_m: [{o.x_m[0]:g}, {o.x_m[1]:g}], y_m: [{o.y_m[0]:g}, {o.y_m[1]:g}], top_m: {o.top_m:g}}}"
        for o in obstacles
    ]
    block = HEAD + "\n".join(["obstacles:", *lines]) + "\n" if obstacles else ""
    return "\n".join(other_lines) + "\n" + block


def _of_obstacles(line: str) -> bool:
    return line.startswith(("obstacles:", "  - {name: building", "# Buildings above 30 m", HEAD.splitlines()[-1]))


def stale(names: Sequence[str], *, write: bool) -> Iterator[str]:
    """Yield a line for each town with outdated obstacles in its file; ``write`` updates the file."""
    for path in sorted(FOLDER.glob("*.yaml")):
        config = load(path, TownConfig).model
        if config.carla_map not in NAMES or (names and config.name not in names):
            continue
        expected = obstacles_of(load_town(config.carla_map, seed=SEED).objects, config)
        if expected == list(config.obstacles):
            continue
        yield f"{path.name}: {len(config.obstacles)} obstacles, the town has {len(expected)} tall buildings"
        if write:
            path.write_text(with_obstacles(path.read_text("utf-8"), expected), "utf-8")


def main() -> int:
    """Compare or write, one line for each town that differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("towns", nargs="*")
    parser.add_argument("--write", action="store_true", help="write the obstacles into the files")
    options = parser.parse_args()
    lines = list(stale(options.towns, write=options.write))
    for line in lines:
        sys.stdout.write(f"{line}\n")
    return 0 if options.write or not lines else 4


if __name__ == "__main__":
    sys.exit(main())
