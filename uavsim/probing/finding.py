"""What ``uavsim doctor`` says of one thing that it looked at."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it stands and, unless it is good, what to do."""

    level: Level
    what: str
    found: str
    remedy: str = ""
