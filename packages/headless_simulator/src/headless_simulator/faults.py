"""Fault injection: decides which fault fires when; ``fault_file.py`` describes the faults."""

from __future__ import annotations

import fnmatch
import hashlib
import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from headless_simulator.errors import CallRefused
from headless_simulator.fault_file import Fault, FaultsError, read_fault_file

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


class SpawnFault(CallRefused):
    """A spawn refused by an injected fault."""


def read_faults(path: Path) -> Faults:
    """Read a faults file.

    Raises:
        FaultsError: the file is missing, or an entry is invalid; one line with the entry and the key.
    """
    file = read_fault_file(path)
    return Faults(file.faults, seed=file.seed, folder=path.parent)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a sensor's frame: its header, its delay in ticks, and whether its pixels are corrupted."""

    stamp: Any
    delay_ticks: int = 0
    is_neon: bool = False


@dataclass(slots=True, eq=False)
class _Armed:
    """A fault with the number of its matches and firings."""

    fault: Fault
    number: int
    met: int = 0
    fired: int = 0


class Faults:
    """The injected faults; none by default.

    Args:
        faults: entries of the file.
        seed: seed of the probabilities.
        folder: base of relative ``once_file`` paths.
    """

    def __init__(self, faults: tuple[Fault, ...] = (), *, seed: int = 0, folder: Path | None = None) -> None:
        self._armed = [_Armed(fault, number) for number, fault in enumerate(faults)]
        self._seed, self._folder = seed, folder or Path()
        self._lock = threading.Lock()
        self._tick = 0
        self._stalled_until_s = 0.0
        self._last_pose: dict[int, Any] = {}
        self._stands_still: dict[tuple[int, int, int], bool] = {}  # entry, episode, actor: decision

    def of_server(self, server: str, *kinds: str) -> list[_Armed]:
        """Return the armed entries of one server and some kinds."""
        return [armed for armed in self._armed if armed.fault.server == server and armed.fault.fault in kinds]

    def fires(self, armed: _Armed, *, key: object = "") -> bool:
        """Decide whether a matching entry fires, and count it."""
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
        """Return one line with the number of injected faults per kind, or None."""
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
        """Return the reported version."""
        return self._reported("wrong_version", "version", true)

    def map_name(self, true: str) -> str:
        """Return the reported map name."""
        return self._reported("wrong_map", "name", true)

    def _reported(self, kind: str, key: str, true: str) -> str:
        for armed in self.of_server("carla", kind):
            if self.fires(armed):
                return str(getattr(armed.fault, key))
        return true

    def before_call(self, name: str, *, server: str = "carla", vehicle: str = "") -> None:
        """Apply the faults of an RPC before its answer; may wait.

        Raises:
            ConnectionAbortedError: a fault closes the connection.
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
        """Count a tick, and end the process if a fault says so."""
        self._tick += synchronous
        for armed in self.of_server("carla", "die"):
            if self.fires(armed):
                if armed.fault.exit_code is not None:
                    os._exit(armed.fault.exit_code)
                os.kill(os.getpid(), signal.SIGKILL)

    def before_spawn(self, blueprint: str) -> None:
        """Apply the faults of a spawn.

        Raises:
            SpawnFault: a fault refuses the spawn.
        """
        for armed in self.of_server("carla", "refuse_spawn"):
            if fnmatch.fnmatchcase(blueprint, armed.fault.blueprint) and self.fires(armed):
                raise SpawnFault("Spawn failed because of collision at spawn position")

    def spoils(self, actor_id: int, blueprint: str) -> bool:
        """Decide whether an actor's pose in this tick's snapshot becomes NaN."""
        return any(
            fnmatch.fnmatchcase(blueprint, armed.fault.blueprint) and self.fires(armed, key=actor_id)
            for armed in self.of_server("carla", "nan_pose")
        )

    @property
    def spoils_poses(self) -> bool:
        """True if the file has an entry that can set poses to NaN."""
        return bool(self.of_server("carla", "nan_pose"))

    def loses(self, actor_id: int, blueprint: str, *, carries: bool) -> bool:
        """Decide whether an actor is destroyed before this tick; ``carries``: sensors are attached to it."""
        return any(
            fnmatch.fnmatchcase(blueprint, armed.fault.blueprint)
            and carries >= armed.fault.carries
            and self.fires(armed, key=actor_id)
            for armed in self.of_server("carla", "lose_actor")
        )

    def stalls(self, actor_id: int, blueprint: str, *, episode: int) -> bool:
        """Decide whether a vehicle stands still; decided once, in the first tick that an entry selects."""
        entries = self.of_server("carla", "stall_traffic")
        return any([self._stalls(armed, actor_id, blueprint, episode) for armed in entries])

    def _stalls(self, armed: _Armed, actor_id: int, blueprint: str, episode: int) -> bool:
        fault, key = armed.fault, (armed.number, episode, actor_id)
        if key not in self._stands_still:
            is_selected = fault.tick is None or self._tick in fault.tick
            if not is_selected or not fnmatch.fnmatchcase(blueprint, fault.blueprint):
                return False
            self._stands_still[key] = self.fires(armed, key=actor_id)
        return self._stands_still[key]

    def cuts_stream(self, actor_id: int, blueprint: str, camera: int | None) -> bool:
        """Decide whether a stream's connection is closed at this tick."""
        return any(
            self._selects(armed.fault, blueprint, camera) and self.fires(armed, key=actor_id)
            for armed in self.of_server("carla", "cut_stream")
        )

    def untagged(self, actor_id: int, blueprint: str, camera: int | None) -> frozenset[int]:
        """Return the semantic tags that a semantic camera omits at this tick."""
        return frozenset(
            armed.fault.tag
            for armed in self.of_server("carla", "untagged")
            if armed.fault.tag is not None
            and self._selects(armed.fault, blueprint, camera)
            and self.fires(armed, key=actor_id)
        )

    def frames(self, actor_id: int, blueprint: str, camera: int | None, stamp: Any) -> list[Delivery]:
        """Return the deliveries of one sensor's frame; called for each sensor in spawn order."""
        if not self._armed:
            return [Delivery(stamp)]
        deliveries = [Delivery(stamp)]
        for armed in self.of_server("carla", *_FRAME_FAULTS):
            kind = armed.fault.fault
            if (
                kind != "cut_stream"
                and self._selects(armed.fault, blueprint, camera)
                and self.fires(armed, key=actor_id)
            ):
                deliveries = list(self._with_fault(deliveries, armed.fault, self._last_pose.get(actor_id, stamp.pose)))
        if self.spoils_poses and self.spoils(actor_id, blueprint):
            deliveries = [
                replace(delivery, stamp=replace(delivery.stamp, pose=(math.nan,) * 6)) for delivery in deliveries
            ]
        self._last_pose[actor_id] = stamp.pose
        return deliveries

    @staticmethod
    def _selects(fault: Fault, blueprint: str, camera: int | None) -> bool:
        return fnmatch.fnmatchcase(blueprint, fault.sensor) and (fault.camera is None or fault.camera == camera)

    @staticmethod
    def _with_fault(deliveries: list[Delivery], fault: Fault, last_pose: Any) -> Iterator[Delivery]:
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
