"""Connections to AirSim through its real client; all are closed."""

import gc
import logging
import threading
import time

import numpy as np
import psutil
import pytest
from headless_simulator.testing import RunningSimulator, running_simulator

from uavsim.errors import SceneVoid, SimulatorError, SimulatorLost
from uavsim.geometry.se3 import SE3
from uavsim.simulate.airsim.link import AirSimLink, await_pose

MORE_THAN_A_SERVER_TAKES = 270  # the headless one takes 256 at once


@pytest.fixture
def port(simulator: RunningSimulator) -> int:
    return int(simulator.airsim.rpartition(":")[2])


def connections_to(port: int) -> int:
    connections = psutil.Process().net_connections(kind="tcp4")
    return sum(bool(c.raddr) and c.raddr.port == port and c.status == psutil.CONN_ESTABLISHED for c in connections)


def test_links_of_a_thread_are_closed_one_by_one(port: int, caplog: pytest.LogCaptureFixture) -> None:
    before, stays = connections_to(port), AirSimLink("127.0.0.1", port)
    with caplog.at_level(logging.WARNING, logger="asyncio"):
        for _ in range(MORE_THAN_A_SERVER_TAKES):
            AirSimLink("127.0.0.1", port, learn=False).close()
            assert connections_to(port) == before + 1
        gc.collect()
    assert not caplog.records  # no task was forgotten, none ended unseen
    assert stays.client.ping()
    stays.close()
    assert connections_to(port) == before


def test_closed_link_raises_simulator_error(port: int) -> None:
    link = AirSimLink("127.0.0.1", port)
    link.close()
    with pytest.raises(SimulatorError, match="listing vehicles"):
        link.learn()


def test_link_is_closed_in_its_thread(port: int) -> None:
    reported: list[int] = []

    def work() -> None:
        link = AirSimLink("127.0.0.1", port)
        reported.append(connections_to(port))
        link.close()
        reported.append(connections_to(port))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert reported == [reported[1] + 1, reported[1]]


def test_hanging_call_ends_at_the_limit() -> None:
    with running_simulator("--render", "flat", "--behaviour", "reset=slow") as running:
        link = AirSimLink("127.0.0.1", running.airsim_port, limit_s=2)
        for _ in range(2):
            link.client.reset()
        began_s = time.monotonic()
        with pytest.raises(SimulatorLost, match="stopped answering while resetting"), link.translated("resetting"):
            link.client.reset()
        assert time.monotonic() - began_s < 60
        link.close()


def pose_at(x_m: float) -> SE3:
    return SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.array([x_m, 0.0, -50.0]))


def test_await_pose() -> None:
    positions_m = iter([0.0, 0.0, 0.0, 7.0])
    await_pose(lambda _: pose_at(next(positions_m)), "uav0", pose_at(7.0), within_s=60)
    assert next(positions_m, None) is None, "it was looked at until it was there"


def test_late_pose_voids_the_scene() -> None:
    with pytest.raises(SceneVoid, match=r"AirSim reports uav0 7\.000 m from its set pose after 0\.1 s"):
        await_pose(lambda _: pose_at(0.0), "uav0", pose_at(7.0), within_s=0.1)
