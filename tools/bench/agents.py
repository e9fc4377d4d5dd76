"""Cost of an image by the kind of agent that takes it: ``scripts/bench --only agents``.

One, two, four and eight drones, cars or poles with one camera each beside a single drone, then 8 + 8 + 4 together. An image
costs the slope of a line through the runs; what start-up, traffic and labels cost is the line's beginning.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import yaml

from tools.bench.cost import watched
from tools.bench.rows import Row

__all__ = ["Cost", "fitted", "rows"]

COUNTS: Final = (1, 2, 4, 8)
TOGETHER: Final = {"drones": 8, "vehicles": 8, "roadside": 4}
SAMPLES: Final = 6
_CAMERA: Final = {"width_px": 400, "height_px": 225, "fov_deg": 90, "sensors": ["rgb", "instance"]}


@dataclass(frozen=True, slots=True)
class Cost:
    """Slope and beginning of a line, and the largest share by which a run is off it."""

    of_one: float
    of_none: float
    off: float


def fitted(counts: list[int], values: list[float]) -> Cost:
    """Return the line through some runs."""
    slope, begin = np.polyfit(counts, values, 1).tolist()
    line = begin + slope * np.array(counts)
    return Cost(slope, begin, float(np.abs(np.array(values) / line - 1).max()))


def rows() -> Iterator[Row]:
    """Fly a scene for every number of agents of every kind, and one of all together."""
    how = (
        f"uavsim generate, 1 scene of {SAMPLES} samples in Town10HD, an image and a mask of 400x225 an agent, validated"
    )
    cpu_s_of_image, mb_of_agent, begins_s = {}, {}, []
    for kind in TOGETHER:
        runs = [_flown({kind: count}) for count in COUNTS]
        cpu = fitted([count * SAMPLES for count in COUNTS], [cpu_s for cpu_s, _ in runs])
        memory = fitted(list(COUNTS), [mb for _, mb in runs])
        cpu_s_of_image[kind], mb_of_agent[kind] = cpu.of_one, memory.of_one
        begins_s.append(cpu.of_none)
        yield Row(f"agents_{kind}_cpu_s_per_image", cpu.of_one, "s", f"{how}: slope over {COUNTS} {kind}")
        yield Row(f"agents_{kind}_off_line", cpu.off, "share", f"{how}: largest distance from that line")
        yield Row(f"agents_{kind}_mb", memory.of_one, "MB", f"{how}: peak of all processes, slope over {COUNTS} {kind}")
    cpu_s, peak_mb = _flown(TOGETHER)
    expected_s = sum(cpu_s_of_image[kind] * count * SAMPLES for kind, count in TOGETHER.items()) + float(
        np.mean(begins_s)
    )
    yield Row("agents_together_cpu_s", cpu_s, "s", f"{how}: {TOGETHER}")
    yield Row("agents_together_to_lines", cpu_s / expected_s, "share", f"{how}: {TOGETHER}, to what the lines say")
    yield Row("agents_together_peak_mb", peak_mb, "MB", f"{how}: {TOGETHER}, all processes")


def _flown(counts: dict[str, int]) -> tuple[float, float]:
    """Return processor seconds and peak memory of a run; there is one drone at least."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _write(work, {"drones": 1, **counts})
        _, family = watched(
            ("generate", "--dataset", f"{work}/own.yaml", "--out", f"{work}/out"), work / "log", memory_too=True
        )
        return sum(family.cpu_s().values()), family.peak_mb


def _write(work: Path, counts: dict[str, int]) -> None:
    camera = {"pitch_deg": -30}
    ground: dict[str, object] = {
        kind: {"count": counts[kind], "rig": "ground.yaml"} for kind in ("vehicles", "roadside") if kind in counts
    }
    texts: dict[str, dict[str, object]] = {
        "drone": {**_CAMERA, "cameras": {"FRONT": camera}},
        "ground": {**_CAMERA, "cameras": {"FRONT": {**camera, "mount_m": [0.0, 0.0, 2.5]}}},
        "row": {"drones": counts["drones"], "shape": "line", "spacing_m": 8, "altitude_m": 40},
        "own": {
            "towns": {"Town10HD": {"scenes": 1, "routes": ["town10_row3_col3"]}},
            "formation": "row.yaml",
            "rig": "drone.yaml",
            "samples": SAMPLES,
            "warmup_s": 0.5,
            "seed": 3,
            "traffic": {"vehicles": 40},
            **ground,
        },
    }
    for name, text in texts.items():
        (work / f"{name}.yaml").write_text(yaml.safe_dump(text))
