"""Plan the encounters of one scene: explicit ones, or random ones with the scene's random numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from uavsim.config.load import Loaded
from uavsim.config.town import TownConfig
from uavsim.errors import InputError, UnknownNameError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.intruders.encounters_config import (
    BinnedDistribution,
    EncountersConfig,
    ExplicitEncounter,
    Sampling,
)
from uavsim.ingredients.intruders.intruder_plans import INTRUDERS, IntruderPlan, IntrudersPlan
from uavsim.ingredients.intruders.paths import Impossible, OwnPath
from uavsim.ingredients.intruders.refusals import refuse
from uavsim.ingredients.intruders.sight import horizon_deg, in_image, is_valid
from uavsim.ingredients.intruders.solve import Encounter, EncounterSpec, solve
from uavsim.plan import numbering
from uavsim.plan.checks import box_distance
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, TownPlan
from uavsim.records.actors import ActorInfo
from uavsim.records.plan import SwarmTrajectory
from uavsim.records.sensors import SensorSpec
from uavsim.registry import pick
from uavsim.typing import FloatArray

_MOST_DRAWS: Final = 1200
# Steps of a low-discrepancy sequence in the unit interval: few scenes suffice to meet requested shares.
_STEPS: Final = {
    "collision": 0.6180339887498949,
    "horizon": 0.7548776662466927,
    "range": 0.5698402909980532,
    "azimuth": 0.4142135623730951,
    "elevation": 0.8191725133961645,
}
# Quantities that follow the sequence in each quarter of an encounter's draws; the others are random.
_SEQUENCED: Final = (("range", "azimuth", "elevation"), ("azimuth", "elevation"), ("azimuth",), ())
_PER_SCENE: Final = 5
_SPARE: Final = 1.2  # margin over AOT's rule of valid encounters, because trees may hide some images


def planner(town: TownPlan) -> ScenePlanner:
    """Load a dataset's file of encounters, and return the function that plans those of a scene.

    Raises:
        ConfigError: no such file; the message names the line.
    """
    dataset = town.dataset
    try:
        config = town.library.of_ingredient("encounters", town.block, named_in=dataset.source.path)
    except UnknownNameError as error:
        raise dataset.error(("encounters",), str(error)) from error

    every = round(dataset.model.keyframe_s / dataset.model.step_s) // (dataset.model.sweeps_per_keyframe + 1)

    def plan(scene: SceneToFill) -> IntrudersPlan | None:
        inputs = EncounterScene(town.town, town.rig, scene.full_swarm, dataset.model.step_s, image_every_steps=every)
        found = scene_intruders(config, inputs, seed=scene.dataset_seed, number=scene.number)
        steps = len(scene.swarm.map_SE3_flu)  # the encounters' values refer to the whole scene
        flown = tuple(replace(intruder, map_SE3_flu=intruder.map_SE3_flu[:steps]) for intruder in found)
        return IntrudersPlan(flown) if flown else None

    return plan


def without(
    planned: IntrudersPlan, actors: tuple[ActorInfo, ...], hidden: tuple[int, ...], where: str
) -> IntrudersPlan | None:
    """Return the intruders of a replay, without hidden ones.

    Raises:
        InputError: the recording has more or fewer intruders than the plan.
    """
    flown = sorted(info.instance_id for info in actors if info.kind == "intruder")
    if len(flown) != len(planned.intruders):
        raise InputError(
            f"{where}: {len(planned.intruders)} intruders are planned, but {len(flown)} are recorded; it is damaged"
        )
    pairs = zip(flown, planned.intruders, strict=True)
    remaining = tuple(intruder for instance_id, intruder in pairs if instance_id not in hidden)
    return IntrudersPlan(remaining) if remaining else None


@dataclass(frozen=True, slots=True, eq=False)
class EncounterScene:
    """Town, rig and flight of a scene with encounters, and the interval of its images."""

    town: TownConfig
    rig: tuple[SensorSpec, ...]
    swarm: SwarmTrajectory
    step_s: float
    image_every_steps: int = 1


def scene_intruders(
    config: Loaded[EncountersConfig], inputs: EncounterScene, *, seed: int, number: int
) -> tuple[IntruderPlan, ...]:
    """Return the intruders of one scene.

    Args:
        config: the encounters' file.
        inputs: town, rig and flight.
        seed: seed of the dataset.
        number: number of the scene.

    Raises:
        ConfigError: an encounter is impossible; the message names the nearest possible one.
    """
    scene = _Scene.of(config, inputs, number=number)
    draw = config.model.draw
    if draw is None:
        for index, encounter in enumerate(config.model.encounters):
            scene.add_explicit(encounter, index)
        return tuple(scene.made)
    rng = numbering.scene_rng(seed, number, "encounters")
    for group, sampling in enumerate((draw, *draw.unplanned, *draw.further)):
        planned = group == 0 or group > len(draw.unplanned)
        for index in range(_count(sampling, rng)):
            even = _Even(seed, group, number * _PER_SCENE + index)
            valid = config.model.profile == "aot" and group == index == 0
            scene.add_drawn(sampling, rng, even=even, planned=planned, valid=valid)
    return tuple(scene.made)


def _count(draw: Sampling, rng: np.random.Generator) -> int:
    return int(_weighted({str(name): weight for name, weight in draw.intruders.items()}, rng))


def _weighted(weights: dict[str, float], rng: np.random.Generator) -> str:
    shares = np.array(list(weights.values()))
    return list(weights)[int(rng.choice(len(shares), p=shares / shares.sum()))]


@dataclass(frozen=True, slots=True)
class _Even:
    """Low-discrepancy numbers from 0 to 1 over a dataset's encounters, one sequence for each quantity and sampling."""

    seed: int
    group: int
    index: int

    def of(self, quantity: str) -> float:
        start = _start(self.seed, list(_STEPS).index(quantity) + len(_STEPS) * self.group)
        return float((start + self.index * _STEPS[quantity]) % 1.0)


