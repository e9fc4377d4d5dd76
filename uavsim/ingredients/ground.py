"""Agents on the ground: common keys, rig, and checks of places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from uavsim.config.base import Model, Reference
from uavsim.config.rig import Pixels
from uavsim.errors import FrameError, UnknownNameError
from uavsim.records.sensors import CameraParams, SensorSpec

if TYPE_CHECKING:
    from uavsim.plan.ingredients import TownPlan

_TOPOLOGY = "carla"


class OnGround(Model):
    """Agents that carry a rig."""

    key: ClassVar[str]

    rig: Reference
    image_px: tuple[Pixels, Pixels] | None = None
    """Width and height of every camera's images, instead of the rig's."""


def rig_on_ground(town: TownPlan) -> tuple[str, tuple[SensorSpec, ...]]:
    """Load the rig named in a dataset's block of agents; return its name and sensors.

    Raises:
        ConfigError: no such rig, a sensor is impossible, or the topology has no agents on the ground.
    """
    from uavsim.plan.config_to_plan import given_by  # circular: dataset models have these blocks

    dataset, block = town.dataset, town.block
    assert isinstance(block, OnGround)
    if dataset.model.topology != _TOPOLOGY:
        what = f"topology {dataset.model.topology} supports only drones; {block.key} need topology {_TOPOLOGY}"
        raise dataset.error((block.key,), what)
    try:
        rig = town.library.rig(block.rig, named_in=dataset.source.path)
    except UnknownNameError as error:
        raise dataset.error((block.key, "rig"), str(error)) from error
    try:
        return rig.name, tuple(_sized(spec, block.image_px) for spec in given_by(dataset, rig))
    except FrameError as error:
        raise dataset.error((block.key, "image_px"), f"rig {rig.name}: {error}") from error


def _sized(spec: SensorSpec, image_px: tuple[int, int] | None) -> SensorSpec:
    if image_px is None or not isinstance(spec.params, CameraParams):
        return spec
    width_px, height_px = image_px
    params = spec.params.resized(width_px, height_px)
    _ = params.rendered  # a lens may see too much for images of this size
    return replace(spec, params=params)


def check_in_town(town: TownPlan, where: tuple[str | int, ...], place_m: tuple[float, float]) -> None:
    """Refuse an (x, y) place outside the town, map frame, metres.

    Raises:
        ConfigError: the place is outside the town.
    """
    (x, y), (x0, x1), (y0, y1) = place_m, town.town.x_m, town.town.y_m
    if not (x0 <= x <= x1 and y0 <= y <= y1):
        what = f"x={x:g} y={y:g} is outside {town.town.name} (x {x0:g} to {x1:g}, y {y0:g} to {y1:g})"
        raise town.dataset.error(where, what)


def check_outside(
    town: TownPlan, where: tuple[str | int, ...], place_m: tuple[float, float], *, height_m: float
) -> None:
    """Refuse an (x, y) place in a building of the town's YAML, map frame, metres.

    Raises:
        ConfigError: the place is in a building higher than ``height_m``.
    """
    x, y = place_m
    for obstacle in town.town.obstacles:
        (x0, x1), (y0, y1) = obstacle.x_m, obstacle.y_m
        if x0 <= x <= x1 and y0 <= y <= y1 and height_m < obstacle.top_m:
            what = f"x={x:g} y={y:g} is inside {obstacle.name!r} of {town.town.name}"
            raise town.dataset.error(
                where, f"{what} (x {x0:g} to {x1:g}, y {y0:g} to {y1:g}, {obstacle.top_m:g} m high)"
            )
