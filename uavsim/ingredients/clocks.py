"""Separate clocks of the drones: each drone takes images at its own times, between common keyframes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from uavsim.config.base import Model
from uavsim.dataset.rows import ClockReadingRow, ClockRow, MessageRow
from uavsim.dataset.schema import CLOCK, CLOCK_READING, MESSAGE, Tables
from uavsim.dataset.tokens import token
from uavsim.records.clocks import ClocksPlan
from uavsim.records.ingredients import Ingredient
from uavsim.records.labels import SceneLabels
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.sensors import Agent, AgentsPlan, SensorSpec, shutter_of
from uavsim.registry import Named
from uavsim.typing import BoolArray, FloatArray, IntArray, JsonDict

if TYPE_CHECKING:
    from uavsim.config.dataset import DatasetConfig
    from uavsim.config.load import Loaded
    from uavsim.config.town import TownConfig
    from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan

__all__ = ["INGREDIENT", "Clocks", "ClocksPlan", "MessageLinks", "planner", "rows", "summary"]

INGREDIENT: Final = Ingredient(
    key="clocks",
    block=Named(f"{__name__}:Clocks"),
    about="A separate clock for each agent's images, with phase, jitter and drift; keyframes stay synchronous.",
    order=110,
    records=(Named("uavsim.records.clocks:ClocksPlan"),),
    planner=Named(f"{__name__}:planner"),
    summary=Named(f"{__name__}:summary"),
    rows=Named(f"{__name__}:rows"),
)


Fraction = Annotated[float, Field(ge=0, le=10)]


class MessageLinks(Model):
    """The transmission of each agent's images to the others."""

    latency_s: tuple[Fraction, Fraction] = (0.0, 0.0)
    """Least and greatest latency; drawn for each message, so that messages may overtake each other."""
    loss: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of messages that never arrive."""
    range_m: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """Distance beyond which no message arrives."""
    latency_s_per_km: Fraction = 0.0
    """Additional latency by the distance of sender and receiver."""
    bandwidth_mbps: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Bandwidth of each sender, which broadcasts one message at a time; by default sending takes no time."""
    size_kb: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Size of a message; by default its uncompressed images, three bytes a pixel."""
    line_of_sight: bool = False
    """Whether the town's obstacles (``obstacles`` of its YAML) block messages."""

    @property
    def position_keys(self) -> tuple[str, ...]:
        """Return the configured keys that depend on the positions of sender and receiver."""
        return tuple(key for key in ("range_m", "latency_s_per_km", "line_of_sight") if getattr(self, key))

    @model_validator(mode="after")
    def _latency_bounds_ascend(self) -> Self:
        if self.latency_s[0] > self.latency_s[1]:
            raise ValueError(f"latency_s is [least, most], but {self.latency_s[0]:g} is above {self.latency_s[1]:g}")
        return self


class Clocks(Model):
    """Each agent's cameras fire together, by the agent's own clock; differences between agents are drawn from the seed."""

    rate_hz: Annotated[float, Field(gt=0, le=1000)]
    """Images per second of each agent, by its own clock."""
    phase_s: tuple[Fraction, Fraction] = (0.0, 0.0)
    """Least and greatest time of the first firing."""
    jitter_s: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Standard deviation of each firing's true time, cut off at three of it."""
    drift_ppm: Annotated[float, Field(ge=0, le=10_000)] = 0.0
    """Greatest drift, faster or slower."""
    offset_s: Fraction = 0.0
    """Greatest offset from the true time, ahead or behind."""
    trigger: Literal["free", "synchronised", "request"] = "free"
    """``synchronised``: all fire by the true time; their stamps are still of their own clocks. ``request``: the first drone
    fires by its clock and asks the others, who fire as soon as that arrives (``latency_s`` and ``loss`` of ``messages``)."""
    ground: bool = False
    """Whether cars and roadside units have such clocks too; otherwise they take only keyframes."""
    messages: MessageLinks = MessageLinks()

    @model_validator(mode="after")
    def _ground_agents_have_simple_links(self) -> Self:
        keys = self.messages.position_keys or ("bandwidth_mbps",) * (self.messages.size_kb is None)
        if self.ground and (drone_only := [key for key in keys if getattr(self.messages, key)]):
            instead = "set size_kb, too" if drone_only[0] == "bandwidth_mbps" else "leave it out"
            raise ValueError(f"messages.{drone_only[0]} supports only drones, but ground is true; {instead}")
        return self


