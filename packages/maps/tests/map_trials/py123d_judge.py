"""Say which areas py123d's own parser of OpenDRIVE gives lanes and crossings; prints JSON. It runs where py123d is installed.

``PYTHON py123d_judge.py FILE STEP_M``: ``lanes`` by road, section and lane, ``crossings`` by object, m^2.
"""

import json
import logging
import sys
from pathlib import Path

import shapely
from py123d.parser.opendrive.utils.collection import collect_element_helpers
from py123d.parser.opendrive.xodr_parser.opendrive import XODR


def main() -> None:
    """Parse, print."""
    logging.disable(logging.CRITICAL)
    town = XODR.parse_from_file(Path(sys.argv[1]))
    _, _, lanes, _, crossings, *_ = collect_element_helpers(town, float(sys.argv[2]), 0.1)
    found: dict[str, dict[str, float]] = {"lanes": {}, "crossings": {}}
    for name, lane in lanes.items():
        road, section, _, number = name.split("_")
        found["lanes"][f"{road} {section} {number}"] = float(shapely.make_valid(lane.shapely_polygon).area)
    for thing in crossings.values():
        ring = thing.outline_polyline_3d.array[:, :2]
        found["crossings"][str(thing.object_id)] = float(shapely.Polygon(ring).area)
    json.dump(found, sys.stdout)


main()
