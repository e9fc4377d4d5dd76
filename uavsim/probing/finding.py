"""A finding of ``uavsim doctor``."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, with a remedy unless it is good."""

    level: Level
    what: str
    found: str
    remedy: str = ""
