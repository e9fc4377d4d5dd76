"""A defect of a dataset: the function that plants it, and the expected finding and place."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.validate.disk import SCENE, Disk

FRONT, LEFT, BOTTOM = (f"CAMERA_{name}_id_0" for name in ("FRONT", "LEFT", "BOTTOM"))
FRONT_1 = "CAMERA_FRONT_id_1"


@dataclass(frozen=True)
class Defect:
    """A planted defect and its expected finding; "" = any place, None = the dataset."""

    plant: Callable[[Disk], None]
    code: str
    scene: str | None = SCENE
    sample: int | None = 2
    channel: str = ""


class Defects(dict[str, Defect]):
    """Defects by name; a call with a finding's code and place returns a decorator that registers a function."""

    def __call__(
        self, code: str, *, scene: str | None = SCENE, sample: int | None = 2, channel: str = ""
    ) -> Callable[[Callable[[Disk], None]], Callable[[Disk], None]]:
        def keep(plant: Callable[[Disk], None]) -> Callable[[Disk], None]:
            self[plant.__name__] = Defect(plant, code, scene, sample, channel)
            return plant

        return keep
