"""Flights in AirSim through its real client, with late, uneven and missing answers of the server."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import airsim
import carla
import pytest
from headless_simulator.testing import RunningSimulator, running_simulator

from tools.common.plans import scene_plan
from uavsim.errors import InputError, SceneVoid, SimulatorError
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan, SwarmTrajectory
from uavsim.simulate.airsim.link import AirSimLink
from uavsim.simulate.airsim.settings import airsim_settings
from uavsim.simulate.airsim.swarm import AirSimFlight
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.session import open_session

STEPS = 21
LAG_M = 1.0
AS_UNREAL = ("set-pose=stale", "continue=stepped", "reset=slow")


def plan_of_two(*, shift_m: float = 0.0, wind_mps: float = 0.0) -> ScenePlan:
    """Return a plan of two drones at 5 m/s, shifted by ``shift_m``."""
    plan = scene_plan(samples=3)
    poses = plan.swarm.map_SE3_flu[:, :2]
    moved = SE3(poses.quat_wxyz, poses.translation_m + [shift_m, 0.0, shift_m / 4])
    return replace(plan, swarm=SwarmTrajectory((0, 1), moved), wind_map_mps=(0.0, wind_mps, 0.0))


def unheard(_phase: str, _n: int) -> None:
    pass


def never(*_: object, **__: object) -> None:
    raise AssertionError("reset() hangs real servers")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., int]]:
    """Return a function that starts a simulator with the plan's drones and given behaviours, and returns AirSim's port."""
    settings = tmp_path_factory.mktemp("swarm") / "settings.json"
    settings.write_text(json.dumps(airsim_settings(plan_of_two())))
    with contextlib.ExitStack() as running:

        @cache
        def begin(*behaviours: str) -> int:
            words = [part for behaviour in behaviours for part in ("--behaviour", behaviour)]
            words += ["--render", "flat", "--airsim-settings", str(settings)]
            return running.enter_context(running_simulator(*words)).airsim_port

        yield begin


@pytest.fixture(params=[(), AS_UNREAL], ids=["default", "as on Unreal"])
def port(start: Callable[..., int], request: pytest.FixtureRequest) -> int:
    return start(*request.param)


def stamp_ns(port: int) -> int:
    link = AirSimLink("127.0.0.1", port, learn=False)
    stamp = link.kinematics("uav0")[2]
    link.close()
    return stamp


def advance_all(flight: AirSimFlight) -> None:
    for step in range(STEPS):
        flight.advance(step)


def fly(flight: AirSimFlight, plan: ScenePlan) -> None:
    flight.begin(plan, heartbeat=unheard)
    advance_all(flight)
    assert flight.worst_lag_m < LAG_M


def test_scenes_start_without_a_reset(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(airsim.MultirotorClient, "reset", never)
    flight = AirSimFlight("127.0.0.1", port)
    for scene in range(3):  # as many as ends two scenes in flight
        fly(flight, plan_of_two(shift_m=40.0 * scene, wind_mps=6.0 * scene))
    flight.close()


def test_airsim_in_one_process_with_carla_is_refused() -> None:
    with running_simulator("--render", "flat", "--town", "Town02") as both:
        world = carla.Client("127.0.0.1", both.carla_port).get_world()
        world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=0.05))
        flight = AirSimFlight("127.0.0.1", both.airsim_port, call_s=1.0)
        with pytest.raises(InputError, match=r"waits for CARLA's ticks; use --topology merged, .* --separate-worlds"):
            flight.begin(plan_of_two(), heartbeat=unheard)


def test_clock_errors_do_not_accumulate(port: int) -> None:
    flight = AirSimFlight("127.0.0.1", port)
    plan = plan_of_two()
    flight.begin(plan, heartbeat=unheard)
    began_ns = stamp_ns(port)
    for step in range(STEPS):
        flight.advance(step)
        off_ms = (stamp_ns(port) - began_ns) / 1e6 - (step + 1) * plan.step_us / 1e3
        assert abs(off_ms) <= 9.0, "one step of 3 ms from before, one that is not made up for, one too much"
    flight.close()


@pytest.mark.parametrize(
    ("runs_s", "valid"),
    [(lambda s: 1.1 * s, True), (lambda s: 2.0 * s, False), (lambda _: 0.054, False), (lambda _: 0.0, False)],
    ids=["a tenth fast", "twice as fast", "4 ms more each time", "stands"],
)
def test_clock_error_of_half_a_step_voids_the_scene(
    start: Callable[..., int], monkeypatch: pytest.MonkeyPatch, runs_s: Callable[[float], float], valid: bool
) -> None:
    flight = AirSimFlight("127.0.0.1", start())
    flight.begin(plan_of_two(), heartbeat=unheard)
    run = airsim.MultirotorClient.simContinueForTime
    monkeypatch.setattr(airsim.MultirotorClient, "simContinueForTime", lambda self, s: run(self, runs_s(s)))
    refused = contextlib.nullcontext() if valid else pytest.raises(SceneVoid, match="set ClockSpeed to 1")
    with refused:
        advance_all(flight)
    flight.close()


@pytest.mark.parametrize("helps", [True, False], ids=["a reset helps", "it does not"])
def test_restless_drone_is_reset_once(start: Callable[..., int], monkeypatch: pytest.MonkeyPatch, helps: bool) -> None:
    resets: list[None] = []
    move, reset = airsim.MultirotorClient.moveByVelocityAsync, airsim.MultirotorClient.reset

    def drifts(self: Any, vx: float, vy: float, vz: float, **more: Any) -> Any:
        return move(self, vx if resets and helps else vx + 7.0, vy, vz, **more)

    def counts(self: Any) -> None:
        resets.append(None)
        reset(self)

    monkeypatch.setattr(airsim.MultirotorClient, "moveByVelocityAsync", drifts)
    monkeypatch.setattr(airsim.MultirotorClient, "reset", counts)
    flight = AirSimFlight("127.0.0.1", start())
    if helps:
        fly(flight, plan_of_two())
    else:
        with pytest.raises(SceneVoid, match="uav0 did not come to rest in the air"):
            flight.begin(plan_of_two(), heartbeat=unheard)
    assert len(resets) == 1
    flight.close()


def test_world_without_the_plans_drones_is_not_left_paused(simulator: RunningSimulator) -> None:
    """Other runs on this server would see traffic that stands still."""
    session = open_session(
        "merged",
        {
            "carla": Endpoint.parse(simulator.carla, what="carla"),
            "airsim": Endpoint.parse(simulator.airsim, what="airsim"),
        },
    )
    with pytest.raises(SimulatorError, match="has no vehicle 'uav0'"):
        session.begin_scene(scene_plan(samples=2), heartbeat=unheard)
    client = airsim.VehicleClient("127.0.0.1", simulator.airsim_port)
    assert not client.simIsPause()
    session.close()
