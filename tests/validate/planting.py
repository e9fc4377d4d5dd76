"""One defect of a dataset: how it is planted, and which finding must come where."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.validate.disk import SCENE, Disk

FRONT, LEFT, BOTTOM = (f"CAMERA_{name}_id_0" for name in ("FRONT", "LEFT", "BOTTOM"))
FRONT_1 = "CAMERA_FRONT_id_1"


@dataclass(frozen=True)
class Defect:
    """One way to break a dataset and the finding that must name it; "" = any place, None = at the dataset."""

    plant: Callable[[Disk], None]
    code: str
    scene: str | None = SCENE
    sample: int | None = 2
    channel: str = ""


class Defects(dict[str, Defect]):
    """Defects by name; called with a finding's code and place, it keeps the function that it decorates."""

    def __call__(
        self, code: str, *, scene: str | None = SCENE, sample: int | None = 2, channel: str = ""
    ) -> Callable[[Callable[[Disk], None]], Callable[[Disk], None]]:
        def keep(plant: Callable[[Disk], None]) -> Callable[[Disk], None]:
            self[plant.__name__] = Defect(plant, code, scene, sample, channel)
            return plant

        return keep
