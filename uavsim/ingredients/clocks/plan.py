"""Plan the times at which each agent's cameras fire, and what becomes of the messages that they send."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.config.dataset import DatasetConfig
from uavsim.config.load import Loaded
from uavsim.config.town import TownConfig
from uavsim.ingredients.clocks.config import Clocks, Messages
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan
from uavsim.records.clocks import ClocksPlan
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.sensors import Agent, AgentsPlan, SensorSpec, shutter_of
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict

_CUT: Final = 3.0  # standard deviations of jitter


def planner(town: TownPlan) -> ScenePlanner:
    """Return what each scene's plan says.

    Raises:
        ConfigError: the simulation's steps cannot hold the images apart, or images come in another way already.
    """
    dataset, block = town.dataset, town.block
    assert isinstance(block, Clocks)
    _check(dataset, block)
    sending_s = _sending_s(dataset, block, town.rig)

    def plan(scene: SceneToFill) -> ClocksPlan:
        links = _Links(block.messages, sending_s, town.town if block.messages.line_of_sight else None)
        ground = [plan for plan in scene.planned.values() if isinstance(plan, AgentsPlan)]
        if any(shutter_of(spec) for rig in (town.rig, *(plan.rig for plan in ground)) for spec in rig):
            what = "a camera of a rig has a shutter, whose ticks images of others would share"
            raise dataset.error(("clocks",), what)
        others = [agent for plan in ground for agent in plan.agents if block.ground]
        agents = (*map(Agent, scene.swarm.drone_ids), *others)
        made = _fire(block, links, agents, scene.swarm, step_s=dataset.model.step_s, rng=scene.rng("clocks"))
        end_us = (scene.swarm.map_SE3_flu.translation_m.shape[0] - 1) * dataset.model.step_s * 1e6
        if not (made.arrival_us <= end_us).any() and len(agents) > 1:
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
    fastest_s = period_s / (1 + block.drift_ppm * 1e-6) if block.trigger != "synchronised" else period_s
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


@dataclass(frozen=True, slots=True)
class _Links:
    """The ways between agents: how long a radio sends a message, and the town through which nothing arrives, or None."""

    block: Messages
    sending_s: float
    town: TownConfig | None


def _sending_s(dataset: Loaded[DatasetConfig], block: Clocks, rig: Sequence[SensorSpec]) -> float:
    """Return how long a radio sends the images of a firing."""
    links = block.messages
    if links.bandwidth_mbps is None:
        return 0.0
    pixels = sum(spec.camera.width_px * spec.camera.height_px for spec in rig if spec.params.is_optical)
    size_kb = links.size_kb or 3 * pixels / 1e3
    sending_s = size_kb * 8e-3 / links.bandwidth_mbps
    if sending_s * block.rate_hz > 1:
        what = (
            f"bandwidth_mbps={links.bandwidth_mbps:g} sends a message of {size_kb:g} kB in {sending_s:.3g} s, and another "
            f"comes every {1 / block.rate_hz:g} s; the least is {size_kb * 8e-3 * block.rate_hz:.4g}, or a smaller size_kb"
        )
        raise dataset.error(("clocks", "messages", "bandwidth_mbps"), what)
    return sending_s


def _fire(
    block: Clocks,
    links: _Links,
    agents: tuple[Agent, ...],
    swarm: SwarmTrajectory,
    *,
    step_s: float,
    rng: np.random.Generator,
) -> ClocksPlan:
    count, last = len(agents), swarm.map_SE3_flu.translation_m.shape[0] - 1
    phase_s = rng.uniform(*block.phase_s, size=count)
    drift = rng.uniform(-block.drift_ppm, block.drift_ppm, count)
    offset_s = rng.uniform(-block.offset_s, block.offset_s, count)
    fired = [_instants(block, phase_s[k], drift[k], offset_s[k], until_s=last * step_s, rng=rng) for k in range(count)]
    if block.trigger == "request":
        fired[1:] = [_asked(block, fired[0], step_s=step_s, until_s=last * step_s, rng=rng) for _ in fired[1:]]
    fires = np.repeat(np.arange(count), [len(t) for t in fired])
    asked_s = np.concatenate(fired) if fired else np.zeros(0)
    step = np.rint(asked_s / step_s).astype(np.int64)
    order = np.lexsort((fires, step))
    fires, step, asked_s = fires[order], step[order], asked_s[order]
    message, receiver, arrival_us = _send(links, swarm, fires, step, count=count, step_s=step_s, rng=rng)
    return ClocksPlan(
        agents=agents,
        rate_hz=block.rate_hz,
        drift_ppm=drift,
        offset_us=offset_s * 1e6,
        fires=fires,
        step=step,
        asked_us=asked_s * 1e6,
        message=message,
        receiver=receiver,
        arrival_us=arrival_us,
    )


def _instants(
    block: Clocks, phase_s: float, drift_ppm: float, offset_s: float, *, until_s: float, rng: np.random.Generator
) -> FloatArray:
    """Return the true times at which one agent fires, from 0 to the scene's last step."""
    rate, ahead_s = (1.0, 0.0) if block.trigger == "synchronised" else (1.0 + drift_ppm * 1e-6, offset_s)
    first = int(np.floor((ahead_s - phase_s) * block.rate_hz)) - 1
    most = int(np.ceil((until_s * rate + ahead_s - phase_s) * block.rate_hz)) + 1
    shown_s = phase_s + np.arange(first, most + 1) / block.rate_hz  # by its own clock
    jitter = np.clip(rng.normal(0.0, 1.0, len(shown_s)), -_CUT, _CUT) * block.jitter_s
    times_s = (shown_s - ahead_s) / rate + jitter
    return np.asarray(times_s[(times_s >= 0) & (times_s <= until_s)], dtype=np.float64)


