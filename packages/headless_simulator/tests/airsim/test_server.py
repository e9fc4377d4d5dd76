"""The AirSim port: names, arguments, several clients, and faults."""

import asyncio
import inspect
import re
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import airsim
import msgpack
import numpy as np
import pytest
from headless_simulator.airsim import AirSimServer, read_settings
from headless_simulator.airsim.fault_injection import AirSimFaults
from headless_simulator.airsim.fleet import Fleet
from headless_simulator.airsim.methods import attitude, flight, images, objects, plots, sensing, world
from headless_simulator.faults import Faults

from tests.airsim.paper_world import PaperHost

SIGNATURES = {
    method.name: method.signature
    for module in (attitude, flight, images, objects, plots, sensing, world)
    for method in module.METHODS
}


def raw_call(sock: socket.socket, message: Any) -> Any:
    sock.sendall(msgpack.packb(message))
    unpacker = msgpack.Unpacker()
    while data := sock.recv(65536):
        unpacker.feed(data)
        for answer in unpacker:
            return answer
    return None


def raw(server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=20)


def methods_of_the_real_client() -> set[str]:
    source = inspect.getsource(airsim.client)
    return set(re.findall(r"client\.call(?:_async)?\(\s*['\"](\w+)['\"]", source))


def test_every_method_of_the_real_client_is_known() -> None:
    expected = methods_of_the_real_client()
    assert len(expected) == 125
    assert expected - SIGNATURES.keys() == set()


def test_unknown_methods_are_named_and_counted(serve) -> None:
    server = serve()
    with raw(server) as sock:
        answer = raw_call(sock, [0, 7, "simFlyToTheMoon", [1, 2]])
        raw_call(sock, [0, 8, "simFlyToTheMoon", []])
    assert answer[:2] == [1, 7]
    assert "simFlyToTheMoon" in answer[2]
    assert "argument count 2" in answer[2]
    assert server.counts.unknown["simFlyToTheMoon"] == 2


@pytest.mark.parametrize(
    ("method", "arguments", "problem"),
    [
        ("simPause", [], "Expected: 1, got: 0"),
        ("simPause", [True, 1, 2], "Expected: 1, got: 3"),
        ("getMultirotorState", ["nobody"], "vehicle 'nobody' does not exist"),
        ("simContinueForTime", [float("nan")], "must be finite"),
        ("simContinueForTime", ["soon"], "must be a number"),
        ("simSetVehiclePose", [{}, True, ""], "Pose"),
        ("simSetWeatherParameter", [99, 1.0], "weather parameter"),
        ("simSetWind", [{"x_val": 1e9, "y_val": 0, "z_val": 0}], "200"),
        ("simSetTimeOfDay", [True, "noon", False, 1.0, 60.0, True], "start_datetime"),
        ("setCarControls", [{}, ""], "Car"),
        ("simCreateVoxelGrid", [], "voxel"),
        ("simGetImages", [[{"camera_name": "0"}], "", False], "ImageRequest"),
        ("simListSceneObjects", ["a" * 600], "too long"),
    ],
)
def test_client_mistakes_are_answered_with_an_error(serve, method, arguments, problem) -> None:
    with raw(serve()) as sock:
        answer = raw_call(sock, [0, 1, method, arguments])
        assert problem in answer[2]
        assert answer[3] is None
        assert raw_call(sock, [0, 2, "ping", []]) == [1, 2, None, True], "the connection lives on"


@pytest.mark.parametrize("method", ["getMultirotorState", "simGetVehiclePose"])
def test_unexpected_exception_is_logged_and_answered_as_internal_error(serve, capsys, monkeypatch, method) -> None:
    def planted(_fleet: Fleet, _name: str) -> None:
        raise KeyError("a bug of ours")

    server = serve()
    monkeypatch.setattr(Fleet, "drone", planted)
    with raw(server) as sock:
        answer = raw_call(sock, [0, 1, method, [""]])

    assert f"internal error of the headless simulator in {method}: KeyError" in answer[2]
    log = capsys.readouterr().err
    assert f"headless-simulator: internal error in {method}\nTraceback" in log
    assert "in planted" in log
    assert server.report() == f"internal errors in RPCs: {method} x1"