_CUT: Final = 3.0  # standard deviations of jitter


def planner(town: TownPlan) -> ScenePlanner:
    """Return the function that plans the clocks of each scene.

    Raises:
        ConfigError: the simulation's steps are too long to separate images, or other keys define image times.
    """
    dataset, block = town.dataset, town.block
    assert isinstance(block, Clocks)
    _check(dataset, block)
    sending_s = _sending_s(dataset, block, town.rig)

    def plan(scene: SceneToFill) -> ClocksPlan:
        links = _Links(block.messages, sending_s, town.town if block.messages.line_of_sight else None)
        ground = [plan for plan in scene.planned.values() if isinstance(plan, AgentsPlan)]
        if any(shutter_of(spec) for rig in (town.rig, *(plan.rig for plan in ground)) for spec in rig):
            what = "a camera has a shutter, whose extra ticks would disturb other agents' images; leave shutter or clocks out"
            raise dataset.error(("clocks",), what)
        others = [agent for plan in ground for agent in plan.agents if block.ground]
        agents = (*map(Agent, scene.swarm.drone_ids), *others)
        made = _fire(block, links, agents, scene.swarm, step_s=dataset.model.step_s, rng=scene.rng("clocks"))
        end_us = (scene.swarm.map_SE3_flu.translation_m.shape[0] - 1) * dataset.model.step_s * 1e6
        if not (made.arrival_us <= end_us).any() and len(agents) > 1:
            what = f"no message arrives in scene {scene.number}"
            if np.isfinite(made.arrival_us).any():
                what += f", which ends after {end_us / 1e6:g} s; reduce latency_s"
            raise dataset.error(("clocks", "messages"), what)
        return made

    return plan


def _check(dataset: Loaded[DatasetConfig], block: Clocks) -> None:
    step_s, period_s = dataset.model.step_s, 1.0 / block.rate_hz
    if dataset.model.captures is not None or dataset.model.sweeps_per_keyframe:
        raise dataset.error(
            ("clocks",), "clocks set the times of images between keyframes; leave captures and sweeps_per_keyframe out"
        )
    if period_s < step_s:
        instead = f"reduce it to {1.0 / step_s:g}, or set step_s: {period_s:g}"
        what = f"rate_hz={block.rate_hz:g} needs several images in a step of {step_s:g} s; {instead}"
        raise dataset.error(("clocks", "rate_hz"), what)
    fastest_s = period_s / (1 + block.drift_ppm * 1e-6) if block.trigger != "synchronised" else period_s
    if fastest_s < step_s:
        most_ppm = (period_s / step_s - 1) * 1e6
        what = f"drift_ppm={block.drift_ppm:g} allows two images in a step of {step_s:g} s; reduce it to {most_ppm:g}"
        raise dataset.error(("clocks", "drift_ppm"), what)
    most_s = (fastest_s - step_s) / (2 * _CUT)
    if block.jitter_s > most_s:
        instead = f"reduce it to {max(most_s, 0.0):.3g}"
        what = f"jitter_s={block.jitter_s:g} allows two images in a step of {step_s:g} s; {instead}"
        raise dataset.error(("clocks", "jitter_s"), what)
    if block.phase_s[0] > block.phase_s[1]:
        what = f"phase_s is [least, most], but {block.phase_s[0]:g} is above {block.phase_s[1]:g}"
        raise dataset.error(("clocks", "phase_s"), what)


@dataclass(frozen=True, slots=True)
class _Links:
    """Properties of the links: the time to send a message, and the town that blocks them, or None."""

    block: MessageLinks
    sending_s: float
    town: TownConfig | None


