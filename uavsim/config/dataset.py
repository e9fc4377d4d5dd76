"""``flight_plans/datasets/*.yaml``: datasets."""

from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, create_model, field_validator, model_validator

from uavsim.config.backends import Topology
from uavsim.config.base import Metres3, Model, Name, Reference, Seconds, Text
from uavsim.config.routes import Altitude
from uavsim.errors import InputError
from uavsim.records.classes import Label
from uavsim.records.ingredients import AGENT_KINDS, all_ingredients
from uavsim.records.label_columns import check_extra_columns
from uavsim.records.plan import ImageFormat

__all__ = [
    "AltitudeSchedule",
    "DatasetConfig",
    "Degradations",
    "Images",
    "Labels",
    "NameSchedule",
    "Splits",
    "TownShare",
    "Twins",
    "VoxelLabels",
    "dataset_config",
]

LinkName = Literal["air_to_air", "air_to_ground", "ground_to_air", "ground_to_ground"]
Share = Annotated[float, Field(ge=0, le=1)]
MOST_SWEEPS: Final = 100
STORED: Final = ImageFormat()
RESERVED_SPLITS = ("train", "val", "test", "mini_train", "mini_val", "train_detect", "train_track")


class NameSchedule(Model):
    """The file that each scene uses; a plain name is the same for all scenes."""

    shorthand: ClassVar = {"type": "string"}

    fixed: Reference | None = None
    cycle: tuple[Reference, ...] = ()
    """One after the other, scene by scene."""
    draw: dict[Reference, Annotated[float, Field(gt=0, le=1e6)]] = Field(default_factory=dict)
    """Drawn for each scene from the dataset's seed, with these weights."""

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {"fixed": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if sum((self.fixed is not None, bool(self.cycle), bool(self.draw))) != 1:
            raise ValueError("give one name, or cycle: [names], or draw: {name: weight}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a scene may get."""
        return (self.fixed,) if self.fixed is not None else self.cycle or tuple(self.draw)


class AltitudeSchedule(Model):
    """Altitude of each scene, metres above the ground; a plain number is the same for all."""

    shorthand: ClassVar = {"type": "number", "exclusiveMinimum": 0}

    fixed: Altitude | None = None
    cycle: tuple[Altitude, ...] = ()
    draw: tuple[Altitude, ...] = ()
    """Drawn for each scene, all equally often."""

    @model_validator(mode="before")
    @classmethod
    def _from_number(cls, value: Any) -> Any:
        return {"fixed": value} if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if sum((self.fixed is not None, bool(self.cycle), bool(self.draw))) != 1:
            raise ValueError("give one altitude, or cycle: [altitudes], or draw: [altitudes]")
        return self


class TownShare(Model):
    """One town's share of the dataset."""

    scenes: Annotated[int, Field(ge=1, le=100_000)]
    """Number of scenes without ``--scenes``."""
    first_scene: Annotated[int, Field(ge=0, le=10_000_000)] | None = None
    """Number of the town's first scene; by default it follows the previous town."""
    most_scenes: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """Largest number of scenes for ``--scenes``; ``scenes`` by default."""
    vehicles: Annotated[int, Field(ge=0, le=2000)] | None = None
    """Number of vehicles, instead of the dataset's."""
    routes: tuple[Name, ...] = ()
    """Routes of the town; by default all, in their file's order."""

    @model_validator(mode="after")
    def _check_most_scenes(self) -> Self:
        if self.most_scenes is not None and self.most_scenes < self.scenes:
            raise ValueError(f"most_scenes={self.most_scenes} is less than scenes={self.scenes}")
        return self


class Images(Model):
    """The storage of images; masks are always lossless."""

    format: Literal["png", "jpeg"] = STORED.kind
    jpeg_quality: Annotated[int, Field(ge=1, le=100)] = STORED.jpeg_quality
    png_level: Annotated[int, Field(ge=0, le=9)] = STORED.png_level


class VoxelLabels(Model):
    """Voxels like those of ``uavsim occupancy``, written into the dataset's ``occupancy`` folder after the last scene."""

    format: Name = "parquet"
    grid: Text | None = None
    """A grid's name or its YAML file; the format's by default."""
    of: tuple[Name, ...] = ()
    """Agents (``"0"``, ``v0``) or channels to make grids for; by default those of the command."""
    cameras: bool = False
    """In Parquet, list the cameras that see a voxel, not only the agents."""


class Labels(Model):
    """The objects that get boxes, and the meaning of their attributes; omitted keys have uavsim's defaults."""

    classes: (
        Annotated[
            tuple[Label, ...],
            Field(min_length=1),
        ]
        | None
    ) = None
    """Classes to label; everything else is scenery. All by default."""
    columns: tuple[Name, ...] = ()
    """Label columns that installed packages add (entry points ``uavsim.label_columns``), beside the built-in ones."""
    range_m: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """Horizontally from the nearest drone; everything in the town by default."""
    moving_mps: Annotated[float, Field(ge=0, le=100)] | None = None
    """Speed above which an object is ``moving``."""
    parked_moved_m: Annotated[float, Field(ge=0, le=1000)] | None = None
    """A parked vehicle that moves less than this in the scene is ``parked``."""

    occupancy: VoxelLabels | None = None
    """Needs depth images."""

    @field_validator("columns")
    @classmethod
    def _columns_known(cls, columns: tuple[str, ...]) -> tuple[str, ...]:
        try:
            check_extra_columns(columns)
        except InputError as error:
            raise ValueError(str(error)) from error
        return columns


class Splits(Model):
    """The split of each scene."""

    rule: Literal["uav3d"] | None = None
    """UAV3D's own: by the last two digits of the scene's number, 70 % uav_train, 15 % uav_val, 15 % uav_test."""
    scenes: dict[Name, tuple[Annotated[int, Field(ge=0)], ...]] = Field(default_factory=dict)
    """Scene numbers by split."""
    rest: Name | None = None
    """Every scene that ``scenes`` does not name."""

    @model_validator(mode="after")
    def _check_reserved_names(self) -> Self:
        for name in (*self.scenes, *([self.rest] if self.rest else [])):
            if name in RESERVED_SPLITS:
                raise ValueError(f"the nuScenes devkit reserves the split name {name!r}; use uav_{name}")
        if self.rule and (self.scenes or self.rest):
            raise ValueError("give either rule, or scenes and rest")
        return self


class AgentErrors(Model):
    """Errors of the sensors of some agents."""

    position_noise_m: Annotated[float, Field(ge=0, le=100)] = 0.0
    """Standard deviation on each axis of the reported position."""
    position_bias_m: Metres3 = (0.0, 0.0, 0.0)
    """Added to the reported position, map frame."""
    yaw_noise_deg: Annotated[float, Field(ge=0, le=180)] = 0.0
    clock_offset_s: Annotated[float, Field(ge=-10, le=10)] = 0.0
    """Largest offset of an agent's clock; each gets its own, drawn once a scene."""
    latency_s: Annotated[float, Field(ge=0, le=10)] = 0.0
    """Delay from an image to its arrival at the ego."""
    drop_probability: Share = 0.0
    """Probability that an image never arrives."""
    pixel_noise_sigma: Annotated[float, Field(ge=0, le=255)] = 0.0
    """Standard deviation of the noise, grey levels."""
    blur_sigma_px: Annotated[float, Field(ge=0, le=100)] = 0.0
    exposure_stops: Annotated[float, Field(ge=-10, le=10)] = 0.0
    """+1 doubles the light."""
    uneven: bool = False
    """Every other camera has one of noise, blur and exposure in a scene; otherwise all cameras have all of them."""


class Link(Model):
    """The link from the agents that take images to those that receive them."""

    latency_s: Annotated[float, Field(ge=0, le=10)] = 0.0
    drop_probability: Share = 0.0


class Degradations(AgentErrors):
    """Errors of the agents' sensors; the truth stays in the tables and clean images are kept."""

    vehicles: AgentErrors | None = None
    """Errors of sensing cars, instead of the drones'; omitted ones are zero."""
    roadside: AgentErrors | None = None
    """Errors of roadside units, instead of the drones'; omitted ones are zero."""
    links: dict[LinkName, Link] = Field(default_factory=dict)
    """Latency and losses by sender and receiver."""

    @property
    def by_kind(self) -> dict[str, AgentErrors]:
        """The errors of agent kinds that have their own, by the key of the kind's plural."""
        errors_by_kind = {kind.name: getattr(self, kind.plural, None) for kind in AGENT_KINDS.values()}
        return {kind: errors for kind, errors in errors_by_kind.items() if errors is not None}


class Twins(Model):
    """The twins that ``uavsim twins`` makes of a dataset by default."""

    weather: tuple[Reference, ...] = ()
    """The same instants in these weathers, by name or path."""
    without: Annotated[tuple[Text, ...], Field(max_length=100)] = ()
    """The same instants without this actor (a blueprint, or ``scene_0000:12``) or class."""
    occluders: bool = False
    """The same instants without the actors that hide others."""
    skins: tuple[Reference, ...] = ()
    """The same instants with other weather, sun and colours, drawn from the distributions in these files."""


class Clip(Model):
    """Video: images at its rate, keyframes among them. ``step_s``, ``sweeps_per_keyframe`` and ``samples`` follow from it."""

    fps: Literal[10, 16, 24, 30]
    frames: Annotated[int, Field(ge=2, le=10_000)]
    """Images of each camera per scene; the first, the last and evenly spaced ones between are keyframes."""
    cameras: tuple[Name, ...] = ()
    """Cameras of the rigs that film; others take only keyframes. All by default."""


class Captures(Model):
    """The times of images, instead of keyframes and sweeps."""

    clip: Clip


class DatasetConfig(Model):
    """A dataset: towns, scenes, time, swarm, traffic, weather and storage."""

    drawable: ClassVar = ("altitude_m", "traffic", "wind_mps")

    description: Text = ""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    version: Literal["v1.0-mini", "v1.0-trainval", "v1.0-test"] = "v1.0-mini"
    """nuScenes version folder."""
    towns: Annotated[dict[Name, TownShare], Field(min_length=1, max_length=100)]
    """Towns, in the order of the scenes' numbers."""
    scene_digits: Annotated[int, Field(ge=1, le=8)] = 4
    """Digits of a scene's number in its name; scene_0007 has four."""
    samples: Annotated[int, Field(ge=1, le=10_000)] = 20
    """Number of keyframes of a scene."""
    keyframe_s: Annotated[float, Field(gt=0, le=60)] = 0.5
    """Time between two keyframes; above 1.5 s the devkit has no velocities."""
    sweeps_per_keyframe: Annotated[int, Field(ge=0, le=MOST_SWEEPS)] = 0
    """Number of images between two keyframes."""
    step_s: Annotated[float, Field(ge=0.001, le=0.1)] = 0.05
    """Time of one step of the simulation."""
    captures: Captures | None = None
    """Video, with keyframes as near to ``keyframe_s`` as whole frames allow: ``{clip: {fps: 16, frames: 93}}``."""
    warmup_s: Seconds = 4.0
    """Time for traffic to get up to speed before the first image; at least three steps."""
    settle: bool = True
    """Whether RGB cameras render some ticks before each image (their rigs' ``settle``); false keeps the first rendering."""
    scenes_per_route: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Consecutive scenes on one route; they start evenly spread along it."""
    formation: NameSchedule
    rig: Reference
    weather: NameSchedule = NameSchedule(fixed="ClearNoon")
    altitude_m: AltitudeSchedule | None = None
    """Altitude above the ground, instead of the routes' and the formation's."""
    topology: Topology = "carla"
    images: Images = Images()
    splits: Splits = Splits()
    labels: Labels = Labels()
    degradations: Degradations | None = None
    wind_mps: Metres3 = (0.0, 0.0, 0.0)
    """bridge: wind on the drones, map frame."""
    max_formation_error_m: Annotated[float, Field(gt=0, le=1000)] = 5.0
    """bridge: a drone farther than this from its place voids the scene."""
    pose_read_back_s: Annotated[float, Field(gt=0, le=600)] = 2.0
    """bridge, merged: time for AirSim to report a pose after it was set; otherwise the scene is void."""
    min_moving_share: Share = 0.3
    """Least share of moving vehicles among those not at a red light; below it the scene is flown again with other traffic."""
    recording: Literal["full", "keyframes"] = "full"
    """Motion kept beside the dataset for ``uavsim replay``: of every tick, or only of ticks with images."""

    twins: Twins | None = None
    """Twins that ``uavsim twins`` makes of this dataset by default."""

    def block(self, key: str) -> Any:
        """Return the value of an ingredient's key (``traffic``, ``encounters``, ...); None without it."""
        return getattr(self, key)

    @model_validator(mode="after")
    def _check_uav3d_objects(self) -> Self:
        for _, ingredient in all_ingredients() if self.splits.rule == "uav3d" else ():
            if ingredient.adds_objects and self.block(ingredient.key) is not None:
                raise ValueError(
                    f"splits: {{rule: uav3d}} labels every box as a car and excludes {ingredient.key}; leave it out, "
                    "or define splits by scenes and rest"
                )
        return self

    @model_validator(mode="after")
    def _set_clip_timing(self) -> Self:
        """Set the numbers that follow from a clip: a step is a frame's time or half of it, in whole microseconds."""
        if self.captures is None:
            return self
        fps, last = self.captures.clip.fps, self.captures.clip.frames - 1
        every = round(self.keyframe_s * fps)
        if not 1 <= every <= MOST_SWEEPS + 1:
            what = "is shorter than a frame" if every < 1 else f"is longer than {MOST_SWEEPS + 1} frames"
            raise ValueError(f"keyframe_s={self.keyframe_s:g} {what} of captures.clip: fps={fps}")
        if last % every:
            near = sorted({max(last // every, 1) * every + 1, (last // every + 1) * every + 1})
            raise ValueError(
                f"captures.clip: frames={last + 1} at fps={fps} does not end on a keyframe: keyframe_s="
                f"{self.keyframe_s:g} makes one every {every} frames; set frames to {' or '.join(map(str, near))}"
            )
        steps = 2 if fps == 10 else 1
        step_s = round(1e6 / (fps * steps)) * 1e-6
        derived = {
            "step_s": round(step_s, 6),
            "sweeps_per_keyframe": every - 1,
            "samples": last // every + 1,
        }
        conflicts = [key for key in derived if key in self.model_fields_set and getattr(self, key) != derived[key]]
        if conflicts:
            raise ValueError(
                f"captures.clip sets {conflicts[0]} to {derived[conflicts[0]]:g}; leave out {conflicts[0]}"
            )
        return self.model_copy(update=derived | {"keyframe_s": round(step_s * steps * every, 6)})

    @model_validator(mode="after")
    def _check_step_divides(self) -> Self:
        steps = self.keyframe_s / self.step_s
        if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"keyframe_s={self.keyframe_s:g} is not a multiple of step_s={self.step_s:g}")
        if round(steps) % (self.sweeps_per_keyframe + 1):
            raise ValueError(
                f"sweeps_per_keyframe={self.sweeps_per_keyframe} does not divide the {round(steps)} steps of a keyframe evenly"
            )
        if abs(self.step_s * 1e6 - round(self.step_s * 1e6)) > 1e-6:
            raise ValueError(f"step_s={self.step_s:g} is not a whole number of microseconds")
        return self


def _is_none(value: object) -> bool:
    """Omit a key from the dataset's identity, which must not depend on the installed packages."""
    return value is None


@cache
def dataset_config() -> type[DatasetConfig]:
    """Return the model with a field for the key of each ingredient, those of installed packages among them."""
    fields: dict[str, Any] = {}
    for _, ingredient in all_ingredients():
        if ingredient.block is None:
            continue
        block: Any = ingredient.block.load()
        about = ingredient.about or None
        if ingredient.always:
            fields[ingredient.key] = (block, Field(block(), description=about))
        else:
            optional = Annotated[block | None, Field(exclude_if=_is_none)]
            fields[ingredient.key] = (optional, Field(None, description=about))
    made = create_model("DatasetConfig", __base__=DatasetConfig, __doc__=DatasetConfig.__doc__, **fields)
    made.has_source = False
    return made
