"""Vehicles of the traffic that carry sensors: the same number in each scene."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from uavsim.config.base import Metres2, Reference
from uavsim.environment import install_line
from uavsim.errors import SceneVoid
from uavsim.ingredients.ground import OnGround, check_in_town, rig_on_ground
from uavsim.records.ingredients import Ingredient
from uavsim.records.sensors import Agent, AgentsPlan
from uavsim.registry import Named
from uavsim.typing import FloatArray, JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["INGREDIENT", "Near", "Vehicles", "VehiclesPlan", "chosen", "planner", "summary"]

INGREDIENT: Final = Ingredient(
    key="vehicles",
    block=Named(f"{__name__}:Vehicles"),
    about="Cars of the traffic that carry sensors: those nearest to where the swarm starts.",
    order=60,
    records=(Named(f"{__name__}:VehiclesPlan"),),
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    spawn=Named("uavsim.ingredients.carla.vehicles:spawn"),
    spawn_order=6,  # after the traffic
    files_made=Named(f"{__name__}_can_bus:write_streams"),
    folders=("streams",),
    rows=Named(f"{__name__}_can_bus:rows"),
)


Near: TypeAlias = Literal["start", "route"]


@dataclass(frozen=True, slots=True)
class VehiclesPlan(AgentsPlan):
    """The request for sensing vehicles; the cars are chosen among the spawned traffic.

    Attributes:
        near: choose the cars nearest to the swarm's start, or to the whole path of its first drone (``route``).
        within_m: greatest distance from there; a scene is void if a car gets farther from every drone.
        blueprint: pattern of their blueprints.
        at: (x, y) in the map frame, metres: the first agents are the cars nearest to these places.
        can_bus: whether their state is recorded at every tick.
    """

    near: Near = "start"
    within_m: float | None = None
    blueprint: str = "*"
    at: tuple[tuple[float, float], ...] = ()
    can_bus: bool = False

    @property
    def farthest_m(self) -> float | None:
        """See ``AgentsPlan``."""
        return self.within_m


def _is_false(value: bool) -> bool:
    """Omit the default from the dataset's identity, so that older datasets keep theirs."""
    return not value


class Vehicles(OnGround):
    """Cars of the traffic that carry sensors."""

    key: ClassVar = "vehicles"

    count: Annotated[int, Field(ge=1, le=50)]
    """Number of sensing cars: the nearest cars of the traffic that the rig fits on."""
    near: Near = "start"
    """Nearest to the swarm's start, or to the whole path of its first drone (``route``)."""
    within_m: Annotated[float, Field(gt=0, le=10_000)] | None = None
    """Greatest distance from there; the scene is void if a sensing car gets farther from every drone."""
    blueprint: Annotated[str, Field(min_length=1)] = "*"
    """Pattern of their blueprint: ``vehicle.tesla.*``."""
    at: Annotated[tuple[Metres2, ...], Field(max_length=50)] = ()
    """Places (x, y in the map frame): the nearest car to each becomes one of the first; for datasets with one town."""
    rig: Reference = "nuscenes_car"
    labels_itself: bool = False
    """Whether a car has its own box in its own images."""
    can_bus: Annotated[bool, Field(exclude_if=_is_false)] = False
    """Whether each car's state is kept at every tick, for the CAN bus messages of ``uavsim export --format agents``."""

    @model_validator(mode="after")
    def _places_have_agents(self) -> Self:
        if len(self.at) > self.count:
            raise ValueError(f"at has {len(self.at)} places, but count is {self.count}")
        return self


def planner(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same plan for each scene.

    Raises:
        ConfigError: there is too little traffic, a place is outside the town, or the rig is impossible.
    """
    block: Vehicles = town.block
    rig_name, rig = rig_on_ground(town)
    traffic = town.dataset.model.block("traffic").vehicles
    available = traffic if town.share.vehicles is None else town.share.vehicles
    if block.count > available:
        what = f"{block.count} vehicles with sensors exceed the traffic of {town.town.name}, {available} vehicles"
        raise town.dataset.error(("vehicles", "count"), what)
    if block.can_bus and town.dataset.model.recording != "full":
        what = "can_bus needs the motion of every step; set recording: full"
        raise town.dataset.error(("vehicles", "can_bus"), what)
    if block.can_bus and importlib.util.find_spec("pyarrow") is None:
        what = f"streams need pyarrow: {install_line('streams')}"
        raise town.dataset.error(("vehicles", "can_bus"), what)
    for number, (x, y) in enumerate(block.at):
        check_in_town(town, ("vehicles", "at", number), (x, y))
    return VehiclesPlan(
        tuple(Agent(number, "vehicle") for number in range(block.count)),
        rig,
        rig_name,
        block.labels_itself,
        near=block.near,
        within_m=block.within_m,
        blueprint=block.blueprint,
        at=block.at,
        can_bus=block.can_bus,
    )


def summary(planned: VehiclesPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    return {"sensing cars": f"{len(planned.agents)} {planned.rig_name}"}


@dataclass(frozen=True, slots=True)
class CarCandidate:
    """A car of the traffic on which the rig fits."""

    actor_id: int
    blueprint: str
    x_m: float
    y_m: float

    def away_m(self, places_m: FloatArray) -> float:
        """Return the distance to the nearest of (N, 2) map places, metres."""
        return float(np.linalg.norm(places_m - (self.x_m, self.y_m), axis=1).min())


def chosen(candidates: Sequence[CarCandidate], record: VehiclesPlan, way_m: FloatArray) -> list[int]:
    """Return the actor ids of the sensing cars, those nearest to configured places first; ties go by the actor's id.

    Args:
        candidates: cars of the traffic.
        record: the request.
        way_m: (K, 2) positions of the first drone's path in the map frame, metres.

    Raises:
        SceneVoid: too few cars match the request.
    """
    near_m = way_m if record.near == "route" else way_m[:1]
    reach_m = np.inf if record.within_m is None else record.within_m
    fit = [c for c in candidates if fnmatchcase(c.blueprint, record.blueprint) and c.away_m(near_m) <= reach_m]
    if len(fit) < len(record.agents):
        reach = "" if record.within_m is None else f" within {record.within_m:g} m of the swarm's {record.near}"
        raise SceneVoid(
            f"{len(record.agents)} vehicles need the rig {record.rig_name}, which fits on {len(candidates)} cars of the "
            f"traffic (all sensors outside of the body); only {len(fit)} of these match blueprint {record.blueprint}{reach}"
        )
    found: list[int] = []
    for place_m in [np.array([xy_m]) for xy_m in record.at] + [near_m] * (len(record.agents) - len(record.at)):
        left = [c for c in fit if c.actor_id not in found]
        found.append(min(left, key=lambda c: (c.away_m(place_m), c.actor_id)).actor_id)
    return found
