"""Labels of a dataset as a whole, which installed packages make when its last scene is there (``uavsim.further_labels``)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uavsim.registry import Named, Registry
from uavsim.typing import JsonDict


@dataclass(frozen=True, slots=True)
class FurtherLabels:
    """One kind of them.

    Attributes:
        check: refuses, before anything flies, settings of the YAML that cannot be met by the channels of cameras and of
            lidars, with an ``InputError``.
        label: labels the dataset of a folder by such settings; what is there already by the same tables may stay.
    """

    check: Callable[[JsonDict, Sequence[str], Sequence[str]], None]
    label: Callable[[Path, JsonDict], None]


FURTHER_LABELS: Final[Registry[FurtherLabels]] = Registry(
    "further_labels", {"occupancy": Named("uavsim.occupancy.further:OCCUPANCY")}, expects=FurtherLabels
)