def _asked(block: Clocks, sent_s: FloatArray, *, step_s: float, until_s: float, rng: np.random.Generator) -> FloatArray:
    """Return the true times at which one agent fires who is asked at some: when that arrives, once a step."""
    late_s = np.abs(np.clip(rng.normal(0.0, 1.0, len(sent_s)), -_CUT, _CUT)) * block.jitter_s
    heard_s = np.sort(sent_s + rng.uniform(*block.messages.latency_s, size=len(sent_s)) + late_s)
    heard_s = heard_s[(rng.uniform(size=len(sent_s)) >= block.messages.loss) & (heard_s <= until_s)]
    return heard_s[np.unique(np.rint(heard_s / step_s), return_index=True)[1]]


def _send(
    ways: _Links,
    swarm: SwarmTrajectory,
    fires: IntArray,
    step: IntArray,
    *,
    count: int,
    step_s: float,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Send what each firing took to every other agent: (M,) firings, receivers, and arrivals in us, NaN where lost."""
    links = ways.block
    message = np.repeat(np.arange(len(fires)), count)
    receiver = np.tile(np.arange(count), len(fires))
    others = receiver != fires[message]
    message, receiver = message[others], receiver[others]
    delay_s = rng.uniform(*links.latency_s, size=len(message))
    lost = rng.uniform(size=len(message)) < links.loss
    if links.by_place:  # then all are drones
        places_m = swarm.map_SE3_flu.translation_m
        from_m, to_m = places_m[step[message], fires[message]], places_m[step[message], receiver]
        apart_m = np.linalg.norm(from_m - to_m, axis=1)
        if links.range_m is not None:
            lost |= apart_m > links.range_m
        if ways.town is not None:
            lost |= _hidden(ways.town, from_m, to_m)
        delay_s += apart_m * 1e-3 * links.latency_s_per_km
    arrival_us = np.where(lost, np.nan, (step[message] * step_s + delay_s) * 1e6)
    if ways.sending_s:
        arrival_us += _waits_s(fires, step, step_s=step_s, sending_s=ways.sending_s)[message] * 1e6
    return message, receiver, arrival_us


def _waits_s(fires: IntArray, step: IntArray, *, step_s: float, sending_s: float) -> FloatArray:
    """Return how long after each firing its message has left its sender, whose radio sends one after the other."""
    free_s, waits_s = dict[int, float](), np.zeros(len(fires))
    for row, (sender, at) in enumerate(zip(fires.tolist(), step.tolist(), strict=True)):
        free_s[sender] = max(at * step_s, free_s.get(sender, 0.0)) + sending_s
        waits_s[row] = free_s[sender] - at * step_s
    return waits_s


def _hidden(town: TownConfig, from_m: FloatArray, to_m: FloatArray) -> BoolArray:
    """Return whether (N,) straight ways meet an obstacle of the town."""
    hidden = np.zeros(len(from_m), dtype=bool)
    for one in town.obstacles:
        low = np.array([one.x_m[0], one.y_m[0], -np.inf])
        high = np.array([one.x_m[1], one.y_m[1], town.ground_z_m + one.top_m])
        way_m = to_m - from_m
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.stack([(low - from_m) / way_m, (high - from_m) / way_m])
        beside = (way_m == 0) & ((from_m < low) | (from_m > high))
        shares = np.where(way_m == 0, np.array([-np.inf, np.inf])[:, None, None], shares)
        enter, leave = shares.min(axis=0).max(axis=1), shares.max(axis=0).min(axis=1)
        hidden |= ~beside.any(axis=1) & (np.maximum(enter, 0) <= np.minimum(leave, 1))
    return hidden


def summary(planned: ClocksPlan) -> JsonDict:
    """Return what ``uavsim plan`` shows."""
    lost = float(np.isnan(planned.arrival_us).mean()) if len(planned.arrival_us) else 0.0
    ticks = len(np.unique(planned.step))
    words = f"{planned.rate_hz:g} Hz, {len(planned.step)} firings in {ticks} ticks, {lost:.0%} of messages lost"
    return {"clocks": words}
