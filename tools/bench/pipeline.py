"""Cost of the capture pipeline relative to image encoding alone, on captures in memory.

``python -m tools.bench.pipeline PORT`` takes captures from a simulator and prints seconds of both ways.

*Pipeline* is ``record_scene`` as in a run: it decodes masks and maps them to actors, measures boxes, and encodes and writes
images and the log. *Encoder* is ``Modality.encode`` of the same decoded arrays with as many threads of the same priority, and
writing.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from tools.bench import Row, in_own_process, simulator
from tools.common.plans import rig, scene_plan
from uavsim.capture.assemble import Assembler, Capture
from uavsim.capture.record import record_scene
from uavsim.capture.recording_writer import yield_to_client
from uavsim.capture.rig import sensor_poses
from uavsim.records.modalities import modality
from uavsim.records.plan import ImageFormat, ScenePlan
from uavsim.records.recording import DroneState
from uavsim.records.road_map import Building
from uavsim.simulate.carla import readers
from uavsim.simulate.ports import Endpoint, Heartbeat, Reading, ReadyReadings, SceneTraffic, SensorPose, TickState
from uavsim.simulate.session import Session, open_session

__all__ = ["Frame", "StoredFrames", "plan_of", "quiet", "rows", "shares"]

SIZE_PX: Final = (800, 450)
VEHICLES: Final = 200
FRAME_COUNT: Final = 4
CAPTURES: Final = 16  # of a turn: the stored frames repeated
TURNS: Final = 5
THREADS: Final = 2  # of the recording's writer
Seconds = dict[str, dict[str, list[float]]]
"""Wall-clock and processor seconds of each turn, by method."""


def rows() -> Iterator[Row]:
    """Measure both methods in turn, in one process."""
    with simulator("--town", "Town10HD", "--no-airsim") as running:
        reported: Seconds = in_own_process("tools.bench.pipeline", str(running.port))
    how = (
        f"{CAPTURES} captures of 25 RGB and 25 masks of {SIZE_PX[0]}x{SIZE_PX[1]} from memory, PNG, {THREADS} threads; "
        f"pipeline assembles, measures, encodes and writes, encoder encodes and writes; {TURNS} turns, median"
    )
    for clock in ("wall", "cpu"):
        share = shares(reported["encoder"][clock], reported["pipeline"][clock])
        yield Row(f"pipeline_share_of_encoder_{clock}", share, "share", how)
    for way in ("encoder", "pipeline"):
        yield Row(f"{way}_pairs_per_s", 25 * CAPTURES / statistics.median(reported[way]["wall"]), "pairs/s", how)


def shares(encoder_s: list[float], pipeline_s: list[float]) -> float:
    """Return the pipeline's speed relative to the encoder's: the median over adjacent turns."""
    return statistics.median(one / other for one, other in zip(encoder_s, pipeline_s, strict=True))


def main() -> None:
    """Record captures, then measure both methods in turn."""
    reported = measured(store_frames(int(sys.argv[1]), FRAME_COUNT))
    sys.stdout.write(json.dumps(reported) + "\n")
    sys.stdout.flush()
    os._exit(0)  # libcarla's threads may hang in destructors


def measured(source: "StoredFrames") -> Seconds:
    """Run each method in turn, with a warm-up turn first."""
    plan = plan_of(len(source.frames))
    captures = [capture for joined in source.captures(plan) for capture in joined]
    captures = [captures[k % len(captures)] for k in range(25 * CAPTURES)]
    ways: dict[str, Callable[[Path], None]] = {
        "encoder": lambda folder: encode(captures, plan.images, folder),
        "pipeline": lambda folder: record(source, folder),
    }
    reported: Seconds = {name: {"wall": [], "cpu": []} for name in ways}
    # No deletion between the turns: afterwards ext4 creates files slowly for minutes.
    with tempfile.TemporaryDirectory(dir=os.environ.get("UAVSIM_BENCH_FOLDER")) as work:
        for turn in range(TURNS + 1):
            for name, way in ways.items():
                folder = Path(work, f"{turn}_{name}")
                folder.mkdir()
                wall, cpu = time.perf_counter(), time.process_time()
                way(folder)
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                if turn:
                    reported[name]["wall"].append(wall)
                    reported[name]["cpu"].append(cpu)
    return reported


def record(source: "StoredFrames", folder: Path) -> None:
    """Record a scene of the stored captures as the client worker does."""
    plan = plan_of(CAPTURES)
    record_scene(
        source.session(plan),
        plan,
        folder / "recording",
        heartbeat=quiet,
        sample_taken=lambda _samples, _images: None,
    )


def encode(captures: list[Capture], images: ImageFormat, folder: Path) -> None:
    """Encode every array, a camera's at a time, and write it."""

    def camera(number: int, capture: Capture) -> None:
        for name, value in capture.data.items():
            (folder / f"{number}_{name}").write_bytes(modality(name).encode(value, images))

    with ThreadPoolExecutor(THREADS, initializer=yield_to_client) as threads:
        for done in [threads.submit(camera, number, capture) for number, capture in enumerate(captures)]:
            done.result()


