"""The capture loop with a minimal simulator."""

from __future__ import annotations

import json
import time
import weakref
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.capture.poses import planned_swarm
from tests.capture.test_recording_writer import INFOS, PLAN, STATES, _images
from tools.common.plans import scene_plan
from uavsim.capture import recording_writer
from uavsim.capture.record import record_scene
from uavsim.capture.recording_reader import BUILDINGS_NAME, LOG_NAME, ROADS_NAME, read_recording
from uavsim.errors import MissedTick, StorageError
from uavsim.images import codec
from uavsim.ingredients.town_maps import MapsPlan
from uavsim.records.plan import ScenePlan
from uavsim.records.road_map import Building
from uavsim.simulate.ports import Reading, ReadyReadings, SceneTraffic, TickState

ROADS = "<OpenDRIVE><header><geoReference>+lat_0=48.5 +lon_0=-9.25</geoReference></header></OpenDRIVE>"


class Simulator:
    """Returns distinct images for each capture; at the steps in ``broken``, two cameras have equal images."""

    def __init__(self, broken: tuple[int, ...] = ()) -> None:
        self.broken = broken
        self.swarm = planned_swarm(PLAN)
        self.world = SimpleNamespace(
            kind="mock",
            client_version="0.9.16",
            server_version="0.9.16",
            drivable=lambda: np.zeros((0, 4, 2)),
            opendrive=lambda: ROADS,
        )
        self.topology = "carla"
        self.sensors = SimpleNamespace(images_drawn=0)
        self.taken: list[list[Reading]] = []

    def begin_scene(self, plan: Any, *, heartbeat: Any) -> tuple[Simulator, SceneTraffic]:
        del plan, heartbeat
        return self, SceneTraffic(INFOS, {"vehicles": (2, 2)})

    def warm_up(self, *, poses_of: Any) -> None:
        """Have no traffic."""

    def capture(self, step: int, *, poses_of: Any) -> tuple[Any, ...]:
        drones = self.swarm.advance(step)
        readings = _images(seed=step + 1)
        if step in self.broken:
            readings[4] = Reading(readings[4].channel, "rgb", readings[0].data)
        self.taken.append(readings)
        return (
            drones,
            poses_of(drones, PLAN.sensors),
            TickState(77 + step, step * 0.05, lambda: STATES),
            ReadyReadings(readings),
        )

    def motion(self) -> None:
        return None

    def moved(self) -> dict[str, tuple[int, int]]:
        return {"moved_in_scene": (9, 7)}

    def weather_now(self) -> tuple[float, ...]:
        return (0.5,) * 14


def fly(simulator: Simulator, folder: Path, plan: ScenePlan = PLAN) -> list[tuple[int, int]]:
    reported: list[tuple[int, int]] = []
    record_scene(
        cast("Any", simulator),
        plan,
        folder,
        heartbeat=lambda _phase, _tick: None,
        sample_taken=lambda samples, images: reported.append((samples, images)),
    )
    return reported


@pytest.mark.parametrize("buildings", [False, True])
def test_town_data_of_ingredients_is_recorded(tmp_path: Path, buildings: bool) -> None:
    simulator = Simulator()
    house = Building("house", 0.0, 9.5, ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)))
    simulator.world.buildings = lambda: [house]
    maps = MapsPlan(("expansion",), buildings=buildings)
    fly(simulator, tmp_path / "rec", replace(PLAN, ingredients={"town_maps": maps}))
    assert (tmp_path / "rec" / ROADS_NAME).read_text() == ROADS
    listed = tmp_path / "rec" / BUILDINGS_NAME
    rows = json.loads(listed.read_text()) if listed.exists() else []
    assert [Building(**row).top_map_m for row in rows] == [9.5] * buildings


def test_captures_are_recorded_with_their_own_images(tmp_path: Path) -> None:
    simulator = Simulator()
    cameras = len(PLAN.channels)
    reported = fly(simulator, tmp_path / "rec")
    assert reported == sorted(reported)
    assert reported[-1] == (2, 2 * cameras)
    recording = read_recording(tmp_path / "rec")
    assert recording.facts.origin_deg_m == (48.5, -9.25, 0.0)
    assert [(f.step, f.sample_index, f.simulator_frame) for f in recording.frames] == [(0, 0, 77), (10, 1, 87)]
    for frame, readings in zip(recording.frames, simulator.taken, strict=True):
        images = {r.channel: r.data for r in readings if r.modality == "rgb"}
        for shot in frame.readings:
            pixels = codec.decode_rgb(recording.folder / shot.files["rgb"])
            np.testing.assert_array_equal(pixels, images[shot.channel][..., 2::-1])


def test_refused_capture_ends_the_scene(tmp_path: Path) -> None:
    for broken in PLAN.capture_steps:  # also the last, behind which no other capture follows
        with pytest.raises(MissedTick, match="same image"):
            fly(Simulator(broken=(broken,)), tmp_path / str(broken))
        assert not (tmp_path / str(broken) / LOG_NAME).exists()


class HungrySimulator(Simulator):
    """Counts the images of earlier captures in memory before each capture."""

    def __init__(self, plan: ScenePlan) -> None:
        super().__init__()
        self.swarm = planned_swarm(plan)
        self.images: list[weakref.ref[np.ndarray]] = []
        self.alive: list[int] = []

    def warm_up(self, *, poses_of: Any) -> None:
        """Have no traffic."""

    def capture(self, step: int, *, poses_of: Any) -> tuple[Any, ...]:
        drones = self.swarm.advance(step)
        poses = poses_of(drones, PLAN.sensors)
        self.alive.append(sum(image() is not None for image in self.images))
        readings = _images(seed=step + 1)
        self.images += [weakref.ref(reading.data) for reading in readings]
        return drones, poses, TickState(77 + step, step * 0.05, lambda: STATES), ReadyReadings(readings)


def test_at_most_two_captures_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*arguments: Any) -> None:
        time.sleep(0.02)  # an encoder slower than the simulator: images must not accumulate
        write(*arguments)

    write = recording_writer._write_data
    monkeypatch.setattr(recording_writer, "_write_data", slow)
    plan = scene_plan(samples=6)
    simulator = HungrySimulator(plan)

    fly(simulator, tmp_path, plan)

    assert len(simulator.alive) == 6
    assert max(simulator.alive) <= len(_images())  # those of one capture; the next ones make two


def test_write_error_ends_the_scene_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: Any) -> None:
        raise StorageError("no space left")

    monkeypatch.setattr(recording_writer, "_write_data", full)
    plan = scene_plan(samples=6)
    simulator = HungrySimulator(plan)

    with pytest.raises(StorageError, match="no space left"):
        fly(simulator, tmp_path, plan)

    assert 1 < len(simulator.alive) < 6  # reported at the latest with the capture after the next one
    assert not (tmp_path / LOG_NAME).exists()
