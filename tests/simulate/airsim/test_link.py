"""Connections to AirSim, through its real client: each is given back."""

import gc
import logging
import threading

import psutil
import pytest
from headless_simulator.testing import RunningSimulator

from uavsim.errors import SimulatorError
from uavsim.simulate.airsim.link import AirSimLink

MORE_THAN_A_SERVER_TAKES = 270  # the headless one takes 256 at once


@pytest.fixture
def port(simulator: RunningSimulator) -> int:
    return int(simulator.airsim.rpartition(":")[2])


def connections_to(port: int) -> int:
    mine = psutil.Process().net_connections(kind="tcp4")
    return sum(bool(c.raddr) and c.raddr.port == port and c.status == psutil.CONN_ESTABLISHED for c in mine)


def test_links_of_one_thread_are_given_back_one_by_one(port: int, caplog: pytest.LogCaptureFixture) -> None:
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


def test_a_link_that_is_closed_answers_in_our_words(port: int) -> None:
    link = AirSimLink("127.0.0.1", port)
    link.close()
    with pytest.raises(SimulatorError, match="listing vehicles"):
        link.learn()


def test_a_link_is_given_back_in_the_thread_that_made_it(port: int) -> None:
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
