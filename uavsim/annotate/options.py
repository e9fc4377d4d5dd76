"""Options of labelling."""

from dataclasses import asdict, dataclass

from uavsim.errors import InputError
from uavsim.records.classes import LABELS
from uavsim.records.label_columns import check_extra_columns
from uavsim.records.plan import ScenePlan
from uavsim.registry import nearest


@dataclass(frozen=True, slots=True)
class AnnotateOptions:
    """The options of labelling a recording.

    Attributes:
        classes: classes of ``records.classes.LABELS`` that get boxes; everything else is scenery.
        range_m: maximum horizontal distance of a labelled object from any drone, visible or not; the default labels the whole
            town, because every object in an image needs its box.
        columns: additional label columns, of ``records.label_columns.COLUMNS``.
        moving_mps: speed above which an object is ``moving``.
        parked_moved_m: a vehicle with the role ``parked`` that moves less than this in the scene is ``parked``.
    """

    classes: tuple[str, ...] = LABELS
    range_m: float = 2000.0
    columns: tuple[str, ...] = ()
    moving_mps: float = 0.2
    parked_moved_m: float = 0.1

    def __post_init__(self) -> None:
        for name in self.classes:
            if name not in LABELS:
                raise InputError(f"unknown class {name!r} in labels.classes; did you mean {nearest(name, LABELS)!r}?")
        check_extra_columns(self.columns)
        if self.range_m <= 0 or self.moving_mps < 0 or self.parked_moved_m < 0:
            raise InputError("labels: range_m must be positive, moving_mps and parked_moved_m not negative")


def options_of_plan(plan: ScenePlan) -> AnnotateOptions:
    """Return the options of a plan, with defaults for missing ones.

    Raises:
        InputError: a value is invalid.
    """
    chosen = {name: value for name, value in asdict(plan.labels).items() if value is not None}
    return AnnotateOptions(**chosen)
