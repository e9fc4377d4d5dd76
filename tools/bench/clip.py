"""Cost of an image of video, beside that of the mini split: ``scripts/bench --only clip``."""

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.bench.busy import write_clip
from tools.bench.cost import watched
from tools.bench.rows import Row

_TURNS: Final = 3
_CAMERAS: Final = 25
_FRAMES_PER_KEYFRAME: Final = {"clip": 4, "keyframes": 1}
_SAMPLES: Final = {"mini": (3, 11), "clip": (2, 4), "keyframes": (5, 13)}  # of a shorter scene, eight captures longer
_CAPTURES: Final = 8


def rows() -> Iterator[Row]:
    """Generate the mini split as it is and as video, by turns: what one image more costs, and the ratios.

    Forty ticks lie between two captures of the mini split, one between those of video. So there is a third: as video, each
    image a keyframe.
    """
    per_image_s: dict[str, list[float]] = {name: [] for name in _SAMPLES}
    for _ in range(_TURNS):
        for name, lengths in _SAMPLES.items():
            with tempfile.TemporaryDirectory() as folder:
                few, many = (_cpu_s_of(Path(folder), name, samples) for samples in lengths)
            per_image_s[name].append((many - few) / (_CAMERAS * _CAPTURES))
    how = f"uavsim generate, validated, processor time of all processes; a longer scene less a shorter one, {_TURNS} turns"
    for name, seconds in per_image_s.items():
        yield Row(f"{name}_cpu_ms_per_image", 1e3 * statistics.median(seconds), "ms", how)
    for name in ("mini", "keyframes"):
        ratios = [clip / other for clip, other in zip(per_image_s["clip"], per_image_s[name], strict=True)]
        yield Row(f"clip_to_{name}", statistics.median(ratios), "ratio", f"16 frames a second to {name}: {how}")


def _cpu_s_of(folder: Path, name: str, samples: int) -> float:
    """Return the processor seconds of one scene of so many samples."""
    every = _FRAMES_PER_KEYFRAME.get(name)
    dataset = "uav3d-mini" if every is None else write_clip(folder, frames=93, keyframe_s=every / 16)
    words = ("--dataset", dataset, "--scenes", "0", "--samples", str(samples), "--out", f"{folder}/{samples}")
    _, family = watched(("generate", *words), folder / "log", cwd=folder)
    return sum(family.cpu_s().values())
