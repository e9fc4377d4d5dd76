"""Fault injection files: seeded faults in YAML, reproducible in tests.

```yaml
seed: 7                        # for `probability`
faults:
  - fault: drop_frame          # a sensor's frame is not sent
    sensor: sensor.camera.rgb  # blueprint pattern; default sensor.camera.*
    camera: 3                  # only the camera that was spawned as number 3 (0, 1, ...)
    tick: 12                   # 12, [12, 15] or "10-20": synchronous ticks since the server started
  - fault: delay_frame         # a frame is sent `ticks` ticks late
    ticks: 2
    probability: 0.01          # per selected frame
    count: 5                   # largest number of faults
  - fault: duplicate_frame     # a frame is sent twice
  - fault: reorder_frames      # a frame is sent after the next one
  - fault: wrong_frame_number  # the header has frame + `offset`
    offset: -1
  - fault: stale_pose          # the header (AirSim: the answer) has the camera pose of the previous frame
  - fault: nan_pose            # sensors: in the header; other actors: in the snapshot
    blueprint: vehicle.*       # pattern
  - fault: lose_actor          # an actor is destroyed before that tick
    blueprint: vehicle.*
    carries: true              # only actors with attached sensors
  - fault: neon_image          # an RGB image has neon colours, as from a GPU with full memory (carla issue 5801)
  - fault: cut_stream          # the connection of a sensor's stream is closed (`sensor: world` is the snapshots')
  - fault: cut_rpc             # the connection is closed instead of an answer
    call: tick_cue             # pattern of the method
  - fault: stall               # no call is answered for `seconds`
    seconds: 30
    call: apply_batch
    nth: 3                     # only the third match of the selectors; a number or a list
  - fault: die                 # the process kills itself before that tick (with `exit_code`: it exits)
    tick: 100
    once_file: died.txt        # only while this file does not exist; the fault creates it
  - fault: refuse_spawn        # a spawn is answered with an error
    blueprint: vehicle.*
    probability: 0.2
  - fault: stall_traffic       # a vehicle stops at its first selected tick and ignores all commands
    blueprint: vehicle.*
    tick: 40-100000            # vehicles that exist at tick 40
    probability: 0.8           # per vehicle
    count: 60                  # number of vehicles: those of the first scene
    once_file: stood.txt       # created by the first vehicle; a later server finds it and stops none
  - fault: untagged            # masks omit the town's meshes of one semantic tag; RGB and depth do not
    tag: Terrain
  - fault: wrong_version
    version: 0.9.15
  - fault: wrong_map           # the reported map name is `name`
    name: Town99
  - fault: stall               # AirSim's port: stall, cut_rpc, drop_frame, duplicate_frame, reorder_frames, stale_pose,
    server: airsim             # nan_pose and those below; `call` and `nth` select, `vehicle` is the drone's name (pattern)
    call: simGetImages
    seconds: 5
  - {fault: stale_pixels, server: airsim}   # pixels of the vehicle's last images at another pose, current poses
  - {fault: other_vehicle, server: airsim}  # pixels of another vehicle's last images, poses of this one
  - {fault: late_answer, server: airsim, call: simGetImages, ticks: 2}  # a call is `ticks` frames late (--merged-engine)
  - {fault: pause_leak, server: airsim, call: simGetImages}  # a paused world moves in the next `ticks` ticks
```

A relative ``once_file`` is relative to the YAML file's folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from headless_simulator.scene import TAG

__all__ = ["Fault", "FaultFile", "FaultsError", "read_fault_file"]

Kind = Literal[
    "drop_frame", "delay_frame", "duplicate_frame", "reorder_frames", "wrong_frame_number", "stale_pose", "cut_stream",
    "neon_image", "nan_pose", "lose_actor", "stall_traffic", "untagged", "cut_rpc", "stall", "die", "refuse_spawn",
    "wrong_version", "wrong_map",
    "stale_pixels", "other_vehicle", "late_answer", "pause_leak",
]  # fmt: skip
_NEEDS: Final[Mapping[str, str]] = {
    "stall": "seconds",
    "die": "tick",
    "wrong_version": "version",
    "wrong_map": "name",
    "untagged": "tag",
}
_AIRSIM_ALONE: Final = ("stale_pixels", "other_vehicle", "late_answer", "pause_leak")
_AIRSIM: Final = (
    "stall", "cut_rpc", "drop_frame", "duplicate_frame", "reorder_frames", "stale_pose", "nan_pose", *_AIRSIM_ALONE,
)  # fmt: skip


class FaultsError(ValueError):
    """An invalid faults file; the message is one line."""


def _numbers(value: Any) -> Any:
    """Read 12, [12, 15] or "10-20" as a set of numbers."""
    if isinstance(value, str) and value.count("-") == 1:
        low, high = value.split("-")
        if low.strip().isdigit() and high.strip().isdigit() and int(high) - int(low) <= 1_000_000:
            return frozenset(range(int(low), int(high) + 1))
    if isinstance(value, int) and not isinstance(value, bool):
        return frozenset((value,))
    return value


def _tag(value: Any) -> Any:
    """Read a semantic tag's name as its number."""
    numbers = {name.replace("_", ""): number for name, number in TAG.items()}
    if str(value).casefold() not in numbers:
        raise ValueError(f"unknown class {value!r}; use one of {', '.join(numbers)}")
    return numbers[str(value).casefold()]


Numbers = Annotated[frozenset[int], BeforeValidator(_numbers)]
Tag = Annotated[int, BeforeValidator(_tag)]


class Fault(BaseModel):
    """One entry of the file; the module docstring describes the fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: Kind
    server: Literal["carla", "airsim"] = "carla"
    sensor: str = "sensor.camera.*"
    camera: int | None = Field(default=None, ge=0)
    blueprint: str = "*"
    carries: bool = False
    call: str = "*"
    vehicle: str = "*"
    tick: Numbers | None = None
    nth: Numbers | None = None
    probability: float = Field(default=1.0, ge=0, le=1)
    count: int | None = Field(default=None, ge=1)
    once_file: Path | None = None
    ticks: int = Field(default=1, ge=1, le=1000)
    offset: int = -1
    seconds: float | None = Field(default=None, gt=0)
    exit_code: int | None = None
    version: str | None = None
    name: str | None = None
    tag: Tag | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Fault:
        needed = _NEEDS.get(self.fault)
        if needed and getattr(self, needed) is None:
            raise ValueError(f"{self.fault} needs {needed!r}")
        if self.server == "airsim" and self.fault not in _AIRSIM:
            raise ValueError(f"{self.fault} does not apply to AirSim's port; use one of {', '.join(_AIRSIM)}")
        if self.server == "carla" and self.fault in _AIRSIM_ALONE:
            raise ValueError(f"{self.fault} applies to AirSim's port only: add 'server: airsim'")
        return self


class FaultFile(BaseModel):
    """The file.

    Attributes:
        seed: seed of ``probability``.
        faults: entries in file order.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    faults: tuple[Fault, ...] = ()


def read_fault_file(path: Path) -> FaultFile:
    """Read a faults file.

    Raises:
        FaultsError: the file is missing, or an entry is invalid; one line with the entry and the key.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise FaultsError(f"{path}: {problem}") from problem
    except yaml.YAMLError as problem:
        raise FaultsError(f"{path}: {' '.join(str(problem).split())}") from problem
    try:
        return FaultFile.model_validate(raw or {})
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FaultsError(f"{path}: {where or 'file'}: {first['msg']}") from None
