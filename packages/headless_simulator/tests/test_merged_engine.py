"""Both ports on one world, as in a merged build: AirSim's calls return within CARLA's ticks, from plain sockets."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass
from typing import Any

import msgpackrpc
import numpy as np
import pytest
from headless_simulator.airsim import AirSimServer, read_settings
from headless_simulator.carla.server import CarlaServer
from headless_simulator.faults import Faults
from headless_simulator.models import ModelLibrary
from headless_simulator.rendering import Rendering
from headless_simulator.towns.library import TownLibrary
from headless_simulator.world.actors import SpawnOrder
from headless_simulator.world.game_thread import EngineRules, GameThread
from headless_simulator.world.world import World

from tests.world.paper_town import NoRenderer, town

WAITS_S, ANSWERS_S = 0.3, 30.0
SYNCHRONOUS = [True, False, [True, 0.05], True, 0.01, 10, 0.0, True, 3000.0, 2000.0, True]
IMAGE = {"camera_name": "front_center", "image_type": 0, "pixels_as_float": False, "compress": False}
POSE = {
    "position": {"x_val": 3.0, "y_val": 4.0, "z_val": -50.0},
    "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0},
}


@dataclass
class Merged:
    world: World
    carla_port: int
    airsim_port: int
    threads: ThreadPoolExecutor

    def airsim(self, method: str, *arguments: Any) -> Future[Any]:
        """Call in a thread with a new client."""

        def call() -> Any:
            client = msgpackrpc.Client(msgpackrpc.Address("127.0.0.1", self.airsim_port), timeout=60)
            try:
                return client.call(method, *arguments)
            finally:
                client.close()

        return self.threads.submit(call)

    def carla(self, method: str, *arguments: Any) -> Any:
        client = msgpackrpc.Client(msgpackrpc.Address("127.0.0.1", self.carla_port), timeout=60)
        try:
            return client.call(method, [False], *arguments)
        finally:
            client.close()

    def waits(self, pending: Future[Any]) -> bool:
        """Return whether a call waits for a tick."""
        try:
            pending.result(timeout=WAITS_S)
        except TimeoutError:
            return True
        return False

    def until_it_waits(self) -> None:
        while not self.world.game_thread.waiting:
            pass


Start = Callable[..., Merged]


@pytest.fixture
def start() -> Iterator[Start]:
    opened: list[Any] = []

    def begin(*, rules: EngineRules = EngineRules(waits_for_tick=True)) -> Merged:  # noqa: B008
        world = World(town(), models=ModelLibrary(), renderer_of=lambda _: NoRenderer())
        world.game_thread = GameThread(rules)
        flat = Rendering(flat=True)
        carla = CarlaServer(world, towns=TownLibrary(seed=0), faults=Faults(), rendering=flat)
        airsim = AirSimServer(world, read_settings("{}"), rendering=flat, game_thread=world.game_thread)
        threads = ThreadPoolExecutor(4)
        merged = Merged(world, carla.start(0), airsim.start(), threads)
        merged.carla("set_episode_settings", SYNCHRONOUS)
        opened.extend((carla, airsim, threads))
        return merged

    yield begin
    for one in opened:
        one.shutdown(wait=False) if isinstance(one, ThreadPoolExecutor) else one.stop()


def test_images_are_rendered_within_a_tick(start: Start) -> None:
    merged = start()
    pending = merged.airsim("simGetImages", [IMAGE], "", False)
    assert merged.waits(pending)
    merged.carla("tick_cue")
    image = pending.result(timeout=ANSWERS_S)[0]
    assert set(image) == {
        "image_data_uint8", "image_data_float", "camera_position", "camera_name", "camera_orientation", "time_stamp",
        "message", "pixels_as_float", "compress", "width", "height", "image_type",
    }, "no frame number of CARLA's: the real answer has none"  # fmt: skip


def test_poses_apply_before_the_images_of_a_tick(start: Start) -> None:
    merged = start()
    image = merged.airsim("simGetImages", [IMAGE], "", False)
    merged.until_it_waits()
    placed = merged.airsim("simSetVehiclePose", POSE, True, "")
    while merged.world.game_thread.waiting < 2:
        pass
    merged.carla("tick_cue")
    placed.result(timeout=ANSWERS_S)
    position = image.result(timeout=ANSWERS_S)[0]["camera_position"]
    assert position["y_val"] == pytest.approx(4.0)
    assert position["z_val"] == pytest.approx(-50.0, abs=5.0), "it falls: time is not paused"


@pytest.mark.parametrize("method", ["ping", "getServerVersion", "simIsPaused", "getSettingsString"])
def test_calls_without_game_thread_are_answered_between_ticks(start: Start, method: str) -> None:
    merged = start()
    merged.airsim(method).result(timeout=ANSWERS_S)
    merged.airsim("simPause", True).result(timeout=ANSWERS_S)


@pytest.mark.parametrize("method", ["listVehicles", "reset"])
def test_calls_on_the_game_thread_wait_for_a_tick(start: Start, method: str) -> None:
    merged = start()
    pending = merged.airsim(method)
    assert merged.waits(pending)
    merged.carla("tick_cue")
    pending.result(timeout=ANSWERS_S)


def test_free_engine_answers_immediately(start: Start) -> None:
    merged = start(rules=EngineRules())
    merged.airsim("listVehicles").result(timeout=ANSWERS_S)


def test_leaving_synchronous_mode_releases_waiting_calls(start: Start) -> None:
    merged = start()
    pending = merged.airsim("listVehicles")
    assert merged.waits(pending)
    merged.carla("set_episode_settings", [False, *SYNCHRONOUS[1:]])
    pending.result(timeout=ANSWERS_S)


@pytest.mark.parametrize("freezes", [True, False])
def test_pause_freezes_actors_but_not_frames(start: Start, freezes: bool) -> None:
    merged = start(rules=EngineRules(waits_for_tick=True, pause_freezes=freezes))
    world = merged.world
    car = world.spawn(SpawnOrder("vehicle.tesla.model3", pose=(0.0, 0.0, 0.3, 0.0, 0.0, 0.0)))
    with world.lock:
        world.table.c.control[car.row, 0] = 1.0
    for _ in range(20):
        merged.carla("tick_cue")
    before = world.table.c.pose[car.row].copy()
    merged.carla("tick_cue")
    assert np.abs(world.table.c.pose[car.row] - before).max() > 1e-3, "it drives"
    merged.airsim("simPause", True).result(timeout=ANSWERS_S)
    before, frame, elapsed_s = world.table.c.pose[car.row].copy(), world.frame, world.elapsed_s
    merged.carla("tick_cue")
    assert (np.abs(world.table.c.pose[car.row] - before).max() == 0.0) == freezes
    assert (world.frame, world.elapsed_s) == (frame + 1, pytest.approx(elapsed_s + 0.05))
    merged.airsim("simPause", False).result(timeout=ANSWERS_S)
    merged.carla("tick_cue")
    assert np.abs(world.table.c.pose[car.row] - before).max() > 1e-3, "and drives on"
