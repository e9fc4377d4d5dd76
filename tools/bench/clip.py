"""Cost of an image of video, beside that of the mini split: ``scripts/bench --only clip``."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.bench.busy import write_clip
from tools.bench.cost import watched
from tools.bench.rows import Row

__all__ = ["rows"]

_TURNS: Final = 3
_FRAMES_PER_KEYFRAME: Final = 4  # of the clip
_SAMPLES: Final = {"mini": (3, 11), "clip": (2, 4)}  # of a shorter scene and of a longer one
_CAMERAS: Final = 25


def rows() -> Iterator[Row]:
    """Generate the mini split as it is and as video, by turns: what one image more costs, and the ratio of both."""
    per_image_s: dict[str, list[float]] = {"mini": [], "clip": []}
    for _ in range(_TURNS):
        for name in per_image_s:
            with tempfile.TemporaryDirectory() as folder:
                few, many = (_cpu_s_of(Path(folder), name, samples) for samples in _SAMPLES[name])
            images = (
                _CAMERAS * (_SAMPLES[name][1] - _SAMPLES[name][0]) * (_FRAMES_PER_KEYFRAME if name == "clip" else 1)
            )
            per_image_s[name].append((many - few) / images)
    how = f"uavsim generate, validated, processor time of all processes; a longer scene less a shorter one, {_TURNS} turns"
    for name, seconds in per_image_s.items():
        yield Row(f"{name}_cpu_ms_per_image", 1e3 * statistics.median(seconds), "ms", how)
    ratios = [clip / mini for mini, clip in zip(*per_image_s.values(), strict=True)]
    yield Row(
        "clip_to_mini",
        statistics.median(ratios),
        "ratio",
        f"cost of an image, 16 frames a second to the mini split: {how}",
    )


def _cpu_s_of(folder: Path, name: str, samples: int) -> float:
    """Return the processor seconds of one scene of so many samples."""
    dataset = write_clip(folder, frames=93, keyframe_s=_FRAMES_PER_KEYFRAME / 16) if name == "clip" else "uav3d-mini"
    words = ("--dataset", dataset, "--scenes", "0", "--samples", str(samples), "--out", f"{folder}/{samples}")
    _, family = watched(("generate", *words), folder / "log", cwd=folder)
    return sum(family.cpu_s().values())
