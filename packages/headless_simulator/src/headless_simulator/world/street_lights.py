"""The lamps of a town's lamp posts, which clients list and switch."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from headless_simulator.scene import StaticObject

RGB: TypeAlias = tuple[int, int, int]

STREET: Final = 2  # of carla.LightGroup
USUAL_LM: Final = 10_000.0  # name of the renderer's default brightness; no value of a real server is known
_WARM: Final[RGB] = (255, 209, 143)
_POST: Final = "StreetLight"


@dataclass(frozen=True, slots=True)
class StreetLight:
    """One lamp.

    Attributes:
        light_id: object id of the lamp post.
        place_m: the post's top in the world.
        intensity_lm: 0 or more.
        group: a number of ``carla.LightGroup``.
        colour: sRGB, not drawn: all light has one warm colour.
        is_on: None before any client switches it: on from dusk to dawn.
    """

    light_id: int
    place_m: tuple[float, float, float]
    intensity_lm: float = USUAL_LM
    group: int = STREET
    colour: RGB = _WARM
    is_on: bool | None = None


class StreetLights:
    """The current states of all lamps of a town.

    Args:
        objects: the town's objects; lamp posts have a lamp.
    """

    def __init__(self, objects: Iterable[StaticObject]) -> None:
        posts = [item for item in objects if item.name.startswith(_POST)]
        self._lights = {item.object_id: StreetLight(item.object_id, _top(item)) for item in posts}

    def states(self) -> list[StreetLight]:
        """Return every lamp, sorted by id."""
        return [self._lights[number] for number in sorted(self._lights)]

    def take(self, lights: Iterable[StreetLight]) -> None:
        """Set the states of some lamps; their positions stay."""
        for light in lights:
            known = self._lights.get(light.light_id)
            if known is not None:
                self._lights[light.light_id] = replace(light, place_m=known.place_m)

    def shares(self) -> dict[int, float]:
        """Return brightness factors by id of the lamps with a factor other than 1."""
        shares = {
            n: 0.0 if light.is_on is False else light.intensity_lm / USUAL_LM for n, light in self._lights.items()
        }
        return {number: share for number, share in shares.items() if share != 1.0}


def _top(item: StaticObject) -> tuple[float, float, float]:
    x, y, z = item.box_centre_m
    return x, y, z + item.box_half_m[2]
