"""Timing of images at the real client; a delay per image simulates a slow renderer."""

from collections.abc import Iterator
from itertools import accumulate, pairwise

import pytest
from headless_simulator.carla.sensors.hub import seconds_between
from headless_simulator.testing import RunningSimulator, running_simulator

from tests.carla.conftest import run_client

SLOW_MS = 3000


@pytest.fixture(scope="module")
def slow() -> Iterator[RunningSimulator]:
    with running_simulator("--town", "Town10HD", "--render", "flat", "--render-latency", str(SLOW_MS)) as running:
        yield running


@pytest.mark.parametrize("opened_s", [0.0, 0.1, 1 / 3, 7.3, 86_400.7])
def test_reading_interval_does_not_depend_on_clock_time(opened_s: float) -> None:
    clock_s = list(accumulate([0.05] * 2000, initial=opened_s))
    assert any(now_s - last_s != 0.05 for last_s, now_s in pairwise(clock_s))  # a float sum does
    assert {seconds_between(last_s, now_s) for last_s, now_s in pairwise(clock_s)} == {0.05}


def test_tick_returns_before_its_image_is_drawn(slow: RunningSimulator) -> None:
    result = run_client(
        slow.carla_port,
        """
    import time
    world = client.get_world(); synchronous(world)
    eye = camera(world, 'camera.rgb', carla.Transform())
    begun_s = time.monotonic()
    ticks, queued, took_s = [], [], []
    for x in (10, 20, 30):
        eye.set_transform(carla.Transform(carla.Location(x, 0, 50)))  # from the next tick on
        ticks.append(world.tick())
        queued.append(eye.box.qsize())
        took_s.append(time.monotonic() - begun_s)
    images = [get(eye, tick) for tick in ticks]
    done(ticks=ticks, queued=queued, took_s=took_s, positions=[[image.frame, image.transform.location.x] for image in images])
    """,
    )

    assert result["queued"][:2] == [0, 0]
    assert result["took_s"][1] * 1000 < SLOW_MS <= result["took_s"][2] * 1000
    assert result["positions"] == [[tick, x] for tick, x in zip(result["ticks"], (10, 20, 30), strict=True)]


def test_new_listener_gets_no_earlier_image(slow: RunningSimulator) -> None:
    result = run_client(
        slow.carla_port,
        """
    world = client.get_world(); synchronous(world)
    arrived = []
    eye = camera(world, 'camera.rgb', carla.Transform())
    before = world.tick()  # its image is being drawn
    eye.stop(); until(lambda: not eye.is_listening())
    eye.listen(lambda image: arrived.append(image.frame))
    since = world.tick()
    until(lambda: since in arrived)
    eye.stop()
    library = world.get_blueprint_library().find('sensor.lidar.ray_cast_semantic')
    turn = lambda: library.set_attribute('rotation_frequency', '20') or library
    ray, turns = world.spawn_actor(turn(), carla.Transform(carla.Location(z=2))), []
    for _ in range(2):  # CARLA's lidar casts the rays of one tick, also after a pause without listeners
        ray.listen(turns.append); count = len(turns)
        world.tick(); until(lambda: len(turns) > count)
        ray.stop(); until(lambda: not ray.is_listening())
        for _ in range(5): world.tick()
    done(since=since, arrived=arrived, turns=[(len(turn), turn.horizontal_angle) for turn in turns])
    """,
    )

    assert result["arrived"] == [result["since"]]
    (points, angle), (again, angle_again) = result["turns"]
    assert points == again > 0
    assert angle_again == pytest.approx(angle, abs=1e-3)
