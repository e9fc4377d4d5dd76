"""Sensors on poles beside the road: the same number in each scene. Map frame, metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Self

import numpy as np
from pydantic import Field, model_validator

from uavsim.config.base import Metres2, Model, Reference
from uavsim.errors import SceneVoid
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.ground import OnGround, check_in_town, check_outside, rig_on_ground
from uavsim.records.ingredients import Ingredient
from uavsim.records.sensors import Agent, AgentsPlan
from uavsim.registry import Named
from uavsim.typing import FloatArray, JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["INGREDIENT", "Roadside", "RoadsidePlan", "planner", "poles_at_junctions", "standing", "summary"]

INGREDIENT: Final = Ingredient(
    key="roadside",
    block=Named(f"{__name__}:Roadside"),
    about="Sensors on poles beside the road.",
    order=70,
    records=(Named(f"{__name__}:RoadsidePlan"),),
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    spawn=Named("uavsim.ingredients.carla.roadside:spawn"),
)


PASSED_M: Final = 100.0


@dataclass(frozen=True, slots=True)
class RoadsidePlan(AgentsPlan):
    """The first units are at configured places, the others at junctions of the simulator's map.

    Attributes:
        pole_m: height above the ground.
        at: (x, y, yaw) in the map frame, metres and degrees.
        within_m: greatest distance of a junction from the swarm's path.
    """

    pole_m: float
    at: tuple[tuple[float, float, float], ...]
    within_m: float = PASSED_M


class PolePlace(Model):
    """The place of a pole."""

    position_m: Metres2
    """x and y in the map frame; the ground there is the nearest road's."""
    yaw_deg: Annotated[float, Field(ge=-360, le=360)]
    """Direction of the rig: 0 along the map's x, counter-clockwise."""


class Roadside(OnGround):
    """Sensors on poles beside the road."""

    key: ClassVar = "roadside"

    count: Annotated[int, Field(ge=0, le=50)] = 0
    """Number of poles at junctions that the swarm passes, each beside a road that leads there."""
    within_m: Annotated[float, Field(gt=0, le=10_000)] = PASSED_M
    """Greatest distance of such a junction's middle from the swarm's path."""
    at: Annotated[tuple[PolePlace, ...], Field(max_length=50)] = ()
    """Further poles at these places; for datasets with one town."""
    rig: Reference = "roadside"
    pole_m: Annotated[float, Field(gt=0, le=50)] = 5.0
    """Height of the rig above the ground."""

    @model_validator(mode="after")
    def _has_units(self) -> Self:
        if not self.count + len(self.at):
            raise ValueError("no roadside unit is configured; set count or at")
        return self


def planner(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same plan for each scene.

    Raises:
        ConfigError: a place is outside the town or in a building, or the rig is impossible.
    """
    block: Roadside = town.block
    rig_name, rig = rig_on_ground(town)
    for number, pole in enumerate(block.at):
        where = ("roadside", "at", number, "position_m")
        check_in_town(town, where, pole.position_m)
        check_outside(town, where, pole.position_m, height_m=block.pole_m)
    agents = tuple(Agent(number, "roadside") for number in range(len(block.at) + block.count))
    at = tuple((*pole.position_m, pole.yaw_deg) for pole in block.at)
    return RoadsidePlan(agents, rig, rig_name, labels_itself=False, pole_m=block.pole_m, at=at, within_m=block.within_m)


def summary(planned: RoadsidePlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    return {"roadside": f"{len(planned.agents)} {planned.rig_name}"}


_APART_M: Final = 4.0


@dataclass(frozen=True, slots=True, eq=False)
class Junction:
    """A junction: (3,) middle, and (N, 3) places beside the roads that lead there, map frame, metres."""

    middle_m: FloatArray
    beside_m: FloatArray


def poles_at_junctions(
    junctions: Sequence[Junction], way_m: FloatArray, *, count: int, pole_m: float, within_m: float = PASSED_M
) -> list[SE3]:
    """Return the flu poses of pole tops that face their junction's middle: one per junction, nearest first, then second ones.

    Args:
        junctions: junctions of the town.
        way_m: (K, 3) positions of the swarm's path in the map frame.
        count: number of poles.
        pole_m: height of the poles.
        within_m: greatest distance of a junction's middle from the path.

    Raises:
        SceneVoid: there are too few places.
    """
    away_m = [float(np.linalg.norm(way_m[:, :2] - j.middle_m[:2], axis=1).min()) for j in junctions]
    passed = [junctions[i] for i in np.argsort(away_m, kind="stable") if away_m[i] <= within_m]
    candidates = [_apart(junction.beside_m) for junction in passed]
    ranks = range(max(map(len, candidates), default=0))
    found = [
        (junction, places[rank])
        for rank in ranks
        for junction, places in zip(passed, candidates, strict=True)
        if rank < len(places)
    ]
    if len(found) < count:
        raise SceneVoid(
            f"{count} roadside units need places at junctions, but only {len(found)} are within {within_m:g} m of the swarm's "
            "path; reduce count or raise within_m"
        )
    return [
        standing(place_m, _yaw_rad(junction.middle_m - place_m), pole_m=pole_m) for junction, place_m in found[:count]
    ]


def standing(ground_m: FloatArray, yaw_rad: float, *, pole_m: float) -> SE3:
    """Return ``map_SE3_flu`` of the top of a pole at a (3,) ground point of the map frame."""
    return SE3(quaternion.from_yaw(yaw_rad), np.asarray(ground_m + (0.0, 0.0, pole_m), dtype=np.float64))


def _yaw_rad(direction_m: FloatArray) -> float:
    return float(np.arctan2(direction_m[1], direction_m[0]))


def _apart(places_m: FloatArray) -> list[FloatArray]:
    selected: list[FloatArray] = []
    for candidate in places_m:
        if all(np.linalg.norm(candidate - other) >= _APART_M for other in selected):
            selected.append(candidate)
    return selected
