"""Faults on demand: what shall go wrong, in YAML, seeded, so that a test can ask for the same misfortune again.

```yaml
seed: 7                        # for `probability`
faults:
  - fault: drop_frame          # a sensor's frame never leaves the server
    sensor: sensor.camera.rgb  # blueprint pattern; default sensor.camera.*
    camera: 3                  # only the camera that was spawned as number 3 (0, 1, ...)
    tick: 12                   # 12, [12, 15] or "10-20": synchronous ticks since the server started
  - fault: delay_frame         # it leaves `ticks` ticks late
    ticks: 2
    probability: 0.01          # of each frame that the selectors take
    count: 5                   # at most so often
  - fault: duplicate_frame     # it leaves twice
  - fault: reorder_frames      # it leaves after the next one
  - fault: wrong_frame_number  # its header says frame + `offset`
    offset: -1
  - fault: stale_pose          # its header (AirSim: the answer) says where the camera was the frame before
  - fault: nan_pose            # sensors: in the header; other actors: in the snapshot
    blueprint: vehicle.*       # pattern
  - fault: lose_actor          # it is destroyed right before that tick
    blueprint: vehicle.*
    carries: true              # only those that sensors are attached to
  - fault: neon_image          # an RGB image shows neon colours, as of a card whose memory is full (carla issue 5801)
  - fault: cut_stream          # the connection of a sensor's stream is closed (`sensor: world` is the snapshots')
  - fault: cut_rpc             # the connection is closed instead of an answer
    call: tick_cue             # pattern of the method
  - fault: stall               # nothing is answered for so long
    seconds: 30
    call: apply_batch
    nth: 3                     # only the third time that the selectors agree; a number or a list
  - fault: die                 # the process kills itself right before that tick (with `exit_code`: it exits)
    tick: 100
    once_file: died.txt        # only while this file does not exist; it is made when the fault fires
  - fault: refuse_spawn        # a spawn is answered with an error
    blueprint: vehicle.*
    probability: 0.2
  - fault: stall_traffic       # a vehicle stands from its first tick on that the selectors agree to, whatever is asked of it
    blueprint: vehicle.*
    tick: 40-100000            # those that drive when tick 40 comes
    probability: 0.8           # of each vehicle
    count: 60                  # so many vehicles: the first scene's
    once_file: stood.txt       # made by the first of them; another server finds it and lets all drive
  - fault: untagged            # masks look through the town's meshes of one of CARLA's classes; RGB and depth do not
    tag: Terrain
  - fault: wrong_version
    version: 0.9.15
  - fault: wrong_map           # the map calls itself `name`
    name: Town99
  - fault: stall               # AirSim's port: stall, cut_rpc, drop_frame, duplicate_frame, reorder_frames, stale_pose,
    server: airsim             # nan_pose and those below; `call` and `nth` select, `vehicle` is the drone's name (pattern)
    call: simGetImages
    seconds: 5
  - {fault: stale_pixels, server: airsim}   # pixels of the vehicle's last images from elsewhere, poses of now
  - {fault: other_vehicle, server: airsim}  # pixels of another vehicle's last images, poses of this one
  - {fault: late_answer, server: airsim, call: simGetImages, ticks: 2}  # a call misses so many frames (--merged-engine)
  - {fault: pause_leak, server: airsim, call: simGetImages}  # a paused world moves in the next `ticks` ticks all the same
```

A relative ``once_file`` is beside the YAML file.
"""

from __future__ import annotations

import fnmatch
import hashlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from headless_simulator.errors import CallRefused
from headless_simulator.scene import TAG

__all__ = ["Delivery", "Fault", "Faults", "FaultsError", "SpawnFault", "read_faults"]

_FRAME_FAULTS: Final = (
    "drop_frame",
    "delay_frame",
    "duplicate_frame",
    "reorder_frames",
    "wrong_frame_number",
    "stale_pose",
    "neon_image",
    "cut_stream",
)
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
    """A faults file that cannot be used; the text is one line."""


class SpawnFault(CallRefused):
    """A spawn that is refused on purpose."""


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
    """Read the name of one of CARLA's classes as its number."""
    numbers = {name.replace("_", ""): number for name, number in TAG.items()}
    if str(value).casefold() not in numbers:
        raise ValueError(f"no class {value!r}; there are {', '.join(numbers)}")
    return numbers[str(value).casefold()]


Numbers = Annotated[frozenset[int], BeforeValidator(_numbers)]
Tag = Annotated[int, BeforeValidator(_tag)]


class Fault(BaseModel):
    """One entry of the file; the module's docstring explains the fields."""

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
            raise ValueError(f"{self.fault} is not for AirSim's port; {', '.join(_AIRSIM)} are")
        if self.server == "carla" and self.fault in _AIRSIM_ALONE:
            raise ValueError(f"{self.fault} is for AirSim's port: add 'server: airsim'")
        return self


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    faults: tuple[Fault, ...] = ()


