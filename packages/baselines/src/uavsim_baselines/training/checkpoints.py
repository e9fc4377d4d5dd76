"""Checkpoints: atomically written files with configuration, weights, optimiser state and step."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import torch
from pydantic import BaseModel, ConfigDict, Json, NonNegativeInt, ValidationError

from uavsim_baselines.config import Config, parse_config
from uavsim_baselines.detector.network import Detector
from uavsim_baselines.errors import BaselineError

_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The content of a checkpoint's file.

    Attributes:
        config: configuration of the model.
        step: number of finished steps.
        model: state of the network.
        optimiser: state of the optimiser.
    """

    config: Config
    step: int
    model: dict[str, Any]
    optimiser: dict[str, Any]


class _Content(BaseModel):
    """The file's dictionary."""

    model_config = ConfigDict(strict=True, arbitrary_types_allowed=True)

    uavsim_baselines: Literal[1]
    config: Json[dict[str, Any]]
    step: NonNegativeInt
    model: dict[str, torch.Tensor]
    optimiser: dict[str, Any]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write or replace a checkpoint atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    content = {
        "uavsim_baselines": _FORMAT,
        "config": checkpoint.config.model_dump_json(),
        "step": checkpoint.step,
        "model": checkpoint.model,
        "optimiser": checkpoint.optimiser,
    }
    with part.open("wb") as file:
        torch.save(content, file)
        file.flush()
        os.fsync(file.fileno())
    Path(part).replace(path)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint without executing its content.

    Raises:
        BaselineError: the file is missing, damaged, or no checkpoint.
    """
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise BaselineError(f"{path}: {error.strerror or error}; run uavsim-baselines train first") from error
    except Exception as error:  # errors of torch's reader for foreign bytes
        raise BaselineError(f"{path}: not a checkpoint of uavsim-baselines, or damaged") from error
    try:
        read = _Content.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "content"
        raise BaselineError(
            f"{path}: not a checkpoint of uavsim-baselines, or of another version: {key}: {first['msg']}"
        ) from None
    return Checkpoint(parse_config(read.config, source=str(path)), read.step, read.model, read.optimiser)


def detector_of(checkpoint: Checkpoint, *, source: Path) -> Detector:
    """Return the network with its weights.

    Raises:
        BaselineError: the weights belong to another network.
    """
    detector = Detector(checkpoint.config)
    try:
        detector.load_state_dict(checkpoint.model)
    except RuntimeError as error:
        raise BaselineError(f"{source}: weights do not fit the model of its configuration") from error
    return detector


def go_on(checkpoint: Checkpoint, detector: Detector, optimiser: torch.optim.Optimizer, *, source: Path) -> None:
    """Restore a checkpoint's weights and optimiser state.

    Raises:
        BaselineError: the checkpoint belongs to another network.
    """
    try:
        detector.load_state_dict(checkpoint.model)
        optimiser.load_state_dict(checkpoint.optimiser)
    except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BaselineError(
            f"{source}: weights or optimiser state do not fit the model of its configuration"
        ) from error


def require_same(checkpoint: Checkpoint, config: Config, *, source: Path) -> None:
    """Refuse to resume another model; only steps, intervals, device, threads and the dataset's folder may differ.

    Raises:
        BaselineError: a part differs; the message names the first one.
    """
    old, new = checkpoint.config.model_dump(mode="json"), config.model_dump(mode="json")
    for content in (old, new):
        for free in ("steps", "log_every", "checkpoint_every", "device", "threads"):
            del content["training"][free]
        del content["data"]["folder"]
    for part in old:
        inner = [k for k in old[part] if old[part][k] != new[part][k]] if isinstance(old[part], dict) else []
        if old[part] != new[part]:
            key = f"{part}.{inner[0]}" if inner else part
            raise BaselineError(
                f"{source}: belongs to another model: {key} differs; restore its value, or choose another --out"
            )
