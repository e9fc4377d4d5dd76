"""The configuration, one YAML for data, grid, model, sharing, training and predictions; frozen, unknown keys are refused."""

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, cast, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from uavsim_baselines.errors import BaselineError

__all__ = [
    "PROFILES",
    "AgentId",
    "Config",
    "DataConfig",
    "GridConfig",
    "ModelConfig",
    "PredictionConfig",
    "SharingConfig",
    "SharingKind",
    "TrainingConfig",
    "known_sharing",
    "load_config",
    "load_profile",
    "parse_config",
    "requested_config",
]

SharingKind: TypeAlias = Literal["none", "late", "early", "who2com", "when2com", "v2vnet", "disconet", "where2comm"]
Positive: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(ge=1)]

AgentId: TypeAlias = int | Annotated[str, Field(pattern=r"^[vr]\d+$")]
"""Agent identifiers of channels: 0 is the first drone, v0 the first car, r0 the first roadside unit."""

PROFILES: Final = ("cpu-small", "cpu-small-airground", "cpu-small-occupancy", "mini", "full")
"""Configurations that come with this package, in ``profiles/``."""

NUSCENES_CLASSES: Final[dict[str, tuple[str, ...]]] = {
    "car": ("vehicle.car",),
    "truck": ("vehicle.truck",),
    "bus": ("vehicle.bus",),
    "motorcycle": ("vehicle.motorcycle",),
    "bicycle": ("vehicle.bicycle",),
    "pedestrian": ("human.pedestrian",),
}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LateConfig(_Part):
    """Delay of the other agents' images."""

    way: Literal["clocks", "shift"] = Field(
        default="clocks",
        description="clocks: the newest arrived image by the sender's clock; shift: an earlier keyframe",
    )
    latency_ms: tuple[Annotated[float, Field(ge=0)], Annotated[float, Field(ge=0)]] = Field(
        default=(0.0, 0.0), description="smallest and largest additional latency, drawn for each frame and sender"
    )


class DataConfig(_Part):
    """Samples, cameras and classes of the training."""

    folder: Path
    version: str | None = None
    train_split: str = "uav_train"
    test_split: str = "uav_val"
    cameras: tuple[str, ...] | None = Field(default=None, description="camera names without _id_N; default: all")
    drones: tuple[AgentId, ...] | None = Field(
        default=None,
        description="0, v0, r0: drones, cars, roadside units; the first is the ego; default: all, in this order",
    )
    size_px: tuple[Count, Count] | None = Field(
        default=None, description="width, height of resized images; default: original size"
    )
    late: LateConfig | None = Field(default=None, description="delay of other agents' images; default: none")
    keep_images: bool = Field(default=False, description="cache decoded and resized images in memory")
    classes: dict[str, tuple[str, ...]] = Field(
        default_factory=lambda: dict(NUSCENES_CLASSES),
        description="result class -> category prefixes",
        min_length=1,
    )


class GridConfig(_Part):
    """The square bird's-eye grid of each drone, centred below the drone and aligned with its heading."""

    cells: Annotated[int, Field(ge=4, le=1024, multiple_of=2)] = 64
    cell_m: Positive = 1.6
    heights_m: tuple[float, ...] = Field(
        default=(0.0, 1.0, 2.0), min_length=1, description="map heights of the sampled points"
    )


class ModelConfig(_Part):
    """Widths and depths of the network."""

    image_channels: tuple[Count, ...] = Field(
        default=(16, 32, 64), min_length=2, description="each stage halves the size"
    )
    stem_stride: Literal[2, 4] = Field(default=2, description="stride of the first stage")
    bev_channels: Annotated[int, Field(ge=4, multiple_of=4)] = 32
    lift_blocks: Annotated[int, Field(ge=0)] = Field(default=1, description="in each drone's grid before sharing")
    bev_blocks: Count = 2


class SharingConfig(_Part):
    """The sharing method; a method ignores keys of others."""

    kind: SharingKind = "none"
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.01, description="where2comm: confidence of a cell that is sent"
    )
    query_channels: Count = Field(default=16, description="who2com, when2com: length of the query")
    key_channels: Count = Field(default=64, description="who2com, when2com: length of the key")
    time: bool = Field(default=False, description="v2vnet: messages carry their age")
    rounds: Annotated[int, Field(ge=1, le=5)] = Field(default=2, description="v2vnet: rounds of messages")
    teacher: Path | None = Field(default=None, description="disconet: checkpoint of a model with sharing early")
    distillation: Annotated[float, Field(ge=0)] = Field(
        default=1.0, description="disconet: weight of the teacher's loss"
    )

    @model_validator(mode="after")
    def _only_disconet_has_a_teacher(self) -> Self:
        if self.teacher is not None and self.kind != "disconet":
            raise ValueError(f"teacher is for disconet, not {self.kind}; leave it out")
        return self


