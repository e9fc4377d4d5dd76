"""The flight controllers of a dataset's drones: the same in each scene, with errors of the scene's own."""

from __future__ import annotations

from typing import TypeVar

from uavsim.config.base import Model
from uavsim.ingredients.flight_sensors.config import FlightSensors, ImuBlock
from uavsim.ingredients.flight_sensors.records import (
    Barometer,
    FlightSensorsPlan,
    Gnss,
    Imu,
    InertialNoise,
    Magnetometer,
)
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan
from uavsim.plan.numbering import scene_seed
from uavsim.typing import JsonDict

__all__ = ["planner", "summary"]

Record = TypeVar("Record")


def planner(town: TownPlan) -> ScenePlanner:
    """Return what each scene's plan says.

    Raises:
        ConfigError: the drones do not fly exactly as planned, so that nobody knows how they move between two ticks.
    """
    block: FlightSensors = town.block
    if town.dataset.model.topology != "carla":
        what = (
            f"flight_sensors need topology carla, where drones follow their planned path exactly; in topology "
            f"{town.dataset.model.topology} nothing is known of their motion between two ticks"
        )
        raise town.dataset.error(("flight_sensors",), what)
    imu, gnss = _imu(block.imu), _record(Gnss, block.gnss)
    barometer, magnetometer = _record(Barometer, block.barometer), _record(Magnetometer, block.magnetometer)

    def plan(scene: SceneToFill) -> FlightSensorsPlan:
        seed = scene_seed(scene.dataset_seed, scene.number, stream="flight_sensors")
        return FlightSensorsPlan(seed, imu, gnss, barometer, magnetometer)

    return plan


def _imu(block: ImuBlock | None) -> Imu | None:
    if block is None:
        return None
    noises = (_record(InertialNoise, noise) or InertialNoise() for noise in (block.gyroscope, block.accelerometer))
    return Imu(block.rate_hz, *noises)


def _record(kind: type[Record], block: Model | None) -> Record | None:
    """Return a block's values as the plan's record, whose fields are of the same names."""
    return None if block is None else kind(**block.model_dump())


def summary(planned: FlightSensorsPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    named = (("imu", planned.imu), ("gnss", planned.gnss), ("barometer", planned.barometer))
    units = (*named, ("magnetometer", planned.magnetometer))
    return {"flight sensors": ", ".join(f"{name} {unit.rate_hz:g} Hz" for name, unit in units if unit is not None)}
