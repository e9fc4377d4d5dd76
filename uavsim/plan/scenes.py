"""Plan the scenes of a dataset's towns completely before any flight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

import numpy as np

from uavsim.config.backends import backend_of
from uavsim.config.base import Model
from uavsim.config.dataset import DatasetConfig, NameSchedule, TownShare, Twins
from uavsim.config.formation import Formation
from uavsim.config.library import Library
from uavsim.config.load import Loaded
from uavsim.config.overrides import AS_CONFIGURED, Overrides
from uavsim.config.rig import Rig
from uavsim.config.routes import RoutesConfig, Trajectories
from uavsim.config.town import TownConfig
from uavsim.config.weather import Weather
from uavsim.errors import ConfigError, InputError, UnknownNameError
from uavsim.plan import checks, numbering
from uavsim.plan.config_to_plan import (
    degradation_plan,
    describe,
    given_by,
    image_format,
    label_plan,
    town_site,
)
from uavsim.plan.ingredients import ScenePlanner, SceneToFill, planners
from uavsim.plan.path import FlightPath, fly_route
from uavsim.plan.swarm import fly_swarm, formation_altitude
from uavsim.plan.trajectories import fly_trajectories, read_trajectories
from uavsim.plan.weather import PRESETS, preset_track, weather_track
from uavsim.records.ingredients import INGREDIENTS
from uavsim.records.modalities import modality
from uavsim.records.plan import LEAST_WARMUP_TICKS, PlanNotes, ScenePlan, SwarmTrajectory
from uavsim.records.sensors import AgentsPlan, SensorSpec, shutter_steps
from uavsim.registry import nearest, pick
from uavsim.typing import FloatArray

__all__ = ["DatasetPlanner", "plan_scenes"]

T = TypeVar("T")
M = TypeVar("M", bound=Model)
FIRST_TIMESTAMP_US: Final = 1_704_067_200_000_000  # 2024-01-01 00:00 UTC: the dataset's clock, not the wall's
MOST_STEPS: Final = 100_000
SCENE_SLOT_US: Final = 3_600_000_000  # every scene has an hour of that clock to itself


def plan_scenes(
    dataset: str,
    *,
    town: str | None = None,
    scenes: Sequence[int] | None = None,
    overrides: Overrides = AS_CONFIGURED,
) -> list[ScenePlan]:
    """Plan scenes of one town of a dataset.

    Args:
        dataset: name in ``flight_plans/datasets`` or path of a YAML file.
        town: town of the dataset; default: its only town, or that of ``scenes``.
        scenes: scene numbers; default: all scenes of the town.
        overrides: values that replace those of the dataset.

    Returns:
        Plans in order of their numbers; equal arguments and files give equal plans.

    Raises:
        InputError: a name or number does not exist, or the flight is impossible.
    """
    planner = DatasetPlanner.open(dataset, overrides=overrides)
    return list(planner.plans(town, scenes))


@dataclass(frozen=True, slots=True)
class DatasetPlanner:
    """Planner of a dataset's towns and scenes; reads the configuration once.

    Attributes:
        library: finds configuration files; ``library.used`` lists the files read.
        named: the dataset without overrides.
        dataset: the dataset with overrides.
    """

    library: Library
    named: Loaded[DatasetConfig]
    dataset: Loaded[DatasetConfig]

    @classmethod
    def open(cls, dataset: str, *, overrides: Overrides = AS_CONFIGURED) -> DatasetPlanner:
        """Read the dataset's YAML and look up the overrides; see ``plan_scenes`` for arguments and errors."""
        named, library = Library.of().with_dataset(dataset)
        return cls(library, named, _with_overrides(named, overrides, library))

    def plans(self, town: str | None = None, scenes: Sequence[int] | None = None) -> Iterator[ScenePlan]:
        """Plan scenes of one town one at a time; see ``plan_scenes`` for arguments and errors."""
        planner = _TownPlanner.open(self, town or numbering.town_of(self.dataset, scenes))
        for number in numbering.requested(planner.scenes, scenes):
            yield planner.plan(number)

    def read_town(self, town: str) -> None:
        """Read every file that the plans of a town's scenes may need."""
        _TownPlanner.open(self, town)


