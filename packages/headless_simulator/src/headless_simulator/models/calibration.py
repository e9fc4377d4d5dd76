"""Sizes of bodies measured in another simulator: ``headless-simulator --calibration FILE``.

The file is the ``answers.json`` of ``uavsim conform``. It replaces the boxes of known vehicles and walkers, and their meshes
fill the new boxes.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from headless_simulator.models.catalogue import VEHICLES, WALKERS, Vector

_MOST_BYTES: Final = 4 << 20
_HALF_M: Final = (0.05, 15.0)  # plausible half extents
_SIZE: Final = ": half length, width, height"
_CENTRE: Final = ": box's centre"


def calibrate(path: Path) -> int:
    """Set the sizes of bodies from a file, before any model is built; returns the number of bodies that changed.

    Raises:
        ValueError: the file has another format, or an implausible size.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        text = file.read(_MOST_BYTES + 1)
    try:
        answers: Any = json.loads(text)["answers"] if len(text) <= _MOST_BYTES else [None]
        found = {a["question"]: a.get("value") for a in answers if a["capability"] == "blueprints"}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"--calibration {path}: not an answers.json of `uavsim conform`") from None
    changed = 0
    for name in [*VEHICLES, *WALKERS]:
        half_m = _vector(found.get(name + _SIZE), f"{path}: {name}{_SIZE}", *_HALF_M)
        centre_m = _vector(found.get(name + _CENTRE), f"{path}: {name}{_CENTRE}", -_HALF_M[1], _HALF_M[1])
        changed += _resize(name, half_m, centre_m)
    return changed


def _resize(name: str, half_m: Vector | None, centre_m: Vector | None) -> bool:
    if name in WALKERS:
        walker = WALKERS[name]
        WALKERS[name] = replace(walker, half_extent_m=half_m or walker.half_extent_m)
        return WALKERS[name] != walker
    vehicle = VEHICLES[name]
    VEHICLES[name] = replace(
        vehicle, half_extent_m=half_m or vehicle.half_extent_m, box_offset_m=centre_m or vehicle.box_offset_m
    )
    return VEHICLES[name] != vehicle


def _vector(value: Any, dimension: str, low: float, high: float) -> Vector | None:
    if value is None:
        return None
    if (
        not isinstance(value, list)
        or len(value) != 3
        or not all(isinstance(v, int | float) and low <= v <= high for v in value)
    ):
        raise ValueError(f"--calibration {dimension}: {value!r} must be three lengths of {low:g} to {high:g} m")
    return float(value[0]), float(value[1]), float(value[2])
