"""Plan the times at which each drone's cameras fire, and what becomes of the messages that they send."""

from __future__ import annotations

from typing import Final

import numpy as np

from uavsim.config.dataset import DatasetConfig
from uavsim.config.load import Loaded
from uavsim.ingredients.clocks.config import Clocks, Messages
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan
from uavsim.records.clocks import ClocksPlan
from uavsim.records.plan import SwarmTrajectory
from uavsim.typing import FloatArray, IntArray, JsonDict

__all__ = ["planner", "summary"]

_CUT: Final = 3.0  # standard deviations of jitter


def planner(town: TownPlan) -> ScenePlanner:
    """Return what each scene's plan says.

    Raises:
        ConfigError: the simulation's steps cannot hold the images apart, or images come in another way already.
    """
    dataset, block = town.dataset, town.block
    assert isinstance(block, Clocks)
    _check(dataset, block)
    if any(getattr(spec.params, "shutter", None) is not None for spec in town.rig):
        raise dataset.error(("clocks",), "a camera of the rig has a shutter, whose ticks images of others would share")

    def plan(scene: SceneToFill) -> ClocksPlan:
        made = _fire(block, scene.swarm, step_s=dataset.model.step_s, rng=scene.rng("clocks"))
        end_us = (scene.swarm.map_SE3_flu.translation_m.shape[0] - 1) * dataset.model.step_s * 1e6
        if not (made.arrival_us <= end_us).any() and len(scene.swarm.drone_ids) > 1:
            what = f"no message ever arrives in scene {scene.number}"
            if np.isfinite(made.arrival_us).any():
                what += f", which ends after {end_us / 1e6:g} s: latency_s is longer"
            raise dataset.error(("clocks", "messages"), what)
        return made

    return plan


def _check(dataset: Loaded[DatasetConfig], block: Clocks) -> None:
    step_s, period_s = dataset.model.step_s, 1.0 / block.rate_hz
    if dataset.model.captures is not None or dataset.model.sweeps_per_keyframe:
        raise dataset.error(
            ("clocks",), "images between keyframes come by the clocks: leave captures and sweeps_per_keyframe out"
        )
    if period_s < step_s:
        instead = f"the most is {1.0 / step_s:g}, or step_s: {period_s:g}"
        what = f"rate_hz={block.rate_hz:g} is faster than a step of {step_s:g} s; {instead}"
        raise dataset.error(("clocks", "rate_hz"), what)
    fastest_s = period_s / (1 + block.drift_ppm * 1e-6) if block.trigger == "free" else period_s
    if fastest_s < step_s:
        most_ppm = (period_s / step_s - 1) * 1e6
        what = (
            f"drift_ppm={block.drift_ppm:g} lets two firings meet in one step of {step_s:g} s; the most is {most_ppm:g}"
        )
        raise dataset.error(("clocks", "drift_ppm"), what)
    most_s = (fastest_s - step_s) / (2 * _CUT)
    if block.jitter_s > most_s:
        instead = f"the most is {max(most_s, 0.0):.3g}"
        what = f"jitter_s={block.jitter_s:g} lets two firings meet in one step of {step_s:g} s; {instead}"
        raise dataset.error(("clocks", "jitter_s"), what)
    if block.phase_s[0] > block.phase_s[1]:
        what = f"phase_s is [least, most], and {block.phase_s[0]:g} is more than {block.phase_s[1]:g}"
        raise dataset.error(("clocks", "phase_s"), what)


def _fire(block: Clocks, swarm: SwarmTrajectory, *, step_s: float, rng: np.random.Generator) -> ClocksPlan:
    drones, last = len(swarm.drone_ids), swarm.map_SE3_flu.translation_m.shape[0] - 1
    phase_s = rng.uniform(*block.phase_s, size=drones)
    drift = rng.uniform(-block.drift_ppm, block.drift_ppm, drones)
    offset_s = rng.uniform(-block.offset_s, block.offset_s, drones)
    fired = [_instants(block, phase_s[k], drift[k], offset_s[k], until_s=last * step_s, rng=rng) for k in range(drones)]
    drone = np.repeat(np.arange(drones), [len(t) for t in fired])
    asked_s = np.concatenate(fired) if fired else np.zeros(0)
    step = np.rint(asked_s / step_s).astype(np.int64)
    order = np.lexsort((drone, step))
    drone, step, asked_s = drone[order], step[order], asked_s[order]
    message, receiver, arrival_us = _send(block.messages, swarm, drone, step, step_s=step_s, rng=rng)
    return ClocksPlan(
        drone_ids=swarm.drone_ids,
        rate_hz=block.rate_hz,
        drift_ppm=drift,
        offset_us=offset_s * 1e6,
        drone=drone,
        step=step,
        asked_us=asked_s * 1e6,
        message=message,
        receiver=receiver,
        arrival_us=arrival_us,
    )


def _instants(
    block: Clocks, phase_s: float, drift_ppm: float, offset_s: float, *, until_s: float, rng: np.random.Generator
) -> FloatArray:
    """Return the true times at which one drone fires, from 0 to the scene's last step."""
    rate, ahead_s = (1.0, 0.0) if block.trigger == "synchronised" else (1.0 + drift_ppm * 1e-6, offset_s)
    first = int(np.floor((ahead_s - phase_s) * block.rate_hz)) - 1
    most = int(np.ceil((until_s * rate + ahead_s - phase_s) * block.rate_hz)) + 1
    shown_s = phase_s + np.arange(first, most + 1) / block.rate_hz  # by its own clock
    jitter = np.clip(rng.normal(0.0, 1.0, len(shown_s)), -_CUT, _CUT) * block.jitter_s
    times_s = (shown_s - ahead_s) / rate + jitter
    return np.asarray(times_s[(times_s >= 0) & (times_s <= until_s)], dtype=np.float64)


def _send(
    links: Messages, swarm: SwarmTrajectory, drone: IntArray, step: IntArray, *, step_s: float, rng: np.random.Generator
) -> tuple[IntArray, IntArray, FloatArray]:
    """Send what each firing took to every other drone: (M,) firings, receivers, and arrivals in us, NaN where lost."""
    drones = len(swarm.drone_ids)
    message = np.repeat(np.arange(len(drone)), drones)
    receiver = np.tile(np.arange(drones), len(drone))
    others = receiver != drone[message]
    message, receiver = message[others], receiver[others]
    delay_s = rng.uniform(*links.latency_s, size=len(message))
    lost = rng.uniform(size=len(message)) < links.loss
    if links.range_m is not None:
        places_m = swarm.map_SE3_flu.translation_m
        apart_m = places_m[step[message], drone[message]] - places_m[step[message], receiver]
        lost |= np.linalg.norm(apart_m, axis=1) > links.range_m
    arrival_us = np.where(lost, np.nan, (step[message] * step_s + delay_s) * 1e6)
    return message, receiver, arrival_us


def summary(planned: ClocksPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    lost = float(np.isnan(planned.arrival_us).mean()) if len(planned.arrival_us) else 0.0
    return {"clocks": f"{planned.rate_hz:g} Hz, {len(planned.step)} firings, {lost:.0%} of messages lost"}