def test_unexpected_exception_in_a_running_command_is_logged(flying, capsys, monkeypatch) -> None:
    client, _ = flying

    def planted(_drone: object) -> Any:
        yield 0
        raise IndexError("a bug of ours")

    monkeypatch.setattr("headless_simulator.airsim.flight.hover", planted)
    task = client.hoverAsync()
    client.simContinueForTime(0.1)
    with pytest.raises(Exception, match="internal error of the headless simulator in hover: IndexError"):
        task.get()

    assert "in planted" in capsys.readouterr().err


def test_unusable_paths_are_refused(flying) -> None:
    client, _ = flying
    for points, speed, lookahead in (
        ([], 1, 0),
        ([(1, 0, -50)], 5, 0),
        ([(float("nan"), 0, 0)], 1, -1),
        ([(1, 0, -50)], 90, 1),
    ):
        path = [airsim.Vector3r(*p) for p in points]
        task = client.moveOnPathAsync(
            path, speed, 5, airsim.DrivetrainType.MaxDegreeOfFreedom, airsim.YawMode(), lookahead, 1
        )
        if points:
            with pytest.raises(Exception, match=r"lookahead|finite"):
                task.get()
        else:
            assert task.get() is True


def test_running_command_does_not_block_other_calls(flying) -> None:
    """A flight under way must not hold up other calls of the same connection."""
    client, _ = flying
    flight = client.moveToPositionAsync(20, 0, -50, 2)
    for _ in range(5):
        client.simContinueForTime(0.1)
        assert client.getMultirotorState().kinematics_estimated.linear_velocity.x_val >= 0
    client.simContinueForTime(30)
    assert flight.get() is True


def test_slow_images_do_not_block_other_clients(serve, connect) -> None:
    host = PaperHost()
    drawing, go_on = threading.Event(), threading.Event()
    real = host.renderer.render

    def slow(*args: Any, **options: Any) -> Any:
        drawing.set()
        assert go_on.wait(20)
        return real(*args, **options)

    host.renderer.render = slow  # type: ignore[method-assign]
    server = serve(host=host)
    with raw(server) as image_capture, raw(server) as other:
        image_capture.sendall(msgpack.packb([0, 1, "simGetImage", ["0", 0, "", False]]))
        assert drawing.wait(20)
        assert raw_call(other, [0, 1, "getMultirotorState", [""]])[2] is None
        go_on.set()


def test_five_clients_in_five_threads(serve) -> None:
    names = [f"D{i}" for i in range(5)]
    server = serve({"ClockSpeed": 20, "Vehicles": {n: {"X": 3 * i} for i, n in enumerate(names)}})

    def fly(name: str) -> tuple[bool, int]:
        asyncio.set_event_loop(asyncio.new_event_loop())  # of the client's own transport
        client = airsim.MultirotorClient(port=server.port, timeout_value=60)
        client.enableApiControl(True, name)
        took_off = client.takeoffAsync(vehicle_name=name).get()
        (image,) = client.simGetImages([airsim.ImageRequest("0", 0, False, False)], name)
        client.client.close()
        asyncio.get_event_loop().close()
        return took_off, len(image.image_data_uint8)

    with ThreadPoolExecutor(5) as threads:
        assert list(threads.map(fly, names)) == [(False, 256 * 144 * 3)] * 5  # False is AirSim's answer to takeoff


@pytest.mark.parametrize("stays_connected", [True, False])
def test_time_passes_at_the_speed_that_is_set(serve, connect, stays_connected) -> None:
    server = serve({"ClockSpeed": 4})
    client = connect(server)
    client.simPause(True)  # a lagging clock catches up, but not across a pause
    paused_ns = client.getMultirotorState().timestamp
    before_s = time.monotonic()
    client.simPause(False)
    if not stays_connected:
        client.client.close()
    time.sleep(1.0)
    passed_s = ((client if stays_connected else connect(server)).getMultirotorState().timestamp - paused_ns) * 1e-9
    wall_s = time.monotonic() - before_s
    assert 0.5 * 4 * wall_s < passed_s < 4 * wall_s  # a busy machine may fall behind, never run ahead


