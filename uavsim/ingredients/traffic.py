"""Three ingredients of the key ``traffic``: driving vehicles, walkers, and the town's parked vehicles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import numpy as np
from pydantic import Field, StringConstraints, model_validator

from uavsim.config.base import BLUEPRINT, Model
from uavsim.errors import SimulatorError
from uavsim.records.classes import UAV3D_CARS
from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.registry import Named, nearest
from uavsim.typing import FloatArray, JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

_BLOCK: Final[Named[Any]] = Named(f"{__name__}:Traffic")
TRAFFIC: Final = Ingredient(
    key="traffic",
    block=_BLOCK,
    always=True,
    order=10,
    records=(Named(f"{__name__}:TrafficPlan"),),
    planner=Named(f"{__name__}:plan_vehicles"),
    summary=Named(f"{__name__}:summary"),
    kinds=(ActorKind(name="vehicle", is_driven=True),),
    spawn=Named("uavsim.ingredients.carla.traffic:spawn_vehicles"),
    spawn_order=2,
)
WALKERS: Final = Ingredient(
    key="traffic",
    block=_BLOCK,
    always=True,
    order=20,
    records=(Named(f"{__name__}:WalkersPlan"),),
    planner=Named(f"{__name__}:plan_walkers"),
    kinds=(ActorKind(name="walker", label="pedestrian", origin_at_middle=True),),
    spawn=Named("uavsim.ingredients.carla.traffic:spawn_walkers"),
    spawn_order=3,
)
PARKED: Final = Ingredient(
    key="traffic",
    block=_BLOCK,
    always=True,
    order=50,
    records=(Named(f"{__name__}:ParkedPlan"),),
    planner=Named(f"{__name__}:plan_parked"),
    # blueprint ``environment.<name in the town>``; origin: the middle of the box's bottom
    kinds=(ActorKind(name="environment", is_of_town=True, is_parked=True),),
    spawn=Named("uavsim.ingredients.carla.traffic:read_parked"),
    spawn_order=9,
)

BlueprintId = Annotated[str, StringConstraints(pattern=BLUEPRINT)]


class Blueprints(Model):
    """Vehicle blueprints: a group (``all``, ``uav3d``) or a list of groups and CARLA ids."""

    shorthand: ClassVar = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}

    ids: Annotated[tuple[BlueprintId, ...], Field(min_length=1, max_length=500)]

    @model_validator(mode="before")
    @classmethod
    def _from_list(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"ids": (value,)}
        return {"ids": value} if isinstance(value, tuple) else value


class Traffic(Model):
    """The vehicles and walkers of a scene."""

    vehicles: Annotated[int, Field(ge=0, le=2000)] = 60
    walkers: Annotated[int, Field(ge=0, le=2000)] = 0
    blueprints: Blueprints = Blueprints(ids=("all",))
    """``uav3d``: its 17 cars; ``all``: every four-wheeler; or a list of CARLA blueprint ids."""
    hybrid_physics: bool = False
    speed_difference_percent: Annotated[float, Field(ge=-300, le=100)] = 0.0
    """Speed below the limit; negative is faster than the limit."""
    following_distance_m: Annotated[float, Field(ge=0, le=100)] = 2.5
    spawn_on_waypoints: bool = True
    """Whether to place vehicles on lanes when the map has too few spawn points."""
    label_parked: bool = True
    """Whether parked vehicles that are part of the town get boxes; they are read at the scene's start."""


@dataclass(frozen=True, slots=True)
class TrafficPlan:
    """The requested vehicles; the recording has the number of spawned ones."""

    vehicles: int
    blueprints: tuple[str, ...] = ()  # allowed vehicle blueprints of the server's version; empty: every four-wheeler
    hybrid_physics: bool = False
    speed_difference_percent: float = 0.0  # Traffic Manager: negative drives faster than the limit
    following_distance_m: float = 2.5
    spawn_on_waypoints: bool = True  # fill up on lane waypoints when the map has too few spawn points


@dataclass(frozen=True, slots=True)
class WalkersPlan:
    """The requested walkers; the recording has the number of spawned ones."""

    walkers: int


@dataclass(frozen=True, slots=True)
class ParkedPlan:
    """Label the town's parked vehicles; no options."""


RENAMED: Final = {
    "vehicle.dodge_charger.police": "vehicle.dodge.charger_police",
    "vehicle.lincoln.mkz2017": "vehicle.lincoln.mkz_2017",
    "vehicle.mercedes-benz.coupe": "vehicle.mercedes.coupe",
    "vehicle.mini.cooperst": "vehicle.mini.cooper_s",
    "vehicle.mustang.mustang": "vehicle.ford.mustang",
    "vehicle.bmw.isetta": "vehicle.micro.microlino",
}
"""Names up to CARLA 0.9.11 to names from 0.9.12 on."""


