"""A plan's records of a skin."""

from dataclasses import dataclass, field

__all__ = ["Paint", "SkinPlan"]


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours for objects of the town.

    Attributes:
        objects: patterns of their names in the simulator.
        share: of them that are painted.
        colours: of which each gets one, ``r,g,b``.
        seed: of who gets which.
    """

    objects: tuple[str, ...]
    share: float
    colours: tuple[str, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class SkinPlan:
    """The skin that was drawn for one scene.

    Attributes:
        name: of the skin's file.
        draw: number of the twin.
        vehicle_colours: ``r,g,b`` by instance id.
        paints: of the town.
        other_traffic: the scene's traffic is not the recorded one.
    """

    name: str
    draw: int
    vehicle_colours: dict[str, str] = field(default_factory=dict)
    paints: tuple[Paint, ...] = ()
    other_traffic: bool = False
