"""Health of a simulator slot, known without asking its simulator: graphics memory, and its pace over the scenes."""

import shutil
import subprocess
from dataclasses import dataclass

MIN_FREE_GPU_MB = 300  # below, CARLA's images are spoiled without an error
_SLOW_SCENES = 3  # one scene may be slow for good reasons: it loaded a map, or the machine was busy
_QUERY_S = 20


def free_gpu_mb(index: int | None) -> int | None:
    """Return the free memory of a graphics card, of the fullest one when none is named; None where no driver answers."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    which = [] if index is None else [f"--id={index}"]
    query = [tool, *which, "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=_QUERY_S, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    free = [int(line) for line in answer.split() if line.strip().isdigit()]
    return min(free) if free else None


@dataclass(slots=True)
class Pace:
    """Images per second, scene by scene; a simulator that falls far behind itself is ill (leaks, swaps, lost its card).

    Attributes:
        slow_share: of the best pace, below which a scene was slow; 0: none is.
    """

    slow_share: float = 0.25
    best_images_per_s: float = 0.0
    slow_scenes: int = 0

    @property
    def is_slow(self) -> bool:
        """Return whether the last scenes were all far slower than the best."""
        return self.slow_scenes >= _SLOW_SCENES

    def note(self, images_per_s: float) -> None:
        """Take the pace of one scene."""
        self.best_images_per_s = max(self.best_images_per_s, images_per_s)
        slow = images_per_s < self.slow_share * self.best_images_per_s
        self.slow_scenes = self.slow_scenes + 1 if slow else 0

    def forget(self) -> None:
        """Start over, with a new simulator."""
        self.best_images_per_s, self.slow_scenes = 0.0, 0
