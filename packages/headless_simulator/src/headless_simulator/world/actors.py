"""Identity of actors; their state is in the columns of ``ActorTable``."""

from dataclasses import dataclass, field
from typing import Any

from headless_simulator.errors import CallRefused
from headless_simulator.world.pose import HOME, Pose6
from headless_simulator.world.table import CONTROLLER, OTHER, PROP, SENSOR, VEHICLE, WALKER

RIGID = 0
SPRING_ARM = 1
_YES = ("true", "yes", "on", "1")


class SpawnRefused(CallRefused):
    """A refused spawn; the message is the client's answer."""


class NoSuchActor(CallRefused):
    """An unknown actor id."""

    def __init__(self, actor_id: int) -> None:
        super().__init__(f"unable to find actor: Actor Not Found. Actor Id: {actor_id}")


@dataclass(frozen=True, slots=True)
class SpawnOrder:
    """A client's order to spawn.

    Attributes:
        blueprint: ``vehicle.tesla.model3``.
        attributes: every attribute of the blueprint by name, as text.
        pose: in the world, or in the parent's frame; metres and degrees.
        parent_id: parent actor, or 0.
        attachment: 0 rigid, 1 spring arm, 2 spring arm without obstacles.
        description: the client's description, returned unchanged.
    """

    blueprint: str
    pose: Pose6 = HOME
    attributes: dict[str, str] = field(default_factory=dict)
    parent_id: int = 0
    attachment: int = RIGID
    description: Any = None


@dataclass(slots=True, eq=False)
class Actor:
    """One actor; ``row`` is its row in the table while it lives."""

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
    number: int = -1  # of a traffic light: its index in the town's signals
    walk_speed: float = 0.0
    alive: bool = True
    place_in_episode: int = 0  # its id, counted from the first of the episode
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def has_sticky_control(self) -> bool:
        """Return whether a vehicle's control holds until the next one instead of one tick."""
        return self.order.attributes.get("sticky_control", "true").lower() in _YES

    @property
    def blueprint(self) -> str:
        """Blueprint id."""
        return self.order.blueprint


def kind_of(blueprint: str) -> int:
    """Return the table's kind number of a blueprint."""
    heads = {"vehicle.": VEHICLE, "walker.": WALKER, "static.prop": PROP, "sensor.": SENSOR, "controller.": CONTROLLER}
    return next((kind for head, kind in heads.items() if blueprint.startswith(head)), OTHER)
