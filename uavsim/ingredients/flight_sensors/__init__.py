"""Sensors of a flight controller: IMU, GNSS, barometer and magnetometer of each drone, at their own rates."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import ValidationError, model_validator

from uavsim.config.base import Model
from uavsim.environment import install_line
from uavsim.errors import DatasetError
from uavsim.ingredients.flight_sensors.units import Barometer, Gnss, Imu, Magnetometer, Unit
from uavsim.records.ingredients import Ingredient
from uavsim.registry import Named
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan

__all__ = ["INGREDIENT", "KINDS", "FlightSensors", "FlightSensorsPlan", "Units", "planner", "summary"]

INGREDIENT: Final = Ingredient(
    key="flight_sensors",
    block=Named(f"{__name__}:FlightSensors"),
    about="IMU, GNSS, barometer and magnetometer of each drone, at separate rates, with true values.",
    order=90,
    records=(Named(f"{__name__}:FlightSensorsPlan"),),
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    files_made=Named(f"{__name__}.stream_files:write_streams"),
    folders=("streams",),
    rows=Named(f"{__name__}.stream_files:rows"),
)


@dataclass(frozen=True, slots=True)
class FlightSensorsPlan:
    """The sensors of every drone and sensing car; each carrier's errors are drawn separately from ``seed``.

    Attributes:
        drones: kind -> the keys of its block in the YAML, with the final rate.
        vehicles: the same for each sensing car.
        flown: take the drones' motion from the simulator's reports at its steps; else from the plan, also between steps.
    """

    seed: int
    drones: dict[str, dict[str, Any]]
    vehicles: dict[str, dict[str, Any]] = field(default_factory=dict)
    flown: bool = False


class Units(Model):
    """The sensors of one carrier; a kind is a key here."""

    imu: Imu | None = None
    gnss: Gnss | None = None
    barometer: Barometer | None = None
    magnetometer: Magnetometer | None = None

    @classmethod
    def of_record(cls, values: dict[str, Any]) -> Self:
        """Read the sensors from their part of a plan.

        Raises:
            DatasetError: another version wrote the plan, or it is damaged.
        """
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise DatasetError(f"the plan's flight_sensors are damaged or of another version: {error}") from error

    def configured(self) -> Iterator[tuple[str, Unit]]:
        """Yield the configured kinds and their settings."""
        units = ((kind, getattr(self, kind)) for kind in KINDS)
        return ((kind, unit) for kind, unit in units if unit is not None)


KINDS = tuple(Units.model_fields)
"""Names of the sensors; the draws of errors depend on this order, so new ones come last."""


class FlightSensors(Units):
    """IMU, GNSS, barometer and magnetometer of each drone, and of sensing cars."""

    vehicles: Units | None = None
    """The same sensors for each sensing car (key ``vehicles``); its motion is known only at the simulator's steps."""

    @model_validator(mode="after")
    def _has_sensors(self) -> Self:
        if not [*self.configured(), *(self.vehicles.configured() if self.vehicles else ())]:
            raise ValueError(f"no sensor is configured; set one of {', '.join(KINDS)} ({{}} for its defaults)")
        return self


_AS_PLANNED: Final = ("carla", "merged")
"""Topologies that place the drones exactly as planned; others use the poses that the simulator reports."""


def planner(town: TownPlan) -> ScenePlanner:
    """Return the function that plans the sensors of each scene.

    Raises:
        ConfigError: a rate is impossible, sensors of cars without sensing cars, motion is not recorded, or pyarrow is not
            installed.
    """
    dataset, block = town.dataset, town.block
    assert isinstance(block, FlightSensors)
    if importlib.util.find_spec("pyarrow") is None:
        raise dataset.error(("flight_sensors",), f"streams need pyarrow: {install_line('streams')}")
    if block.vehicles is not None and dataset.model.block("vehicles") is None:
        what = "no car carries sensors in this dataset; set their number with the key vehicles ({count: 2})"
        raise dataset.error(("flight_sensors", "vehicles"), what)
    flown = dataset.model.topology not in _AS_PLANNED
    drones = _settled(town, block, ("flight_sensors",), at_steps=flown)
    vehicles = _settled(town, block.vehicles, ("flight_sensors", "vehicles"), at_steps=True) if block.vehicles else {}

    def plan(scene: SceneToFill) -> FlightSensorsPlan:
        return FlightSensorsPlan(scene.seed("flight_sensors"), drones, vehicles, flown)

    return plan


def _settled(town: TownPlan, units: Units, key: tuple[str, ...], *, at_steps: bool) -> dict[str, dict[str, Any]]:
    """Return the keys of each kind with its rate: the requested or default one; at steps, the nearest that they allow.

    Raises:
        ConfigError: the period of a requested rate is no multiple of the step or of a microsecond, or motion at the steps is
            not recorded.
    """
    dataset, found = town.dataset, dict[str, dict[str, Any]]()
    step_us = round(dataset.model.step_s * 1e6)
    for kind, unit in units.configured():
        rate_hz = unit.hz
        if at_steps:
            if dataset.model.recording != "full":
                what = f"{kind} needs the motion of every step; set recording: full, not {dataset.model.recording}"
                raise dataset.error((*key, kind), what)
            steps = max(round(1e6 / rate_hz / step_us), 1)
            nearest_hz = 1e6 / (steps * step_us)
            if unit.rate_hz is not None and abs(nearest_hz - rate_hz) > 1e-6 * rate_hz:
                raise dataset.error(
                    (*key, kind, "rate_hz"), _between_steps(rate_hz, nearest_hz, step_us, dataset.model.topology)
                )
            rate_hz = nearest_hz
        elif not _is_whole(period_us := 1e6 / rate_hz):
            nearest_hz = 1e6 / round(period_us)
            what = f"rate_hz={rate_hz:g} is {period_us:.3f} us per reading, not whole; nearest: {nearest_hz:.9g}"
            raise dataset.error((*key, kind, "rate_hz"), what)
        found[kind] = unit.model_dump() | {"rate_hz": rate_hz}
    return found


def _is_whole(period_us: float) -> bool:
    return abs(period_us - round(period_us)) < 1e-6


def _between_steps(rate_hz: float, nearest_hz: float, step_us: int, topology: str) -> str:
    """Return the reason against a rate, and a possible one."""
    is_faster = rate_hz > 1e6 / step_us and _is_whole(1e6 / rate_hz)
    faster = f", or step_s: {1 / rate_hz:g}, which costs as many more steps" if is_faster else ""
    return (
        f"rate_hz={rate_hz:g} is impossible: this motion is known only at the simulator's steps (topology {topology}, every "
        f"{step_us / 1e6:g} s); the nearest is {nearest_hz:.9g}{faster}"
    )


def summary(planned: FlightSensorsPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    named = [(kind, keys) for kind, keys in planned.drones.items()]
    named += [(f"cars' {kind}", keys) for kind, keys in planned.vehicles.items()]
    return {"flight sensors": ", ".join(f"{name} {keys['rate_hz']:g} Hz" for name, keys in named)}
