"""The answer to ``--dry-run``."""

from uavsim.access import Dataset
from uavsim.terminal import Screen, counts


def say_intent(data: Dataset, what: str) -> None:
    """Say what would be done with a dataset whose tables were read."""
    number = counts(scene=len(data.scene_names), sample=sum(map(len, data)))
    Screen().print(f"{data.root}: {number} would be {what}; nothing was written (--dry-run)")