class TrainingConfig(_Part):
    """Steps, learning rate and device of a training."""

    steps: Count = 2000
    batch: Count = 2
    learning_rate: Positive = 2e-3
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    warmup_steps: Annotated[int, Field(ge=0)] = 50
    clip_norm: Positive = 10.0
    ego: Literal["first", "any"] = Field(default="any", description="any: a random drone for each sample")
    hears: Literal["all", "any"] = Field(
        default="all",
        description="any: the ego receives air agents, ground agents or both, at random for each sample",
    )
    shuffled_labels: bool = Field(
        default=False, description="control: boxes of another scene; such a model must not generalise"
    )
    device: Literal["auto", "cpu", "cuda"] = "auto"
    mixed_precision: bool = Field(default=True, description="on a GPU only")
    threads: Count | None = Field(default=None, description="CPU threads; default: torch's choice")
    log_every: Count = 10
    checkpoint_every: Count = 200


class PredictionConfig(_Part):
    """Selection of heatmap peaks as boxes."""

    min_score: Annotated[float, Field(ge=0, le=1)] = 0.05
    max_boxes: Annotated[int, Field(ge=1, le=500)] = 200
    nms_m: Annotated[float, Field(ge=0)] = Field(
        default=2.0, description="late: boxes of a class nearer than this are one object"
    )


class Config(_Part):
    """Complete configuration of a model, stored in its checkpoints."""

    name: str = Field(default="baseline", pattern=r"^[A-Za-z0-9._-]+$")
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    data: DataConfig
    grid: GridConfig = GridConfig()
    model: ModelConfig = ModelConfig()
    sharing: SharingConfig = SharingConfig()
    training: TrainingConfig = TrainingConfig()
    prediction: PredictionConfig = PredictionConfig()


def load_config(path: Path, *, changes: Iterable[str] = ()) -> Config:
    """Read a configuration.

    Args:
        path: a YAML file.
        changes: ``training.steps=20``: keys that differ from the file's.

    Raises:
        BaselineError: the file is unreadable or invalid; the message names file and key.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BaselineError(f"{path}: not YAML: {error}") from error
    return _parsed(text, changes, source=str(path))


def load_profile(name: str, *, changes: Iterable[str] = ()) -> Config:
    """Read one of the configurations that come with this package; ``changes`` must name the dataset's folder.

    Raises:
        BaselineError: the profile does not exist, or a change is invalid.
    """
    if name not in PROFILES:
        raise BaselineError(
            f"--profile {name}: no such profile (profiles: {', '.join(PROFILES)}){_hint(name, PROFILES)}"
        )
    text = resources.files("uavsim_baselines").joinpath("profiles", f"{name}.yaml").read_text("utf-8")
    return _parsed(text, changes, source=f"profile {name}")


def requested_config(
    path: Path | None,
    profile: str | None,
    *,
    named: Mapping[str, object] = MappingProxyType({}),
    changes: Iterable[str] = (),
) -> Config:
    """Read a file or a profile, with changes by key and changes in text form.

    Raises:
        BaselineError: not exactly one is given, a profile lacks a dataset, or ``load_config`` fails.
    """
    overrides = [f"{key}={json.dumps(value, default=str)}" for key, value in named.items() if value is not None]
    if (path is None) == (profile is None):
        raise BaselineError(f"give either a YAML file or --profile ({', '.join(PROFILES)})")
    if path is not None:
        return load_config(path, changes=(*overrides, *changes))
    if named.get("data.folder") is None:
        raise BaselineError(f"--profile {profile}: needs --data, the folder of a dataset")
    return load_profile(str(profile), changes=(*overrides, *changes))


def known_sharing(kind: str) -> SharingKind:
    """Check the name of a sharing method.

    Raises:
        BaselineError: the method does not exist.
    """
    known = get_args(SharingKind)
    if kind not in known:
        raise BaselineError(
            f"--sharing {kind}: unknown sharing method (methods: {', '.join(known)}){_hint(kind, known)}"
        )
    return cast(SharingKind, kind)


def _parsed(text: str, changes: Iterable[str], *, source: str) -> Config:
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BaselineError(f"{source}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(value, dict):
        raise BaselineError(f"{source}: must be a mapping with keys data, grid, model, sharing, training, prediction")
    for change in changes:
        _change(value, change)
    return parse_config(value, source=source)


def parse_config(value: dict[str, Any], *, source: str) -> Config:
    """Validate plain data as a configuration.

    Raises:
        BaselineError: a value is invalid; the message begins with ``source`` and names the key.
    """
    try:
        return Config.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        reason = first["msg"]
        if first["type"] == "extra_forbidden":
            reason = "no such key" + _hint(str(first["loc"][-1]), _keys_beside(first["loc"]))
        raise BaselineError(f"{source}: {key}: {reason}") from None


def _hint(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _keys_beside(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Config
    for step in location[:-1]:
        field = model.model_fields.get(str(step))
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return []
        model = field.annotation
    return list(model.model_fields)


def _change(value: dict[str, Any], change: str) -> None:
    key, mark, text = change.partition("=")
    if not mark or not key:
        raise BaselineError(f"--set {change}: must be KEY=VALUE, for example training.steps=20")
    *path, last = key.split(".")
    for step in path:
        value = value.setdefault(step, {})
        if not isinstance(value, dict):
            raise BaselineError(f"--set {change}: {step} is not a mapping")
    try:
        value[last] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BaselineError(f"--set {change}: the value is not YAML") from error
