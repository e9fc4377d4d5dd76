"""Bodies of the swarm's drones, visible to other agents but outside the views of the drone's own sensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
from pydantic import Field

from uavsim.config.base import Metres3, Model
from uavsim.records.ingredients import ActorKind, Ingredient
from uavsim.records.sensors import CameraParams, LidarParams, SensorSpec
from uavsim.registry import Named
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, TownPlan

__all__ = ["AIRSIM_BODY", "INGREDIENT", "DroneBodies", "DroneBodiesPlan", "planner", "sees_own_body", "summary"]

INGREDIENT: Final = Ingredient(
    key="drone_bodies",
    block=Named(f"{__name__}:DroneBodies"),
    about="Bodies of the swarm's drones, each with a box, a mask and a track.",
    order=80,
    records=(Named(f"{__name__}:DroneBodiesPlan"),),
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    kinds=(ActorKind(name="drone", label="drone", is_drone=True, origin_at_middle=True, may_hide=False),),
    role="swarm_drone",
    spawn=Named("uavsim.ingredients.carla.drone_bodies:spawn"),
)


AIRSIM_BODY: Final = "airsim.multirotor"
"""AirSim's own body of a vehicle, without a blueprint in CARLA."""


@dataclass(frozen=True, slots=True)
class DroneBodiesPlan:
    """One body for each drone of the swarm.

    Attributes:
        blueprint: blueprint of the body, or the path of a static mesh.
        size_lwh_m: length, width, height of the body's box.
        above_m: height of the body's middle above the drone's origin, in the drone's frame.
    """

    blueprint: str
    size_lwh_m: tuple[float, float, float]
    above_m: float


class DroneBodies(Model):
    """Bodies that show the swarm's drones."""

    blueprint: Annotated[str, Field(min_length=1)] = "static.prop.drone"
    """A blueprint of the simulator, or a static mesh of its content, /Game/...; a stock CARLA has no flying object."""
    size_m: Metres3 = (1.2, 1.2, 0.5)
    """Length, width and height of the body's box."""
    above_m: Annotated[float, Field(gt=0, le=5)] | None = None
    """Height of its middle above the drone's origin; by default below the views of the drone's own cameras and lidars."""


_TOPOLOGIES: Final = ("carla", "bridge")
_HEIGHTS_M: Final = tuple(round(0.1 * step, 1) for step in range(3, 31))
_POINTS: Final = 17  # along each side of the box


def planner(town: TownPlan) -> ScenePlanner:
    """Return a planner with the same plan for each scene.

    Raises:
        ConfigError: another backend, or a drone's own sensor would see its body.
    """
    block: DroneBodies = town.block
    dataset = town.dataset
    topology = dataset.model.topology
    if topology == "merged":
        return _airsims_own(town)
    if topology not in _TOPOLOGIES:
        what = f"topology {topology} has no bodies with boxes; drone_bodies need topology carla, bridge or merged"
        raise dataset.error(("drone_bodies",), what)
    heights_m = _HEIGHTS_M if block.above_m is None else (block.above_m,)
    sensor_name = ""
    for above_m in heights_m:
        found = (s for s in town.rig if sees_own_body(s, size_lwh_m=block.size_m, above_m=above_m))
        sensor = next(found, None)
        if sensor is None:
            planned = DroneBodiesPlan(block.blueprint, block.size_m, above_m)
            return lambda _: planned
        sensor_name = sensor.name or sensor.params.prefix
    where = f"{heights_m[0]:g} m above it" if block.above_m else f"up to {heights_m[-1]:g} m above it"
    what = f"{sensor_name} of the rig would see its own drone's body {where}; tilt it down or mount it lower"
    raise dataset.error(("drone_bodies",), what)


def _airsims_own(town: TownPlan) -> ScenePlanner:
    """Return the plan of AirSim's own bodies; a dataset only gives their size.

    Raises:
        ConfigError: the dataset requests another blueprint.
    """
    block: DroneBodies = town.block
    if "blueprint" in block.model_fields_set:
        what = "topology merged shows AirSim's own bodies; leave blueprint out"
        raise town.dataset.error(("drone_bodies", "blueprint"), what)
    planned = DroneBodiesPlan(AIRSIM_BODY, block.size_m, block.above_m or 0.0)
    return lambda _: planned


def sees_own_body(spec: SensorSpec, *, size_lwh_m: tuple[float, float, float], above_m: float) -> bool:
    """Return whether a camera or lidar of a drone sees a part of its own body's box."""
    along = np.linspace(-0.5, 0.5, _POINTS)
    unit = np.stack(np.meshgrid(along, along, along, indexing="ij"), axis=-1).reshape(-1, 3)
    points_m = spec.flu_SE3_sensor.inverse().apply(unit * size_lwh_m + (0.0, 0.0, above_m))
    params = spec.params
    if isinstance(params, CameraParams):
        x, y, z = points_m.T
        pinhole = params.rendered
        right = np.tan(np.radians(pinhole.fov_deg) / 2)
        down = right * pinhole.height_px / pinhole.width_px
        return bool(((z > 0) & (np.abs(x) <= right * z) & (np.abs(y) <= down * z)).any())
    if isinstance(params, LidarParams):
        up_deg = np.degrees(np.arctan2(points_m[:, 2], np.hypot(points_m[:, 0], points_m[:, 1])))
        return bool(((up_deg >= params.lower_fov_deg) & (up_deg <= params.upper_fov_deg)).any())
    return False


def summary(planned: DroneBodiesPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    return {"drones' bodies": f"{planned.blueprint.rpartition('/')[2]}, {planned.above_m:g} m above"}
