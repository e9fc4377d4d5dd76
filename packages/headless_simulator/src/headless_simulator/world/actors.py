"""Actors one by one: who they are; what they do is in the columns of ``ActorTable``."""

from dataclasses import dataclass, field
from typing import Any

from headless_simulator.errors import CallRefused
from headless_simulator.world.pose import HOME, Pose6
from headless_simulator.world.table import CONTROLLER, OTHER, PROP, SENSOR, VEHICLE, WALKER

RIGID = 0
SPRING_ARM = 1
_YES = ("true", "yes", "on", "1")


class SpawnRefused(CallRefused):
    """A spawn that the world does not allow; the text is what the client gets."""


class NoSuchActor(CallRefused):
    """An id that nobody has."""

    def __init__(self, actor_id: int) -> None:
        super().__init__(f"unable to find actor: Actor Not Found. Actor Id: {actor_id}")


@dataclass(frozen=True, slots=True)
class SpawnOrder:
    """A client's order to spawn.

    Attributes:
        blueprint: ``vehicle.tesla.model3``.
        attributes: every attribute of the blueprint by name, as text.
        pose: in the world, or in the parent's frame.
        parent_id: actor to hang on, 0 without.
        attachment: 0 rigid, 1 spring arm, 2 spring arm without obstacles.
        description: the client's own words, handed back to it unchanged.
    """

    blueprint: str
    pose: Pose6 = HOME
    attributes: dict[str, str] = field(default_factory=dict)
    parent_id: int = 0
    attachment: int = RIGID
    description: Any = None


@dataclass(slots=True, eq=False)
class Actor:
    """One actor; ``row`` is its place in the table while it lives."""

    actor_id: int
    row: int
    kind: int
    order: SpawnOrder
    half_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    box_yaw_deg: float = 0.0
    tag: int = 0
    parent_id: int = 0
    stream_id: int = 0
    number: int = -1  # of a traffic light: its place in the town's signals
    walk_speed: float = 0.0
    alive: bool = True
    place_in_episode: int = 0  # its id, counted from the first of the episode
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def has_sticky_control(self) -> bool:
        """Return whether a vehicle's controls hold until the next one; else they hold for one tick."""
        return self.order.attributes.get("sticky_control", "true").lower() in _YES

    @property
    def blueprint(self) -> str:
        """Blueprint id."""
        return self.order.blueprint


def kind_of(blueprint: str) -> int:
    """Kind of the actors of a blueprint, as the table keeps it."""
    heads = {"vehicle.": VEHICLE, "walker.": WALKER, "static.prop": PROP, "sensor.": SENSOR, "controller.": CONTROLLER}
    return next((kind for head, kind in heads.items() if blueprint.startswith(head)), OTHER)