def read_faults(path: Path) -> Faults:
    """Read a faults file.

    Raises:
        FaultsError: the file is not there, or an entry is wrong; one line with the entry and the key.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise FaultsError(f"{path}: {problem}") from problem
    except yaml.YAMLError as problem:
        raise FaultsError(f"{path}: {' '.join(str(problem).split())}") from problem
    try:
        file = _File.model_validate(raw or {})
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FaultsError(f"{path}: {where or 'file'}: {first['msg']}") from None
    return Faults(file.faults, seed=file.seed, folder=path.parent)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a sensor's frame: what its header says, how many ticks late it leaves, and whether it is spoiled."""

    stamp: Any
    delay_ticks: int = 0
    is_neon: bool = False


@dataclass(slots=True, eq=False)
class _Armed:
    """A fault and how often it was met and fired."""

    fault: Fault
    number: int
    met: int = 0
    fired: int = 0


class Faults:
    """The faults on purpose; none by default.

    Args:
        faults: entries.
        seed: for their probabilities.
        folder: where relative ``once_file`` paths lie.
    """

    def __init__(self, faults: tuple[Fault, ...] = (), *, seed: int = 0, folder: Path | None = None) -> None:
        self._armed = [_Armed(fault, number) for number, fault in enumerate(faults)]
        self._seed, self._folder = seed, folder or Path()
        self._lock = threading.Lock()
        self._tick = 0
        self._stalled_until_s = 0.0
        self._last_pose: dict[int, Any] = {}
        self._stands: dict[tuple[int, int, int], bool] = {}  # entry, episode, actor: what was decided of it

    def of_server(self, server: str, *kinds: str) -> list[_Armed]:
        """Armed entries of one server and some kinds."""
        return [armed for armed in self._armed if armed.fault.server == server and armed.fault.fault in kinds]

    def fires(self, armed: _Armed, *, key: object = "") -> bool:
        """Decide whether an entry whose patterns agree fires now, and note it."""
        fault = armed.fault
        with self._lock:
            if fault.tick is not None and fault.server == "carla" and self._tick not in fault.tick:
                return False
            armed.met += 1
            if fault.nth is not None and armed.met not in fault.nth:
                return False
            if fault.count is not None and armed.fired >= fault.count:
                return False
            if fault.probability < 1 and self._chance(armed.number, key, armed.met) >= fault.probability:
                return False
            is_claimed = fault.fault == "stall_traffic" and armed.fired  # the file is of its first vehicle
            if fault.once_file is not None and not is_claimed and not self._claim(fault.once_file):
                return False
            armed.fired += 1
            return True

    def report(self) -> str | None:
        """One line that counts the faults that were made, None without any."""
        counted: dict[str, int] = {}
        for armed in self._armed:
            counted[armed.fault.fault] = counted.get(armed.fault.fault, 0) + armed.fired
        made = [f"{kind} x{count}" for kind, count in sorted(counted.items()) if count]
        return "faults: " + ", ".join(made) if made else None

    def _chance(self, *key: object) -> float:
        digest = hashlib.blake2b(repr((self._seed, self._tick, *key)).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64

    def _claim(self, path: Path) -> bool:
        try:
            (self._folder / path).open("x").close()
        except FileExistsError:
            return False
        return True

    # ------------------------------------------------------------------ CARLA's port
    def version(self, true: str) -> str:
        """Version that is reported."""
        return self._reported("wrong_version", "version", true)

    def map_name(self, true: str) -> str:
        """Map name that is reported."""
        return self._reported("wrong_map", "name", true)

    def _reported(self, kind: str, key: str, true: str) -> str:
        for armed in self.of_server("carla", kind):
            if self.fires(armed):
                return str(getattr(armed.fault, key))
        return true

    def before_call(self, name: str, *, server: str = "carla", vehicle: str = "") -> None:
        """Run before an RPC is answered: may wait.

        Raises:
            ConnectionAbortedError: the connection is to be closed instead.
        """
        if not self._armed:
            return
        for armed in self.of_server(server, "stall", "cut_rpc"):
            fault = armed.fault
            if not fnmatch.fnmatchcase(name, fault.call) or not fnmatch.fnmatchcase(vehicle, fault.vehicle):
                continue
            if self.fires(armed):
                if fault.fault == "cut_rpc":
                    raise ConnectionAbortedError(f"cut on purpose at {name}")
                assert fault.seconds is not None
                self._stalled_until_s = max(self._stalled_until_s, time.monotonic() + fault.seconds)
        rest_s = self._stalled_until_s - time.monotonic()
        if rest_s > 0:
            time.sleep(rest_s)

    def before_tick(self, *, synchronous: bool) -> None:
        """Count a tick, and die if this is the one."""
        self._tick += synchronous
        for armed in self.of_server("carla", "die"):
            if self.fires(armed):
                if armed.fault.exit_code is not None:
                    os._exit(armed.fault.exit_code)
                os.kill(os.getpid(), signal.SIGKILL)

    def before_spawn(self, blueprint: str) -> None:
        """Run before a spawn.

        Raises:
            SpawnFault: it is refused.
        """
        for armed in self.of_server("carla", "refuse_spawn"):
            if fnmatch.fnmatchcase(blueprint, armed.fault.blueprint) and self.fires(armed):
                raise SpawnFault("Spawn failed because of collision at spawn position")

    def spoils(self, actor_id: int, blueprint: str) -> bool:
        """Return whether an actor's pose in this tick's snapshot is to be no number."""
        return any(
            fnmatch.fnmatchcase(blueprint, armed.fault.blueprint) and self.fires(armed, key=actor_id)
            for armed in self.of_server("carla", "nan_pose")
        )

    @property
    def spoils_poses(self) -> bool:
        """Return whether ``spoils`` has to be asked at all."""
        return bool(self.of_server("carla", "nan_pose"))

    def loses(self, actor_id: int, blueprint: str, *, carries: bool) -> bool:
        """Return whether an actor is to be destroyed before this tick; ``carries``: sensors are attached to it."""
        return any(
            fnmatch.fnmatchcase(blueprint, armed.fault.blueprint)
            and carries >= armed.fault.carries
            and self.fires(armed, key=actor_id)
            for armed in self.of_server("carla", "lose_actor")
        )

    def stalls(self, actor_id: int, blueprint: str, *, episode: int) -> bool:
        """Return whether a vehicle stands still; decided once, in the first tick that an entry selects."""
        entries = self.of_server("carla", "stall_traffic")
        return any([self._stalls(armed, actor_id, blueprint, episode) for armed in entries])

    def _stalls(self, armed: _Armed, actor_id: int, blueprint: str, episode: int) -> bool:
        fault, key = armed.fault, (armed.number, episode, actor_id)
        if key not in self._stands:
            is_selected = fault.tick is None or self._tick in fault.tick
            if not is_selected or not fnmatch.fnmatchcase(blueprint, fault.blueprint):
                return False
            self._stands[key] = self.fires(armed, key=actor_id)
        return self._stands[key]

    def cuts_stream(self, actor_id: int, blueprint: str, camera: int | None) -> bool:
        """Return whether a stream's connection is to be closed at this tick."""
        return any(
            self._takes(armed.fault, blueprint, camera) and self.fires(armed, key=actor_id)
            for armed in self.of_server("carla", "cut_stream")
        )

    def untagged(self, actor_id: int, blueprint: str, camera: int | None) -> frozenset[int]:
        """Return the classes that a camera of tags looks through at this tick."""
        return frozenset(
            armed.fault.tag
            for armed in self.of_server("carla", "untagged")
            if armed.fault.tag is not None
            and self._takes(armed.fault, blueprint, camera)
            and self.fires(armed, key=actor_id)
        )

    def frames(self, actor_id: int, blueprint: str, camera: int | None, stamp: Any) -> list[Delivery]:
        """Deliveries of one sensor's frame; called for each sensor in the order of spawning."""
        if not self._armed:
            return [Delivery(stamp)]
        deliveries = [Delivery(stamp)]
        for armed in self.of_server("carla", *_FRAME_FAULTS):
            kind = armed.fault.fault
            if kind != "cut_stream" and self._takes(armed.fault, blueprint, camera) and self.fires(armed, key=actor_id):
                deliveries = list(self._bent(deliveries, armed.fault, self._last_pose.get(actor_id, stamp.pose)))
        if self.spoils_poses and self.spoils(actor_id, blueprint):
            deliveries = [
                replace(delivery, stamp=replace(delivery.stamp, pose=(math.nan,) * 6)) for delivery in deliveries
            ]
        self._last_pose[actor_id] = stamp.pose
        return deliveries

    @staticmethod
    def _takes(fault: Fault, blueprint: str, camera: int | None) -> bool:
        return fnmatch.fnmatchcase(blueprint, fault.sensor) and (fault.camera is None or fault.camera == camera)

    @staticmethod
    def _bent(deliveries: list[Delivery], fault: Fault, last_pose: Any) -> Iterator[Delivery]:
        for delivery in deliveries:
            if fault.fault == "drop_frame":
                continue
            if fault.fault == "delay_frame":
                yield replace(delivery, delay_ticks=fault.ticks)
            elif fault.fault == "reorder_frames":
                yield replace(delivery, delay_ticks=1)
            elif fault.fault == "wrong_frame_number":
                frame = max(0, delivery.stamp.frame + fault.offset)
                yield replace(delivery, stamp=replace(delivery.stamp, frame=frame))
            elif fault.fault == "stale_pose":
                yield replace(delivery, stamp=replace(delivery.stamp, pose=last_pose))
            elif fault.fault == "neon_image":
                yield replace(delivery, is_neon=True)
            else:
                yield delivery
                yield delivery