def _sending_s(dataset: Loaded[DatasetConfig], block: Clocks, rig: Sequence[SensorSpec]) -> float:
    """Return the transmission time of a firing's images, seconds."""
    links = block.messages
    if links.bandwidth_mbps is None:
        return 0.0
    pixels = sum(spec.camera.width_px * spec.camera.height_px for spec in rig if spec.params.is_optical)
    size_kb = links.size_kb or 3 * pixels / 1e3
    sending_s = size_kb * 8e-3 / links.bandwidth_mbps
    if sending_s * block.rate_hz > 1:
        what = (
            f"bandwidth_mbps={links.bandwidth_mbps:g} sends a message of {size_kb:g} kB in {sending_s:.3g} s, but one is "
            f"due every {1 / block.rate_hz:g} s; raise it to {size_kb * 8e-3 * block.rate_hz:.4g}, or reduce size_kb"
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
        fired[1:] = [_requested(block, fired[0], step_s=step_s, until_s=last * step_s, rng=rng) for _ in fired[1:]]
    fires = np.repeat(np.arange(count), [len(t) for t in fired])
    requested_s = np.concatenate(fired) if fired else np.zeros(0)
    step = np.rint(requested_s / step_s).astype(np.int64)
    order = np.lexsort((fires, step))
    fires, step, requested_s = fires[order], step[order], requested_s[order]
    message, receiver, arrival_us = _send(links, swarm, fires, step, count=count, step_s=step_s, rng=rng)
    return ClocksPlan(
        agents=agents,
        rate_hz=block.rate_hz,
        drift_ppm=drift,
        offset_us=offset_s * 1e6,
        fires=fires,
        step=step,
        asked_us=requested_s * 1e6,
        message=message,
        receiver=receiver,
        arrival_us=arrival_us,
    )


def _instants(
    block: Clocks, phase_s: float, drift_ppm: float, offset_s: float, *, until_s: float, rng: np.random.Generator
) -> FloatArray:
    """Return (K,) true firing times of one agent, seconds, from 0 to the scene's last step."""
    rate, ahead_s = (1.0, 0.0) if block.trigger == "synchronised" else (1.0 + drift_ppm * 1e-6, offset_s)
    first = int(np.floor((ahead_s - phase_s) * block.rate_hz)) - 1
    most = int(np.ceil((until_s * rate + ahead_s - phase_s) * block.rate_hz)) + 1
    clock_s = phase_s + np.arange(first, most + 1) / block.rate_hz  # by the agent's clock
    jitter = np.clip(rng.normal(0.0, 1.0, len(clock_s)), -_CUT, _CUT) * block.jitter_s
    times_s = (clock_s - ahead_s) / rate + jitter
    return np.asarray(times_s[(times_s >= 0) & (times_s <= until_s)], dtype=np.float64)


def _requested(
    block: Clocks, sent_s: FloatArray, *, step_s: float, until_s: float, rng: np.random.Generator
) -> FloatArray:
    """Return (K,) true firing times, seconds, of an agent that fires when a request arrives, at most once a step."""
    late_s = np.abs(np.clip(rng.normal(0.0, 1.0, len(sent_s)), -_CUT, _CUT)) * block.jitter_s
    received_s = np.sort(sent_s + rng.uniform(*block.messages.latency_s, size=len(sent_s)) + late_s)
    received_s = received_s[(rng.uniform(size=len(sent_s)) >= block.messages.loss) & (received_s <= until_s)]
    return received_s[np.unique(np.rint(received_s / step_s), return_index=True)[1]]


def _send(
    links: _Links,
    swarm: SwarmTrajectory,
    fires: IntArray,
    step: IntArray,
    *,
    count: int,
    step_s: float,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Send the images of each firing to every other agent: (M,) firings, receivers, and arrivals in us, NaN if lost."""
    block = links.block
    message = np.repeat(np.arange(len(fires)), count)
    receiver = np.tile(np.arange(count), len(fires))
    others = receiver != fires[message]
    message, receiver = message[others], receiver[others]
    delay_s = rng.uniform(*block.latency_s, size=len(message))
    lost = rng.uniform(size=len(message)) < block.loss
    if block.position_keys:  # only drones have such links
        places_m = swarm.map_SE3_flu.translation_m
        from_m, to_m = places_m[step[message], fires[message]], places_m[step[message], receiver]
        apart_m = np.linalg.norm(from_m - to_m, axis=1)
        if block.range_m is not None:
            lost |= apart_m > block.range_m
        if links.town is not None:
            lost |= _hidden(links.town, from_m, to_m)
        delay_s += apart_m * 1e-3 * block.latency_s_per_km
    arrival_us = np.where(lost, np.nan, (step[message] * step_s + delay_s) * 1e6)
    if links.sending_s:
        arrival_us += _waits_s(fires, step, step_s=step_s, sending_s=links.sending_s)[message] * 1e6
    return message, receiver, arrival_us


def _waits_s(fires: IntArray, step: IntArray, *, step_s: float, sending_s: float) -> FloatArray:
    """Return (F,) seconds from each firing to the end of its transmission; a radio sends one message at a time."""
    free_s, waits_s = dict[int, float](), np.zeros(len(fires))
    for row, (sender, firing_step) in enumerate(zip(fires.tolist(), step.tolist(), strict=True)):
        free_s[sender] = max(firing_step * step_s, free_s.get(sender, 0.0)) + sending_s
        waits_s[row] = free_s[sender] - firing_step * step_s
    return waits_s


def _hidden(town: TownConfig, from_m: FloatArray, to_m: FloatArray) -> BoolArray:
    """Return (N,) bool, True where the line between (N, 3) map points meets an obstacle of the town."""
    hidden = np.zeros(len(from_m), dtype=bool)
    for obstacle in town.obstacles:
        low = np.array([obstacle.x_m[0], obstacle.y_m[0], -np.inf])
        high = np.array([obstacle.x_m[1], obstacle.y_m[1], town.ground_z_m + obstacle.top_m])
        direction_m = to_m - from_m
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.stack([(low - from_m) / direction_m, (high - from_m) / direction_m])
        beside = (direction_m == 0) & ((from_m < low) | (from_m > high))
        shares = np.where(direction_m == 0, np.array([-np.inf, np.inf])[:, None, None], shares)
        enter, leave = shares.min(axis=0).max(axis=1), shares.max(axis=0).min(axis=1)
        hidden |= ~beside.any(axis=1) & (np.maximum(enter, 0) <= np.minimum(leave, 1))
    return hidden


def summary(planned: ClocksPlan) -> JsonDict:
    """Return the lines for ``uavsim plan``."""
    lost = float(np.isnan(planned.arrival_us).mean()) if len(planned.arrival_us) else 0.0
    ticks = len(np.unique(planned.step))
    words = f"{planned.rate_hz:g} Hz, {len(planned.step)} firings in {ticks} ticks, {lost:.0%} of messages lost"
    return {"clocks": words}


def rows(labels: SceneLabels, planned: ClocksPlan, tables: Tables) -> Tables:
    """Return a row per clock, per image of a firing, and per message."""
    del tables
    plan = labels.plan
    base, scene = (plan.dataset, plan.scene_name), token(plan.dataset, plan.scene_name, "scene")
    clocks: list[ClockRow] = [
        {
            "token": token(*base, "clock", agent.id),
            "scene_token": scene,
            "agent": agent.id,
            "rate_hz": planned.rate_hz,
            "step_us": plan.step_us,
            "drift_ppm": float(planned.drift_ppm[k]),
            "offset_us": float(planned.offset_us[k]),
        }
        for k, agent in enumerate(planned.agents)
    ]
    return {
        CLOCK.name: clocks,
        CLOCK_READING.name: _readings(labels, planned),
        MESSAGE.name: _messages(labels, planned, scene),
    }


def _readings(labels: SceneLabels, planned: ClocksPlan) -> list[ClockReadingRow]:
    plan = labels.plan
    fired = {
        (step, planned.agents[agent_index].id): n
        for n, (step, agent_index) in enumerate(zip(planned.step.tolist(), planned.fires.tolist(), strict=True))
    }
    made: list[ClockReadingRow] = []
    for frame in labels.frames:
        for reading in frame.cameras:
            n = fired.get((frame.step, reading.sensor.agent.id))
            if n is None:
                continue  # a keyframe, in which all agents take images
            reading_token = token(plan.dataset, plan.scene_name, "sample_data", reading.channel, frame.timestamp_us)
            taken_us, agent_index = frame.step * plan.step_us, planned.fires[n]
            clock_us = taken_us * (1 + planned.drift_ppm[agent_index] * 1e-6) + planned.offset_us[agent_index]
            made.append(
                {
                    "token": reading_token,
                    "sample_data_token": reading_token,
                    "asked_us": float(planned.asked_us[n]),
                    "residual_us": float(taken_us - planned.asked_us[n]),
                    "agent_timestamp": plan.start_timestamp_us + round(clock_us),
                }
            )
    return made


def _messages(labels: SceneLabels, planned: ClocksPlan, scene: str) -> list[MessageRow]:
    plan, ids = labels.plan, [agent.id for agent in planned.agents]
    sent = zip(planned.message.tolist(), planned.receiver.tolist(), planned.arrival_us.tolist(), strict=True)
    start = plan.start_timestamp_us
    return [
        {
            "token": token(plan.dataset, plan.scene_name, "message", n, to),
            "scene_token": scene,
            "sender": ids[planned.fires[n]],
            "receiver": ids[to],
            "timestamp": start + int(planned.step[n]) * plan.step_us,
            "arrival": 0 if np.isnan(arrival) else start + round(arrival),
        }
        for n, to, arrival in sent
    ]
