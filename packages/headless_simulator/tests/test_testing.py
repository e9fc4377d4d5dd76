"""Starting a simulator for tests: open ports, an ended process afterwards, a report of an early end."""

import os
import socket

import pytest
from headless_simulator.testing import RunningSimulator, running_simulator


def test_simulator_runs_until_the_block_ends():
    with running_simulator("--render", "flat") as simulator:
        for port in (simulator.carla_port, simulator.airsim_port):
            socket.create_connection(("127.0.0.1", port), timeout=20).close()
        assert simulator.address == f"127.0.0.1:{simulator.carla_port}:{simulator.airsim_port}"
    with pytest.raises(ProcessLookupError):
        os.kill(simulator.pid, 0)


def test_failed_start_is_an_error():
    with (
        pytest.raises(RuntimeError, match="ended with code 2 before it listened"),
        running_simulator("--town", "Nowhere"),
    ):
        pytest.fail("it listens")


def test_fixture_provides_a_running_simulator(headless_simulator: RunningSimulator):
    socket.create_connection(("127.0.0.1", headless_simulator.carla_port), timeout=20).close()
