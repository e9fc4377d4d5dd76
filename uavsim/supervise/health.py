"""Health of a simulator slot without calls to the simulator: graphics memory and pace."""

import shutil
import subprocess
from dataclasses import dataclass
from typing import Literal

from uavsim.config.run import SimulatorConfig

MIN_FREE_GPU_MB = 300  # below, CARLA's images are corrupted without an error
LOW_FREE_GPU_MB = 1500  # warning threshold: a town or a few cameras fill the rest
_SLOW_SCENES = 3  # a single scene may be slow because of a loaded map or a busy machine
_QUERY_S = 20


def ask_cards(fields: str, index: int | None = None) -> list[list[str]] | None:
    """Query the driver for fields of graphics cards.

    Args:
        fields: comma-separated fields of ``nvidia-smi --query-gpu``.
        index: number of one card; default: all cards.

    Returns:
        The fields of each card; None without a driver.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    which = [] if index is None else [f"--id={index}"]
    query = [tool, *which, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=_QUERY_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    rows = [[part.strip() for part in line.split(",")] for line in answer.splitlines()]
    return [row for row in rows if len(row) == fields.count(",") + 1]


def memory_mb(what: Literal["free", "used"], index: int | None) -> list[int]:
    """Return the memory of each graphics card, or of one, MB; empty without a driver."""
    return [int(value) for (value,) in ask_cards(f"memory.{what}", index) or () if value.isdigit()]


def free_gpu_mb(index: int | None) -> int | None:
    """Return the free memory of a graphics card, default the fullest one, MB; None without a driver."""
    return min(memory_mb("free", index), default=None)


def is_on_this_machine(config: SimulatorConfig) -> bool:
    """Return whether a simulator runs on this machine."""
    return config.kind != "mock" and config.host in {"127.0.0.1", "::1", "localhost"}


@dataclass(slots=True)
class Pace:
    """Images per second by scene; a pace far below the simulator's best one indicates a leak, swapping or a lost card.

    Attributes:
        slow_share: share of the best pace below which a scene is slow; 0 disables the check.
    """

    slow_share: float = 0.25
    best_images_per_s: float = 0.0
    slow_scenes: int = 0

    @property
    def is_slow(self) -> bool:
        """Return whether all recent scenes were far slower than the best."""
        return self.slow_scenes >= _SLOW_SCENES

    def note(self, images_per_s: float) -> None:
        """Add the pace of one scene."""
        self.best_images_per_s = max(self.best_images_per_s, images_per_s)
        slow = images_per_s < self.slow_share * self.best_images_per_s
        self.slow_scenes = self.slow_scenes + 1 if slow else 0

    def forget(self) -> None:
        """Reset, for a new simulator."""
        self.best_images_per_s, self.slow_scenes = 0.0, 0
