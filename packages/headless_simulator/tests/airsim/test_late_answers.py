"""Late, early and missing answers of AirSim on Unreal, through the real client."""

import time
from collections.abc import Callable
from itertools import pairwise

import airsim
import msgpackrpc
import pytest
from headless_simulator.airsim import AirSimServer, late_poses
from headless_simulator.airsim.late_poses import STALE_FRAMES, STALE_S
from headless_simulator.behaviours import behaviours_of

from tests.airsim.conftest import Connect, hang
from tests.airsim.paper_world import PaperHost

Serve = Callable[..., AirSimServer]
THERE = airsim.Pose(airsim.Vector3r(3, 4, -50))


def put(client: airsim.MultirotorClient) -> None:
    client.simPause(True)
    client.simSetVehiclePose(THERE, True)


def north_m(client: airsim.MultirotorClient) -> list[float]:
    """Return the drone's north position, metres, from every call that has it."""
    return [
        client.simGetVehiclePose().position.x_val,
        client.getMultirotorState().kinematics_estimated.position.x_val,
        client.simGetGroundTruthKinematics().position.x_val,
    ]


def stamp_ns(client: airsim.MultirotorClient) -> int:
    return client.getMultirotorState().timestamp


def test_set_pose_applies_immediately_by_default(serve: Serve, connect: Connect) -> None:
    client = connect(serve())
    put(client)
    assert north_m(client) == [3, 3, 3]


def test_stale_pose_applies_after_its_delay(serve: Serve, connect: Connect) -> None:
    client = connect(serve(behaviours=behaviours_of(["set-pose=stale"])))
    began_s = time.monotonic()
    put(client)
    assert north_m(client) == [0, 0, 0] or time.monotonic() > began_s + STALE_S
    while north_m(client) != [3, 3, 3]:
        assert time.monotonic() < began_s + 60 * STALE_S
    assert time.monotonic() > began_s + STALE_S


def test_stale_pose_applies_after_two_frames(serve: Serve, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_poses, "STALE_S", 1e6)
    host = PaperHost()
    server = serve(host=host, behaviours=behaviours_of(["set-pose=stale"]))
    client = connect(server)
    put(client)
    host.frame += STALE_FRAMES
    assert north_m(client) == [3, 3, 3]


def test_reset_drops_a_pending_pose(serve: Serve, connect: Connect) -> None:
    client = connect(serve(behaviours=behaviours_of(["set-pose=stale"])))
    put(client)
    client.reset()
    time.sleep(2 * STALE_S)
    assert north_m(client) == [0, 0, 0]


def test_stale_pose_out_of_range_is_refused_immediately(serve: Serve, connect: Connect) -> None:
    client = connect(serve(behaviours=behaviours_of(["set-pose=stale"])))
    with pytest.raises(msgpackrpc.error.RPCError, match="within"):
        client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(2e6, 0, 0)), True)


@pytest.mark.parametrize(("value", "steps_ms"), [("exact", [48, 51, 51, 48, 51]), ("stepped", [51, 48, 51, 48, 51])])
def test_continue_behaviour_decides_the_number_of_steps(
    serve: Serve, connect: Connect, value: str, steps_ms: list[int]
) -> None:
    client = connect(serve(behaviours=behaviours_of([f"continue={value}"])))
    hang(client)
    client.simPause(True)  # drops what is left of the last call
    stamps = [stamp_ns(client)]
    for _ in range(5):
        client.simContinueForTime(0.05)
        stamps.append(stamp_ns(client))
    assert [(b - a) // 10**6 for a, b in pairwise(stamps)] == steps_ms


def test_slow_reset_hangs_from_the_third_call(serve: Serve, connect: Connect) -> None:
    server = serve(behaviours=behaviours_of(["reset=slow"]))
    client = connect(server, 2)
    client.reset()
    client.reset()
    hang(connect(server))
    with pytest.raises(msgpackrpc.error.TimeoutError):
        client.reset()
    state = connect(server).getMultirotorState()
    assert state.kinematics_estimated.position.z_val == pytest.approx(-50, abs=1), "it was not put back"
