"""Ground truth of an OPV2V folder, ``<scenario>/<agent>/<timestamp>.yaml``: the union of all agents' objects.

This module reads YAML itself, because the reader of configurations refuses numbers as keys.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from uavsim.errors import InputError
from uavsim.typing import JsonDict
from uavsim_benchmarks.evaluate.boxes import Boxes, ranks_within
from uavsim_benchmarks.evaluate.readers.nuscenes_truth import Truth

_MAX_BYTES: Final = 8_000_000
_LARGEST: Final = 1e9  # metres or degrees; squares of larger ones lose all digits
_STEP_US: Final = 100_000  # frames are named by number; the format has no clock


def read_opv2v_truth(root: Path) -> Truth:
    """Read all scenarios; samples are named ``scenario/timestamp``, ranges are measured from the first agent's lidar.

    Boxes stay in the files' left-handed frame (x forward, y right, z up, metres); results are in the same frame. Every object
    is a car, as in OPV2V.

    Raises:
        InputError: the folder does not exist, or a file is damaged.
    """
    frames = sorted({(s.parent.parent.name, s.stem) for s in root.glob("*/*/*.yaml") if s.stem.isdigit()})
    if not frames:
        raise InputError(f"{root}: neither a uavsim dataset nor an OPV2V folder (<scenario>/<agent>/<timestamp>.yaml)")
    scenarios = sorted({scenario for scenario, _ in frames})
    numbers: dict[tuple[str, str], int] = {}
    rows: list[tuple[int, int, list[float]]] = []
    ego = np.zeros((len(frames), 3))
    for sample, (scenario, stamp) in enumerate(frames):
        vehicles: dict[str, JsonDict] = {}
        for order, file in enumerate(sorted((root / scenario).glob(f"*/{stamp}.yaml"))):
            content = _read(file)
            if order == 0:
                ego[sample] = _numbers(file, content, "lidar_pose")[:3]
            vehicles |= _vehicles(file, content)
        for name, vehicle in vehicles.items():
            rows.append((sample, numbers.setdefault((scenario, name), len(numbers)), _box(file, vehicle)))
    values = np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 7)
    samples = np.array([row[0] for row in rows], dtype=np.int64)
    boxes = Boxes.make(
        samples,
        np.zeros(len(rows)),
        values[:, :3],
        size_m=values[:, 3:6],
        yaw_rad=values[:, 6],
        track=np.array([row[1] for row in rows], dtype=np.int64),
    )
    index = {f"{scenario}/{stamp}": n for n, (scenario, stamp) in enumerate(frames)}
    scene = np.array([scenarios.index(scenario) for scenario, _ in frames], dtype=np.int64)
    frame = ranks_within(scene)
    return Truth(
        samples=index,
        known=index,
        scene=scene,
        scenes=scenarios,
        frame=frame,
        time_us=frame * _STEP_US,
        ego_m=ego,
        ego_yaw_rad=np.zeros(len(frames)),
        boxes=boxes,
        racks=Boxes.none(),
        key=np.zeros(len(rows), np.int64),
        drones=np.full(len(rows), -1),
        visibility=np.zeros(len(rows), np.int64),
    )


def _read(file: Path) -> JsonDict:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise InputError(f"{file}: larger than {_MAX_BYTES / 1e6:.0f} MB; not an OPV2V frame")
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, OverflowError, RecursionError, yaml.YAMLError) as error:
        raise InputError(f"{file}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise InputError(f"{file}: not an OPV2V frame, which is a mapping")
    return content


def _vehicles(file: Path, content: JsonDict) -> JsonDict:
    vehicles = content.get("vehicles") or {}
    if not isinstance(vehicles, dict):
        raise InputError(f"{file}: vehicles is not a mapping")
    return {str(name): vehicle for name, vehicle in vehicles.items()}


def _box(file: Path, vehicle: Any) -> list[float]:
    """Return centre, width, length, height and heading; location and centre are added unrotated, as OpenCOOD does."""
    if not isinstance(vehicle, dict):
        raise InputError(f"{file}: a vehicle is not a mapping")
    location, centre = _numbers(file, vehicle, "location"), _numbers(file, vehicle, "center")
    extent, angle = _numbers(file, vehicle, "extent"), _numbers(file, vehicle, "angle")
    x, y, z = (a + b for a, b in zip(location[:3], centre[:3], strict=True))
    return [x, y, z, 2 * extent[1], 2 * extent[0], 2 * extent[2], float(np.radians(angle[1]))]


def _numbers(file: Path, content: JsonDict, key: str) -> list[float]:
    try:
        numbers = [float(value) for value in content[key]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{file}: {key} is missing or not a list of numbers") from error
    if len(numbers) < 3 or not all(abs(number) <= _LARGEST for number in numbers):  # NaN neither
        raise InputError(f"{file}: {key} has fewer than 3 numbers, or one that is not finite or above {_LARGEST:.0e}")
    return numbers
