import json
from collections.abc import Callable, Iterator

import airsim
import pytest
from headless_simulator.airsim import AirSimServer, read_settings

from tests.airsim.paper_world import PaperHost

Connect = Callable[..., airsim.MultirotorClient]
HIGH_START = {"PlayerStart": {"X": 0, "Y": 0, "Z": 0}}


@pytest.fixture
def serve() -> Iterator[Callable[..., AirSimServer]]:
    """Start servers with settings given as a dictionary; all are stopped at the end."""
    started: list[AirSimServer] = []

    def start(settings: dict | None = None, *, host: PaperHost | None = None, **options) -> AirSimServer:
        text = json.dumps({**HIGH_START, **(settings or {})})
        server = AirSimServer(host or PaperHost(), read_settings(text), **options)
        server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connect real clients; all are closed at the end."""
    clients: list[airsim.MultirotorClient] = []

    def open_client(server: AirSimServer, timeout_s: int = 60) -> airsim.MultirotorClient:
        client = airsim.MultirotorClient(port=server.port, timeout_value=timeout_s)
        clients.append(client)
        return client

    yield open_client
    for client in clients:
        client.client.close()


@pytest.fixture
def client(serve, connect) -> airsim.MultirotorClient:
    """A client of a server with vehicle A away from PlayerStart and PlayerStart away from the town's origin."""
    return connect(serve({"PlayerStart": {"X": 100, "Y": -50, "Z": 2}, "Vehicles": {"A": {"X": 1, "Z": -3}}}))


@pytest.fixture
def flying(serve, connect) -> tuple[airsim.MultirotorClient, AirSimServer]:
    """A paused server with a drone that hovers at 50 m with API control."""
    server = serve()
    client = connect(server)
    hang(client)
    return client, server


def hang(client: airsim.MultirotorClient, name: str = "", height_m: float = 50.0) -> None:
    """Teleport a drone to a height, pause, and let it settle."""
    client.simPause(True)
    client.enableApiControl(True, name)
    client.armDisarm(True, name)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -height_m)), True, name)
    hold = client.moveToPositionAsync(100, 0, -height_m, 1, vehicle_name=name)
    task = client.moveByVelocityZAsync(0, 0, -height_m, 20, vehicle_name=name)
    client.simContinueForTime(20.1)
    assert task.get() is True
    assert hold.get() is False, "a new task cancels the old one"
