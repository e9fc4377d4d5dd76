"""What a user may choose about labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from uavsim.errors import InputError
from uavsim.records.plan import ScenePlan
from uavsim.registry import nearest

__all__ = ["LABELS", "AnnotateOptions", "options_of_plan"]

LABELS: Final = ("car", "van", "truck", "bus", "motorcycle", "bicycle", "pedestrian")


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """How a recording is labelled.

    Attributes:
        classes: which of ``LABELS`` get boxes; everything else is scenery.
        range_m: an object gets a box while it is within this horizontal distance of any drone, seen or not; by default
            everything in the town has one, because what an image shows must not lack its box.
        label_parked: also parked vehicles that are no actors of the simulator but parts of the town.
        moving_mps: faster is ``moving``.
        parked_moved_m: a vehicle whose role is ``parked`` and that moves less than this in the scene is ``parked``.
    """

    classes: tuple[str, ...] = LABELS
    range_m: float = 2000.0
    label_parked: bool = True
    moving_mps: float = 0.2
    parked_moved_m: float = 0.1

    def __post_init__(self) -> None:
        for name in self.classes:
            if name not in LABELS:
                raise InputError(f"unknown class {name!r} in labels.classes; did you mean {nearest(name, LABELS)!r}?")
        if self.range_m <= 0 or self.moving_mps < 0 or self.parked_moved_m < 0:
            raise InputError("labels: range_m must be positive, moving_mps and parked_moved_m not negative")


def options_of_plan(plan: ScenePlan) -> AnnotateOptions:
    """Return the options that the plan carries in ``extra["labels"]``, or the defaults.

    Raises:
        InputError: a key or value that is not known.
    """
    chosen: Mapping[str, Any] = plan.extra.get("labels") or {}
    known = {field.name for field in fields(AnnotateOptions)}
    for key in chosen:
        if key not in known:
            raise InputError(f"unknown key labels.{key}; did you mean {nearest(key, known)!r}?")
    values: dict[str, Any] = {key: tuple(value) if key == "classes" else value for key, value in chosen.items()}
    return AnnotateOptions(**values)