def test_pause_stops_time(serve, connect) -> None:
    client = connect(serve())
    client.simPause(True)
    assert client.simIsPause()
    first = client.getMultirotorState().timestamp
    time.sleep(0.1)
    assert client.getMultirotorState().timestamp == first
    client.simPause(False)
    assert not client.simIsPause()


def test_extreme_kinematics_stay_finite(flying) -> None:
    client, _ = flying
    state = client.simGetGroundTruthKinematics()
    state.linear_velocity = airsim.Vector3r(9e5, -9e5, 9e5)
    state.angular_velocity = airsim.Vector3r(9e5, 9e5, -9e5)
    client.simSetKinematics(state, True)
    client.setVelocityControllerGains(airsim.VelocityControllerGains(*[airsim.PIDGains(9e3, 9e3, 9e3)] * 3))
    client.simContinueForTime(20)
    after = client.simGetGroundTruthKinematics()
    assert all(np.isfinite(list(vars(part).values())).all() for part in vars(after).values())
    with pytest.raises(Exception, match="within"):
        client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(1e300, 0, 0), airsim.to_quaternion(0, 0, 0)), True)


# ---- faults ----------------------------------------------------------------------------------------------------------


class Faulty(AirSimFaults):
    def __init__(self) -> None:
        super().__init__(Faults())
        self.calls: list[tuple[str, str]] = []
        self.cut = ""
        self.last: list[dict[str, Any]] | None = None

    def before_call(self, method: str, vehicle: str) -> None:
        self.calls.append((method, vehicle))
        if method == self.cut:
            raise ConnectionAbortedError("on demand")

    def image_result(self, vehicle: str, responses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        stale = self.last or list(responses)
        self.last = list(responses)
        return stale

    def pose_result(self, method: str, vehicle: str, result: Any) -> Any:
        if method == "simGetVehiclePose":
            return {**result, "position": dict.fromkeys(("x_val", "y_val", "z_val"), float("nan"))}
        return result


def test_faults_apply_to_calls_images_and_poses(serve, connect) -> None:
    faults = Faulty()
    server = serve({"Vehicles": {"A": {}}}, faults=faults)
    client = connect(server)
    client.simPause(True)
    assert np.isnan(client.simGetVehiclePose("A").position.x_val)
    assert ("simGetVehiclePose", "A") in faults.calls
    client.simGetImages([airsim.ImageRequest("0", 0, False, False)], "A")
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -30), airsim.to_quaternion(0, 0, 0)), True, "A")
    (stale,) = client.simGetImages([airsim.ImageRequest("0", 0, False, False)], "A")
    assert stale.camera_position.z_val == pytest.approx(-0.1465)
    faults.cut = "ping"
    with raw(server) as sock:
        sock.sendall(msgpack.packb([0, 1, "ping", []]))
        assert sock.recv(100) == b""
    faults.cut = ""
    assert client.ping()


# ---- no messages at all ----------------------------------------------------------------------------------------------


def test_server_stops_with_clients_connected(serve, connect) -> None:
    others = set(threading.enumerate())
    server = serve()
    client = connect(server, timeout_s=5)
    client.enableApiControl(True)
    assert "rpc-client" in {thread.name for thread in set(threading.enumerate()) - others}
    server.stop()
    assert set(threading.enumerate()) <= others
    server.stop = lambda: None  # the fixture stops it again
    with pytest.raises(Exception):  # noqa: B017, PT011  (the client's own transport errors)
        client.ping()


def test_without_vehicles_it_starts_on_the_highest_roof(connect) -> None:
    """Programs written for open fields fly right away; with vehicles named, both ports share the town's origin."""
    for text, start, z in (("{}", (30, 0, 20 + 0.1465), 0), ('{"Vehicles": {"A": {}}}', (0, 0, 0), -0.1465)):
        server = AirSimServer(PaperHost(), read_settings(text))
        server.start()
        client = connect(server)
        client.simPause(True)
        client.simContinueForTime(1)
        state = client.getMultirotorState()
        server.stop()
        assert server.simulation.player_start_m == start
        assert state.kinematics_estimated.position.z_val == pytest.approx(z, abs=1e-3)
        assert state.landed_state == airsim.LandedState.Landed