@cache
def _start(seed: int, stream: int) -> float:
    return np.random.default_rng([seed, stream]).random()


def _quantile(distribution: BinnedDistribution, p: float) -> float:
    """Return the value below which a share ``p`` of a distribution lies."""
    shares = np.array([part.share for part in distribution.bins])
    ends = np.concatenate([[0.0], np.cumsum(shares) / shares.sum()])
    part = min(int(np.searchsorted(ends, p, side="right")) - 1, len(shares) - 1)
    low, high = distribution.bins[part].between
    return low + (high - low) * (p - float(ends[part])) / float(ends[part + 1] - ends[part])


@dataclass(slots=True, eq=False)
class _Scene:
    """One scene's flight, and its intruders planned so far."""

    config: Loaded[EncountersConfig]
    inputs: EncounterScene
    number: int
    own_path: OwnPath
    map_SE3_camera: SE3
    spec: SensorSpec
    made: list[IntruderPlan]

    @classmethod
    def of(cls, config: Loaded[EncountersConfig], inputs: EncounterScene, *, number: int) -> _Scene:
        swarm, drone, camera = inputs.swarm, config.model.drone, config.model.camera
        if drone not in swarm.drone_ids:
            raise config.error(("drone",), f"the formation has drones 0 to {len(swarm.drone_ids) - 1}, not {drone}")
        try:
            spec = pick({spec.name: spec for spec in inputs.rig}, camera, what="camera of the rig")
        except UnknownNameError as error:
            raise config.error(("camera",), str(error)) from error
        map_SE3_drone = swarm.map_SE3_flu[:, swarm.drone_ids.index(drone)]
        map_SE3_camera = map_SE3_drone @ spec.flu_SE3_mount
        if len(map_SE3_camera) < 3:
            raise config.error((), "a scene of fewer than three steps is too short for encounters")
        time_s: FloatArray = np.arange(len(map_SE3_camera), dtype=np.float64) * inputs.step_s
        return cls(config, inputs, number, OwnPath(time_s, map_SE3_camera.translation_m), map_SE3_camera, spec, [])

    def clearance(self, places_m: FloatArray) -> str | None:
        """Describe the first conflict of (K, 3) map positions with ground, obstacle, drone or intruder; None if clear."""
        model, town = self.config.model, self.inputs.town
        height_m = places_m[:, 2] - town.ground_z_m
        lowest_m = float(height_m.min())
        if lowest_m < model.ground_clearance_m:
            near = (
                f"within {lowest_m:.1f} m of the ground" if lowest_m >= 0.0 else f"{-lowest_m:.1f} m below the ground"
            )
            return f"it comes {near} (ground_clearance_m is {model.ground_clearance_m:g})"
        for obstacle in town.obstacles:
            if lowest_m - obstacle.top_m >= model.ground_clearance_m:
                continue
            low = np.array([obstacle.x_m[0], obstacle.y_m[0], -np.inf])
            high = np.array([obstacle.x_m[1], obstacle.y_m[1], town.ground_z_m + obstacle.top_m])
            near_m = float(box_distance(places_m, low, high).min())
            if near_m < model.ground_clearance_m:
                return f"it comes within {near_m:.1f} m of {obstacle.name!r}"
        return self._apart(places_m)

    def _apart(self, places_m: FloatArray) -> str | None:
        swarm, least_m = self.inputs.swarm, self.config.model.separation_m
        others = {
            f"drone {drone}": swarm.map_SE3_flu.translation_m[:, row]
            for row, drone in enumerate(swarm.drone_ids)
            if drone != self.config.model.drone
        } | {made.name: made.map_SE3_flu.translation_m for made in self.made}
        for name, other in others.items():
            near_m = float(np.linalg.norm(places_m - other, axis=1).min())
            if near_m < least_m:
                return f"it comes within {near_m:.1f} m of {name} (separation_m is {least_m:g})"
        return None

    def add_explicit(self, encounter: ExplicitEncounter, index: int) -> None:
        numbers = encounter.model_dump()
        planned = bool(numbers.pop("planned"))
        spec = EncounterSpec(**numbers)
        try:
            found = solve(spec, self.own_path, self.map_SE3_camera, clearance=self.clearance)
        except Impossible as impossible:
            refusal = refuse(spec, self.own_path, self.map_SE3_camera, clearance=self.clearance)
            message = refusal.text(spec) if refusal is not None else impossible.reason
            raise self.config.error(("encounters", index), f"scene {self.number}: {message}") from impossible
        self._add(found, planned=planned, draws=1)

    def add_drawn(self, draw: Sampling, rng: np.random.Generator, *, even: _Even, planned: bool, valid: bool) -> None:
        """Draw until an encounter is possible and visible, and with ``valid`` also valid by AOT's rule."""
        reasons: Counter[str] = Counter()
        for attempt in range(_MOST_DRAWS):
            sequenced = _SEQUENCED[attempt * len(_SEQUENCED) // _MOST_DRAWS]
            quantiles = {name: even.of(name) if name in sequenced else rng.random() for name in _SEQUENCED[0]}
            spec = self._drawn(draw, rng, even, quantiles)
            try:
                found = solve(spec, self.own_path, self.map_SE3_camera, clearance=self.clearance)
                self._check_visible(found, least_s=draw.seen_s, valid=valid)
            except Impossible as impossible:
                reasons[impossible.reason.partition(",")[0]] += 1
                continue
            self._add(found, planned=planned, draws=attempt + 1)
            return
        reason = reasons.most_common(1)[0][0]
        raise self.config.error(
            ("draw",), f"scene {self.number}: none of {_MOST_DRAWS} draws is possible; most frequent reason: {reason}"
        )

    def _check_visible(self, found: Encounter, *, least_s: float, valid: bool) -> None:
        """Refuse an encounter that is too rarely inside the image, or invalid by AOT's rule."""
        visible = in_image(self.map_SE3_camera, found.map_SE3_flu.translation_m, self.spec)
        if float(visible.sum()) * self.inputs.step_s < least_s:
            raise Impossible("it is too briefly in the image")
        images = slice(None, None, self.inputs.image_every_steps)
        if valid and not is_valid(found.range_m[images], visible[images], spare=_SPARE):
            raise Impossible("it is not valid by AOT's rule")

    def _drawn(self, draw: Sampling, rng: np.random.Generator, even: _Even, p: dict[str, float]) -> EncounterSpec:
        """Draw one request by quantiles ``p``; collision course and horizon side are the same in all draws of an encounter."""
        path = _weighted({str(k): v for k, v in draw.paths.items()}, rng)
        kind = _weighted({str(k): v for k, v in draw.kinds.items()}, rng)
        courses = even.of("collision") < draw.collision_course
        near = self.config.model.collision_m
        cpa_m = rng.uniform(0.0, near) if courses else max(_quantile(draw.miss_m, rng.random()), near * 1.02)
        side = 1.0 if rng.random() < 0.5 else -1.0
        begin_s = round(_quantile(draw.begin_s, rng.random()) / self.inputs.step_s) * self.inputs.step_s
        weaves = path == "non_cooperative"
        return EncounterSpec(
            kind=kind,
            path=path,
            azimuth_deg=_quantile(draw.azimuth_deg, p["azimuth"]),
            elevation_deg=self._elevation_deg(draw, even.of("horizon"), from_horizon=p["elevation"], begin_s=begin_s),
            range_m=_quantile(draw.range_m, p["range"]),
            closing_mps=_quantile(draw.closing_mps, rng.random()),
            cpa_m=cpa_m,
            begin_s=begin_s,
            turn_dps=side * _quantile(draw.turn_dps, rng.random()) if weaves or path == "turning" else 0.0,
            weave_s=_quantile(draw.weave_s, rng.random()) if weaves else 0.0,
            climb_mps=side * _quantile(draw.climb_mps, rng.random()) if path == "climbing" else 0.0,
        )

    def _elevation_deg(self, draw: Sampling, side: float, *, from_horizon: float, begin_s: float) -> float:
        """Return an elevation in the camera, degrees; ``side`` and ``from_horizon``, 0 to 1, select it by the horizon."""
        step = min(round(begin_s / self.inputs.step_s), len(self.own_path.time_s) - 1)
        height_m = float(self.own_path.position_m[step, 2]) - self.inputs.town.ground_z_m
        within = self.config.model.horizon_within_deg
        if side < draw.horizon.above:
            over_deg = _quantile(draw.above_deg, from_horizon)
        elif side < draw.horizon.above + draw.horizon.on:
            over_deg = within * (2.0 * from_horizon - 1.0)
        else:
            over_deg = -_quantile(draw.below_deg, from_horizon)
        forward = self.map_SE3_camera[step].rotate(np.array([1.0, 0.0, 0.0]))
        return over_deg + horizon_deg(height_m) - float(np.degrees(np.arcsin(np.clip(forward[2], -1.0, 1.0))))

    def _add(self, found: Encounter, *, planned: bool, draws: int) -> None:
        model, spec, kind = self.config.model, found.spec, INTRUDERS[found.spec.kind]
        alike = sum(made.kind == spec.kind for made in self.made)
        self.made.append(
            IntruderPlan(
                kind=spec.kind,
                path=spec.path,
                profile=model.profile,
                name=f"{kind.aot_name}{alike + 1}",
                blueprint={str(k): v for k, v in model.blueprints.items()}.get(spec.kind, kind.blueprint),
                size_lwh_m=kind.size_lwh_m,
                planned=planned,
                drone_id=model.drone,
                camera=model.camera,
                map_SE3_flu=found.map_SE3_flu,
                begin_s=spec.begin_s,
                cpa_s=found.cpa.time_s,
                range_m=float(found.range_m[found.begin]),
                closing_mps=float(found.closing_mps[found.begin]),
                azimuth_deg=found.azimuth_deg,
                elevation_deg=found.elevation_deg,
                cpa_m=found.cpa.distance_m,
                collision_course=found.cpa.distance_m <= model.collision_m,
                draws=draws,
            )
        )
