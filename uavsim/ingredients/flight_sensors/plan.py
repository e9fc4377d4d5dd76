"""The flight controllers of a dataset's carriers: the same in each scene, with errors of the scene's own."""

import importlib.util
from typing import Any, Final

from uavsim.environment import install_line
from uavsim.ingredients.flight_sensors.config import FlightSensors, Units
from uavsim.ingredients.flight_sensors.records import FlightSensorsPlan
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan
from uavsim.typing import JsonDict

_AS_PLANNED: Final = ("carla", "merged")
"""Topologies whose drones are put where the plan wants them; in others only what the simulator reports of them is known."""


def planner(town: TownPlan) -> ScenePlanner:
    """Return what each scene's plan says.

    Raises:
        ConfigError: a rate that cannot be made, sensors of cars that are not there, motion that is not kept, or pyarrow is
            not installed.
    """
    dataset, block = town.dataset, town.block
    assert isinstance(block, FlightSensors)
    if importlib.util.find_spec("pyarrow") is None:
        raise dataset.error(
            ("flight_sensors",), f"streams are written as Parquet by pyarrow: {install_line('streams')}"
        )
    if block.vehicles is not None and dataset.model.block("vehicles") is None:
        what = "no car carries sensors in this dataset; say how many at the key vehicles ({count: 2})"
        raise dataset.error(("flight_sensors", "vehicles"), what)
    flown = dataset.model.topology not in _AS_PLANNED
    drones = _settled(town, block, ("flight_sensors",), at_steps=flown)
    vehicles = _settled(town, block.vehicles, ("flight_sensors", "vehicles"), at_steps=True) if block.vehicles else {}

    def plan(scene: SceneToFill) -> FlightSensorsPlan:
        return FlightSensorsPlan(scene.seed("flight_sensors"), drones, vehicles, flown)

    return plan


def _settled(town: TownPlan, units: Units, key: tuple[str, ...], *, at_steps: bool) -> dict[str, dict[str, Any]]:
    """Return the keys of each kind with its rate: as asked for, or the usual one, or the nearest below where steps limit it.

    Raises:
        ConfigError: a rate that was asked for is between those of the steps, or no whole number of microseconds, or motion at
            the steps is not kept.
    """
    dataset, found = town.dataset, dict[str, dict[str, Any]]()
    step_us = round(dataset.model.step_s * 1e6)
    for kind, unit in units.asked_for():
        rate_hz = unit.hz
        if at_steps:
            if dataset.model.recording != "full":
                what = (
                    f"{kind} needs the motion of every step, which recording: {dataset.model.recording} drops; set full"
                )
                raise dataset.error((*key, kind), what)
            steps = max(round(1e6 / rate_hz / step_us), 1)
            nearest_hz = 1e6 / (steps * step_us)
            if unit.rate_hz is not None and abs(nearest_hz - rate_hz) > 1e-6 * rate_hz:
                raise dataset.error(
                    (*key, kind, "rate_hz"), _between_steps(rate_hz, nearest_hz, step_us, dataset.model.topology)
                )
            rate_hz = nearest_hz
        elif not _is_whole(period_us := 1e6 / rate_hz):
            what = f"rate_hz={rate_hz:g} is {period_us:.3f} us a reading; the nearest is {1e6 / round(period_us):.9g}"
            raise dataset.error((*key, kind, "rate_hz"), what)
        found[kind] = unit.model_dump() | {"rate_hz": rate_hz}
    return found


def _is_whole(period_us: float) -> bool:
    return abs(period_us - round(period_us)) < 1e-6


def _between_steps(rate_hz: float, nearest_hz: float, step_us: int, topology: str) -> str:
    """Explain why a rate cannot be made, and which can."""
    is_faster = rate_hz > 1e6 / step_us and _is_whole(1e6 / rate_hz)
    faster = f", or step_s: {1 / rate_hz:g}, which costs as many more steps" if is_faster else ""
    return (
        f"rate_hz={rate_hz:g} cannot be made: this motion is known at the simulator's steps alone (topology {topology}, every "
        f"{step_us / 1e6:g} s); the nearest is {nearest_hz:.9g}{faster}"
    )


def summary(planned: FlightSensorsPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    named = [(kind, keys) for kind, keys in planned.drones.items()]
    named += [(f"cars' {kind}", keys) for kind, keys in planned.vehicles.items()]
    return {"flight sensors": ", ".join(f"{name} {keys['rate_hz']:g} Hz" for name, keys in named)}