def _with_overrides(dataset: Loaded[DatasetConfig], overrides: Overrides, library: Library) -> Loaded[DatasetConfig]:
    """Return the dataset with the overrides, after looking up their names."""
    if overrides.seed is not None and not 0 <= overrides.seed < 2**31:
        raise InputError(f"a seed is between 0 and 2147483647, not {overrides.seed}")
    if overrides.topology is not None:
        backend_of(overrides.topology)
    update: dict[str, object] = {
        key: value for key in ("samples", "seed", "topology") if (value := getattr(overrides, key)) is not None
    }
    if overrides.formation is not None:
        library.formation(overrides.formation)
        update["formation"] = NameSchedule(fixed=overrides.formation)
    if overrides.weather is not None:
        library.weather(overrides.weather, presets=tuple(PRESETS))
        update["weather"] = NameSchedule(fixed=overrides.weather)
    if overrides.settle is not None:
        update["settle"] = overrides.settle
    if overrides.rig is not None:
        library.rig(overrides.rig)
        update["rig"] = overrides.rig
    return replace(dataset, model=dataset.model.model_copy(update=update))


@dataclass(slots=True)
class _TownPlanner:
    """Planner of one town; loads formations, weathers and paths at first use."""

    library: Library
    dataset: Loaded[DatasetConfig]
    share: TownShare
    scenes: numbering.TownScenes
    town: Loaded[TownConfig]
    routes: Loaded[RoutesConfig]
    route_names: tuple[str, ...]
    rig_file: Loaded[Rig]
    rig: tuple[SensorSpec, ...]
    ingredients: dict[str, ScenePlanner]
    whole_samples: int  # some ingredients are solved for the whole scene, of which fewer samples may be flown
    extra_steps: int  # after the last image, of which images through shutters are made, too
    drawn: dict[str, float] = field(default_factory=dict)  # by this scene, where anything is
    formations: dict[str, Loaded[Formation]] = field(default_factory=dict)
    weathers: dict[str, Loaded[Weather] | None] = field(default_factory=dict)
    paths: dict[tuple[str, float, bool], FlightPath] = field(default_factory=dict)

    @classmethod
    def open(cls, of: DatasetPlanner, town: str) -> _TownPlanner:
        dataset, library, model = of.dataset, of.library, of.dataset.model
        town_scenes = numbering.town_scenes(dataset, town)
        site = _located(dataset, ("towns", town_scenes.town), lambda: library.town(town_scenes.town))
        routes = library.routes(site.model.name)
        rig = _located(dataset, ("rig",), lambda: library.rig(model.rig, named_in=dataset.source.path))
        specs = given_by(dataset, rig)
        cameras = tuple(spec for spec in specs if spec.params.is_optical)
        ingredients = planners(dataset, library, share=model.towns[town_scenes.town], town=site.model, rig=cameras)
        has_whole_scenes = any(INGREDIENTS.pick(name).whole_scenes for name in ingredients)
        ground = (spec for plan in ingredients.values() if isinstance(plan, AgentsPlan) for spec in plan.rig)
        planner = cls(
            library=library,
            dataset=dataset,
            share=model.towns[town_scenes.town],
            scenes=town_scenes,
            town=site,
            routes=routes,
            route_names=_route_names(dataset, town_scenes.town, routes),
            rig_file=rig,
            rig=specs,
            ingredients=ingredients,
            whole_samples=max(model.samples, of.named.model.samples if has_whole_scenes else 0),
            extra_steps=_shutter_steps(dataset, (*specs, *ground)),
        )
        planner.check_names()
        return planner

    def check_names(self) -> None:
        """Load all formations and weathers of the scenes, to find typos before the first flight."""
        if self.scene_us >= SCENE_SLOT_US:
            raise self.dataset.error(("samples",), f"a scene of {self.scene_us / 1e6:g} s is longer than an hour")
        if self.scene_us // self.step_us > MOST_STEPS:
            steps = self.scene_us // self.step_us
            raise self.dataset.error(("samples",), f"a scene needs {steps} steps; at most {MOST_STEPS} are allowed")
        for name in self.dataset.model.formation.names:
            self.formation(name)
        for name in self.dataset.model.weather.names:
            self.weather(name)
        twins, path = self.dataset.model.twins or Twins(), self.dataset.source.path
        for name in twins.weather:
            weather = partial(self.library.weather, name, named_in=path, presets=tuple(PRESETS))
            _located(self.dataset, ("twins", "weather", twins.weather.index(name)), weather)
        for name in twins.skins:
            skin = partial(self.library.of_ingredient, "skin", name, named_in=path)
            _located(self.dataset, ("twins", "skins", twins.skins.index(name)), skin)

    @property
    def keyframe_steps(self) -> int:
        return round(self.dataset.model.keyframe_s / self.dataset.model.step_s)

    @property
    def step_us(self) -> int:
        return round(self.dataset.model.step_s * 1e6)

    @property
    def scene_us(self) -> int:
        return (self.dataset.model.samples - 1) * self.keyframe_steps * self.step_us

    def formation(self, name: str) -> Loaded[Formation]:
        if name not in self.formations:
            path = self.dataset.source.path
            keys = _key_path_of("formation", self.dataset.model.formation, name)
            self.formations[name] = _located(self.dataset, keys, lambda: self.library.formation(name, named_in=path))
        return self.formations[name]

    def weather(self, name: str) -> Loaded[Weather] | None:
        """Return a weather's file; None for a preset of CARLA."""
        if name not in self.weathers:
            path, presets = self.dataset.source.path, tuple(PRESETS)
            keys = _key_path_of("weather", self.dataset.model.weather, name)
            loaded = _located(self.dataset, keys, lambda: self.library.weather(name, named_in=path, presets=presets))
            if loaded is not None:
                weather_track(loaded, scene_us=self.scene_us)  # which refuses an unknown preset
            self.weathers[name] = loaded
        return self.weathers[name]

    def path(self, route: str, *, altitude_m: float, fixed: bool) -> FlightPath:
        key = (route, altitude_m, fixed)
        if key not in self.paths:
            self.paths[key] = fly_route(self.routes.model.routes[route], altitude_m=altitude_m, fixed_altitude=fixed)
        return self.paths[key]

    def plan(self, number: int) -> ScenePlan:
        """Plan a scene with a drawn number for each distribution."""
        if not (self.dataset.draws or self.routes.draws or self.rig_file.draws):
            return self._plan(number)
        numbers: dict[str, float] = {}
        dataset = self.draw(self.dataset, "dataset", number, numbers)
        rig = self.draw(self.rig_file, "rig", number, numbers)
        specs = given_by(dataset, rig)
        scene = replace(
            self,
            dataset=dataset,
            routes=self.draw(self.routes, "routes", number, numbers),
            rig=specs,
            ingredients=planners(dataset, self.library, share=self.share, town=self.town.model, rig=specs),
            drawn=numbers,
            paths={},
        )
        return scene._plan(number)

    def draw(self, of: Loaded[M], kind: str, number: int, numbers: dict[str, float]) -> Loaded[M]:
        """Return a file with this scene's drawn numbers, and add them to ``numbers``."""
        seed = self.dataset.model.seed
        drawn, drawn_by_key = of.drawn(lambda key: numbering.scene_rng(seed, number, f"drawn {kind}.{key}"))
        numbers |= {f"{kind}.{key}": value for key, value in drawn_by_key.items()}
        return drawn

    def _plan(self, number: int) -> ScenePlan:
        model, turn = self.dataset.model, number - self.scenes.allowed.start
        seed, drawn = model.seed, dict(self.drawn)
        formation = self.formation(
            numbering.turn_of(model.formation, numbering.scene_rng(seed, number, "formation"), number=turn)
        )
        formation = self.draw(formation, "formation", number, drawn)
        weather_name = numbering.turn_of(model.weather, numbering.scene_rng(seed, number, "weather"), number=turn)
        loaded = self.weather(weather_name)
        weather = (
            preset_track(weather_name)
            if loaded is None
            else weather_track(self.draw(loaded, "weather", number, drawn), scene_us=self.scene_us)
        )
        route, start_share = self.route_of(turn)
        altitude_m = numbering.altitude_of(model.altitude_m, numbering.scene_rng(seed, number, "altitude"), number=turn)
        full_swarm = self.fly(formation, route, start_share=start_share, altitude_m=altitude_m, number=number)
        steps = (model.samples - 1) * self.keyframe_steps + self.extra_steps + 1
        swarm = SwarmTrajectory(full_swarm.drone_ids, full_swarm.map_SE3_flu[:steps])
        planned: dict[str, object] = {}
        scene = SceneToFill(number, turn, weather_name, full_swarm, swarm, dataset_seed=seed, planned=planned)
        for name, planner in self.ingredients.items():
            if (plan := planner(scene) if callable(planner) else planner) is not None:
                planned[name] = plan
        site = self.town.model
        return ScenePlan(
            dataset=self.dataset.name,
            scene_name=f"scene_{number:0{model.scene_digits}d}",
            scene_index=number,
            description=describe(site, route=route, formation=formation.name, weather=weather.name, swarm=swarm),
            town=town_site(site),
            route_name=route,
            formation_name=formation.name,
            rig_name=self.rig_file.name,
            topology=model.topology,
            seed=numbering.scene_seed(seed, number),
            start_timestamp_us=FIRST_TIMESTAMP_US + number * SCENE_SLOT_US,
            step_us=self.step_us,
            warmup_ticks=max(round(model.warmup_s / model.step_s), LEAST_WARMUP_TICKS),
            samples=model.samples,
            keyframe_every_steps=self.keyframe_steps,
            sweeps_per_keyframe=model.sweeps_per_keyframe,
            rig=self.rig,
            swarm=swarm,
            ingredients=planned,
            weather=weather,
            images=image_format(model.images),
            splits=numbering.splits_of(model.splits, number),
            version=model.version,
            degradations=degradation_plan(
                model.degradations, seed=numbering.scene_seed(seed, number, stream="degradations")
            ),
            settles=model.settle,
            max_formation_error_m=model.max_formation_error_m,
            pose_read_back_s=model.pose_read_back_s,
            min_moving_share=model.min_moving_share,
            wind_map_mps=model.wind_mps,
            labels=label_plan(model.labels, site),
            recording=model.recording,
            sweep_cameras=_filming(model),
            notes=PlanNotes(seed, route.rsplit("_col", 1)[0], start_share, drawn),
        )

    def route_of(self, turn: int) -> tuple[str, float]:
        """Return the route of the town's scene ``turn`` and its start on the route (0..1)."""
        each = self.dataset.model.scenes_per_route
        lap, route = divmod(turn // each, len(self.route_names))
        share = (turn % each) / each
        return self.route_names[route], (share + lap * 0.6180339887498949) % 1.0  # later laps start elsewhere

    def fly(
        self, formation: Loaded[Formation], route: str, *, start_share: float, altitude_m: float | None, number: int
    ) -> SwarmTrajectory:
        """Plan the swarm's flight and check bounds, clearances and distances between drones.

        Raises:
            ConfigError: a drone leaves the town, or comes too near to an obstacle or another drone.
        """
        model, config = self.dataset.model, self.routes.model.routes[route]
        total = (self.whole_samples - 1) * self.keyframe_steps + self.extra_steps
        time_s = np.asarray(np.arange(total + 1) * (self.step_us * 1e-6), dtype=np.float64)
        if config.trajectories is not None:
            swarm = self.fly_files(formation, route, config.trajectories, time_s=time_s, start_share=start_share)
            self._check(swarm, formation, route, step_s=model.step_s)
            return swarm
        route_knows = config.altitude_m is not None or any(item.altitude_m is not None for item in config.path)
        by_formation = altitude_m is None and not route_knows
        base_m = altitude_m if altitude_m is not None else formation.model.altitude_m
        path = self.path(route, altitude_m=base_m, fixed=not (altitude_m is None and route_knows))
        extra = formation_altitude(formation.model, time_s) - base_m if by_formation else 0.0
        swarm = fly_swarm(
            path,
            formation.model,
            time_s=time_s,
            start_s=path.start_s(start_share, scene_s=float(time_s[-1])),
            ground_z_m=self.town.model.ground_z_m,
            extra_altitude_m=extra,
            rng=numbering.scene_rng(self.dataset.model.seed, number, "jitter"),
        )
        self._check(swarm, formation, route, step_s=model.step_s)
        return swarm

    def fly_files(
        self, formation: Loaded[Formation], route: str, files: Trajectories, *, time_s: FloatArray, start_share: float
    ) -> SwarmTrajectory:
        """Fly each drone along the trajectory of its file.

        Raises:
            ConfigError: a file is invalid, the number of drones differs, or the dataset has an altitude.
        """
        key = ("routes", route, "trajectories")
        if len(files.files) != formation.model.drones:
            raise self.routes.error(
                (*key, "files"),
                f"{len(files.files)} trajectory files, but formation {formation.name!r} has {formation.model.drones} drones",
            )
        if self.dataset.model.altitude_m is not None:
            raise self.dataset.error(
                ("altitude_m",), f"the files of route {route!r} give the height; leave altitude_m out"
            )
        try:
            drones = read_trajectories(self.library, self.routes, route)
            return fly_trajectories(drones, files, time_s=time_s, start_share=start_share)
        except ConfigError:
            raise
        except InputError as error:
            raise self.routes.error(key, str(error)) from error

    def _check(self, swarm: SwarmTrajectory, formation: Loaded[Formation], route: str, *, step_s: float) -> None:
        key_path = ("routes", route)
        with_formation = f"with formation {formation.name!r} "
        if (where := checks.outside(swarm, self.town.model, step_s=step_s)) is not None:
            raise self.routes.error(key_path, with_formation + where)
        if (where := checks.beyond_streaming(swarm, self.town.model, self.rig)) is not None:
            raise self.routes.error(key_path, with_formation + where)
        hit = checks.collision(swarm, self.town.model, clearance_m=formation.model.clearance_m, step_s=step_s)
        if hit is not None:
            raise self.routes.error(key_path, with_formation + hit)
        distance_m, a, b, step = checks.nearest_pair(swarm)
        if distance_m < formation.model.min_separation_m:
            raise formation.error(
                ("keyframes",) if formation.model.keyframes else ("spacing_m",),
                f"drones {a} and {b} come within {distance_m:.2f} m of each other at {step * step_s:.2f} s on route "
                f"{route!r} (min_separation_m is {formation.model.min_separation_m:g})",
            )


def _shutter_steps(dataset: Loaded[DatasetConfig], specs: tuple[SensorSpec, ...]) -> int:
    """Return the number of steps after each image that the shutters of all rigs need.

    Raises:
        ConfigError: a sensor reports changes between images beside a shutter or a camera without sweeps, or no rig has a
            camera of the sweeps.
    """
    _check_sweeps(dataset, specs)
    steps = shutter_steps(specs)
    changes = {name for spec in specs for name in spec.modalities if modality(name).first_frame_placeholder is not None}
    if steps and changes:
        raise dataset.error(
            ("rig",),
            f"{', '.join(sorted(changes))} measure changes since the previous image and exclude "
            "a shutter, which needs images of the following ticks; leave one of them out",
        )
    return steps


def _check_sweeps(dataset: Loaded[DatasetConfig], specs: tuple[SensorSpec, ...]) -> None:
    """Refuse sweep cameras without a rig, and cameras without sweeps that report changes between images."""
    filming, key_path = _filming(dataset.model), ("captures", "clip", "cameras")
    names = {spec.name: spec for spec in specs if spec.params.is_optical}
    for name in filming:
        if name not in names:
            guess = nearest(name, names)
            hint = f"did you mean {guess!r}?" if guess else f"they have {', '.join(names)}"
            raise dataset.error(key_path, f"no rig has a camera {name!r}; {hint}")
    for name, spec in names.items() if filming else ():
        changes = [word for word in spec.modalities if modality(word).first_frame_placeholder is not None]
        if name not in filming and changes:
            raise dataset.error(
                key_path, f"{changes[0]} of camera {name} measures changes between images: add {name} to the cameras"
            )


def _filming(model: DatasetConfig) -> tuple[str, ...]:
    """Return the cameras with sweeps; () stands for all."""
    return model.captures.clip.cameras if model.captures else ()


def _located(dataset: Loaded[DatasetConfig], key_path: tuple[str | int, ...], look_up: Callable[[], T]) -> T:
    """Look up a name in a dataset; an error points at its line."""
    try:
        return look_up()
    except UnknownNameError as error:
        raise dataset.error(key_path, str(error)) from error


def _key_path_of(key: str, schedule: NameSchedule, name: str) -> tuple[str | int, ...]:
    if name in schedule.cycle:
        return (key, "cycle", schedule.cycle.index(name))
    return (key, "draw", name) if name in schedule.draw else (key,)


def _route_names(dataset: Loaded[DatasetConfig], town: str, routes: Loaded[RoutesConfig]) -> tuple[str, ...]:
    """Return the routes of a dataset in a town; default: all routes of the town."""
    named = dataset.model.towns[town].routes
    for i, name in enumerate(named):
        _located(dataset, ("towns", town, "routes", i), lambda: pick(routes.model.routes, name, what="route"))  # noqa: B023
    return named or tuple(routes.model.routes)