def blueprints(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Expand groups and translate old names; empty means every four-wheeler of the simulator."""
    if "all" in ids:
        return ()
    written_out = [name for word in ids for name in (UAV3D_CARS if word == "uav3d" else (word,))]
    return tuple(dict.fromkeys(RENAMED.get(name, name) for name in written_out))


def plan_vehicles(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same traffic for each scene; a town may have its own number of vehicles."""
    traffic: Traffic = town.block
    return TrafficPlan(
        vehicles=traffic.vehicles if town.share.vehicles is None else town.share.vehicles,
        blueprints=blueprints(traffic.blueprints.ids),
        hybrid_physics=traffic.hybrid_physics,
        speed_difference_percent=traffic.speed_difference_percent,
        following_distance_m=traffic.following_distance_m,
        spawn_on_waypoints=traffic.spawn_on_waypoints,
    )


def plan_walkers(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same number for each scene; None without walkers."""
    return WalkersPlan(town.block.walkers) if town.block.walkers else None


def plan_parked(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same plan for each scene; None if the dataset does not label parked vehicles."""
    return ParkedPlan() if town.block.label_parked else None


def summary(planned: TrafficPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    return {"vehicles": planned.vehicles}


# ---------------------------------------------------------------------- the draws of vehicles, without a simulator
@dataclass(frozen=True, slots=True)
class BlueprintFacts:
    """The server's report of one vehicle blueprint: recommended values per attribute."""

    blueprint: str
    wheels: int
    base_type: str
    recommended: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class VehicleOrder:
    """One vehicle to spawn; ``spawn_index`` is a row of the spawn places."""

    blueprint: str
    attributes: Mapping[str, str]
    spawn_index: int


def choose_blueprints(allowed: Sequence[str], known: Sequence[BlueprintFacts]) -> list[BlueprintFacts]:
    """Return the allowed blueprints that the server has, in the given order; every four-wheeler by default.

    Raises:
        SimulatorError: a blueprint is not in the server's catalogue.
    """
    by_name = {facts.blueprint: facts for facts in known}
    if not allowed:
        return sorted((f for f in known if f.wheels == 4), key=lambda f: f.blueprint)
    missing = [name for name in allowed if name not in by_name]
    if missing:
        guess = nearest(missing[0], by_name)
        hint = f"; the nearest it has is {guess!r}" if guess else ""
        raise SimulatorError(f"the simulator has no blueprint {missing[0]!r}{hint}")
    return [by_name[name] for name in allowed]


def thin_out(places_m: FloatArray, *, taken_m: FloatArray, gap_m: float) -> list[int]:
    """Return, in order, the rows of ``places_m`` at least ``gap_m`` from all selected and occupied places.

    Args:
        places_m: (N, 3) candidates, metres.
        taken_m: (M, 3) occupied places in the same frame, metres.
        gap_m: least distance between centres.
    """
    selected: list[int] = []
    occupied_m = np.empty((len(taken_m) + len(places_m), 3))
    occupied_m[: len(taken_m)] = taken_m
    count = len(taken_m)
    for row, candidate in enumerate(places_m):
        if count and np.min(np.sum((occupied_m[:count] - candidate) ** 2, axis=1)) < gap_m**2:
            continue
        occupied_m[count] = candidate
        count += 1
        selected.append(row)
    return selected


def order_vehicles(
    *, count: int, choices: Sequence[BlueprintFacts], places: int, rng: np.random.Generator
) -> list[VehicleOrder]:
    """Draw blueprint, colour and place of every vehicle; at most one vehicle per place.

    Args:
        count: number of requested vehicles.
        choices: candidate blueprints, equally likely.
        places: number of spawn places; the first ``count`` in random order are used.
        rng: the scene's generator.
    """
    rows = rng.permutation(places)[:count]
    picks = rng.integers(0, len(choices), size=len(rows))
    orders = []
    for row, pick in zip(rows, picks, strict=True):
        facts = choices[int(pick)]
        attributes = {"role_name": "autopilot"}
        for name in ("color", "driver_id"):
            values = facts.recommended.get(name, ())
            if values:
                attributes[name] = values[int(rng.integers(0, len(values)))]
        orders.append(VehicleOrder(facts.blueprint, attributes, int(row)))
    return orders