def quiet(_phase: str, _tick: int) -> None:
    """Ignore a heartbeat."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One capture's data."""

    drones: tuple[DroneState, ...]
    state: TickState
    readings: list[Reading]


def plan_of(captures: int) -> ScenePlan:
    """Plan a capture at every tick, all of them keyframes: five drones with five cameras of 800x450."""
    plan = scene_plan(samples=captures, vehicles=VEHICLES, cameras=rig(width=SIZE_PX[0], height=SIZE_PX[1]))
    swarm = replace(plan.swarm, map_SE3_flu=plan.swarm.map_SE3_flu[:captures])
    return replace(plan, keyframe_every_steps=1, swarm=swarm)


@dataclass(frozen=True, slots=True)
class StoredFrames:
    """The captures of one flight."""

    frames: tuple[Frame, ...]
    traffic: SceneTraffic
    drivable: Any

    def session(self, plan: ScenePlan) -> Session:
        """Return a session for ``plan`` that repeats these captures."""
        player = _Player(self, plan)
        return Session("carla", player, player, player)

    def captures(self, plan: ScenePlan) -> list[list[Capture]]:
        """Return the captures with decoded masks and instance ids."""
        assembler = Assembler(plan, self.traffic.actors)
        return [
            assembler.assemble(sensor_poses(plan, frame.drones), frame.readings, frame.state.actors, first=number == 0)
            for number, frame in enumerate(self.frames)
        ]


def store_frames(port: int, count: int) -> StoredFrames:
    """Fly in the simulator at a port and keep ``count`` captures with encoded masks."""
    readers.INSTANCE = replace(readers.INSTANCE, read=readers.bgra, copy=lambda image, _: image)  # type: ignore[misc]
    plan = plan_of(count)
    session = open_session("carla", {"carla": Endpoint("127.0.0.1", port)})
    lockstep, traffic = session.begin_scene(plan, heartbeat=quiet)
    frames = []
    lockstep.warm_up(poses_of=partial(sensor_poses, plan))
    for step in plan.capture_steps:
        agents, _, state, pending = lockstep.capture(step, poses_of=partial(sensor_poses, plan))
        drones = tuple(agent for agent in agents if isinstance(agent, DroneState))
        frames.append(Frame(drones, _reported(state), pending.wait()))
    return StoredFrames(tuple(frames), traffic, session.world.drivable())


def _reported(state: TickState) -> TickState:
    actors = state.actors
    return replace(state, lazy_actors=lambda: actors, motion=None)


class _Player:
    """World, swarm and cameras that play stored captures."""

    kind = "mock"
    client_version = server_version = "0.9.16"
    map_name = "Town10HD"

    def __init__(self, source: StoredFrames, plan: ScenePlan) -> None:
        self._source, self._plan, self._step = source, plan, -1

    def _frame(self) -> Frame:
        return self._source.frames[self._step % len(self._source.frames)]

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Do nothing."""

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        """Return the traffic of the flight."""
        del plan, heartbeat
        return self._source.traffic

    def begin(
        self, plan: ScenePlan, *, heartbeat: Heartbeat | None = None, traffic: SceneTraffic | None = None
    ) -> None:
        """Do nothing."""

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        """Do nothing."""

    def set_weather(self, values: Sequence[float]) -> None:
        """Do nothing."""

    def tick(self, *, captured: bool) -> TickState:
        """Return the state of the current capture."""
        del captured
        return replace(self._frame().state, elapsed_s=self._step * self._plan.step_us / 1e6)

    def drivable(self) -> Any:
        """Return the lanes of the flight's town."""
        return np.asarray(self._source.drivable)

    def opendrive(self) -> str:
        """Return an empty map."""
        return ""

    def buildings(self) -> list[Building]:
        """Return no buildings."""
        return []

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """Return the recorded drones of a step."""
        self._step = step
        return self._frame().drones

    images_drawn = 0

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def collect(self, state: TickState) -> ReadyReadings:
        """Return the capture's images."""
        del state
        return ReadyReadings(self._frame().readings)

    def close(self) -> None:
        """Do nothing."""


if __name__ == "__main__":
    main()
