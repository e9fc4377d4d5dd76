"""Cameras trigger by their drones' clocks in the nearest step; invalid settings are refused with their line."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.config.overrides import Overrides
from uavsim.config.town import Obstacle, TownConfig
from uavsim.errors import ConfigError
from uavsim.ingredients.clocks import Clocks, _hidden, _instants, _waits_s
from uavsim.plan.scenes import plan_scenes
from uavsim.records.clocks import ClocksPlan
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import ScenePlan

DATASET = """\
towns: {Town10HD: {scenes: 2}}
formation: cross
rig: uav3d
samples: 5
step_s: 0.005
"""
RIG = "width_px: 32\nheight_px: 18\ncameras: {FRONT: {shutter: {readout_s: 0.01}}}\n"
CLOCKS = "clocks: {rate_hz: 10, phase_s: [0, 0.1], jitter_s: 0.005, drift_ppm: 50, offset_s: 0.02}\n"


def plans(folder: Path, more: str = CLOCKS, *, base: str = DATASET) -> list[ScenePlan]:
    path = folder / "own.yaml"
    path.write_text(base + more)
    return plan_scenes(str(path), overrides=Overrides())


def clocks_of(plan: ScenePlan) -> ClocksPlan:
    found = plan.of(ClocksPlan)
    assert found is not None
    return found


def test_each_image_is_within_half_a_step_of_the_requested_time(tmp_path: Path) -> None:
    plan, other = plans(tmp_path)
    clocks = clocks_of(plan)
    residual_us = clocks.step * plan.step_us - clocks.asked_us
    assert np.abs(residual_us).max() <= plan.step_us / 2
    assert residual_us.std() == pytest.approx(plan.step_us / np.sqrt(12), rel=0.25)  # all steps are equally likely
    assert not np.array_equal(clocks_of(other).asked_us[:20], clocks.asked_us[:20])


def test_a_plan_is_the_same_again_and_travels(tmp_path: Path) -> None:
    plan = plans(tmp_path)[0]
    assert pack_plan(plan) == pack_plan(plans(tmp_path)[0]) == pack_plan(unpack_plan(pack_plan(plan)))


def test_an_image_is_of_the_drones_whose_clock_fires_and_a_keyframe_of_all(tmp_path: Path) -> None:
    plan = plans(tmp_path)[0]
    clocks = clocks_of(plan)
    assert list(plan.capture_steps) == sorted({0, 100, 200, 300, 400, *clocks.step.tolist()})
    assert plan.sensors_at(100) == plan.sensors
    images = 0
    for step in plan.capture_steps:
        firing = {clocks.agents[k].number for k in clocks.fires[clocks.step == step]}
        if step % 100:
            assert {s.agent.number for s in plan.sensors_at(step)} == firing
        images += len([s for s in plan.sensors_at(step) if s.spec.params.is_optical])
    assert plan.image_count == images


def test_without_clocks_nothing_changes(tmp_path: Path) -> None:
    plan = plans(tmp_path, "")[0]
    assert plan.of(ClocksPlan) is None
    assert plan.capture_steps == range(0, 401, 100)


def test_ground_agents_have_clocks_if_configured(tmp_path: Path) -> None:
    """Ground clocks do not change the drones' clocks; a car's rig with a shutter is refused like a drone's."""
    ground = "vehicles: {count: 1}\nroadside: {count: 1}\ntraffic: {vehicles: 2}\n"
    plan, drones = (plans(tmp_path, block + ground)[0] for block in (CLOCKS.replace("}", ", ground: true}"), CLOCKS))
    clocks = clocks_of(plan)
    assert [agent.id for agent in clocks.agents] == ["0", "1", "2", "3", "4", "v0", "r0"]
    assert {s.agent for step in clocks.step.tolist() for s in plan.sensors_at(step)} == set(clocks.agents)
    assert np.array_equal(clocks_of(drones).asked_us, clocks_of(plans(tmp_path)[0]).asked_us)
    (tmp_path / "bent.yaml").write_text(RIG)
    with pytest.raises(ConfigError, match="has a shutter"):
        plans(tmp_path, CLOCKS + ground.replace("vehicles: {count: 1}", "vehicles: {count: 1, rig: bent.yaml}"))


@given(
    rate_hz=st.floats(1, 50),
    phase_s=st.floats(0, 0.2),
    drift_ppm=st.floats(-1000, 1000),
    offset_s=st.floats(-0.5, 0.5),
)
def test_by_its_own_clock_a_drone_fires_evenly(
    rate_hz: float, phase_s: float, drift_ppm: float, offset_s: float
) -> None:
    block = Clocks(rate_hz=rate_hz)
    times_s = _instants(block, phase_s, drift_ppm, offset_s, until_s=4.0, rng=np.random.default_rng(1))
    clock_s = times_s * (1 + drift_ppm * 1e-6) + offset_s
    periods = (clock_s - phase_s) * rate_hz
    assert np.abs(periods - np.round(periods)).max() < 1e-6
    assert np.abs(np.diff(periods) - 1).max() < 1e-6
    assert times_s[0] < 1 / rate_hz * 1.002  # none is left out at the beginning
    assert times_s[-1] > 4.0 - 1 / rate_hz * 1.002


def test_a_clock_worked_out_on_paper() -> None:
    """At 2 Hz, 0.1 s in, 100 ppm fast and 0.3 s ahead it shows 0.6 at (0.6 - 0.3) / 1.0001, 1.1 at (1.1 - 0.3) / 1.0001."""
    times_s = _instants(Clocks(rate_hz=2), 0.1, 100.0, 0.3, until_s=1.0, rng=np.random.default_rng(1))
    assert times_s == pytest.approx([0.3 / 1.0001, 0.8 / 1.0001])
    together = _instants(
        Clocks(rate_hz=2, trigger="synchronised"), 0.1, 100.0, 0.3, until_s=1.0, rng=np.random.default_rng(1)
    )
    assert together == pytest.approx([0.1, 0.6])


def test_messages_overtake_each_other_get_lost_and_end_at_the_range(tmp_path: Path) -> None:
    more = CLOCKS.replace("}", ", messages: {latency_s: [0.05, 0.4], loss: 0.2, range_m: %s}}")
    clocks = clocks_of(plans(tmp_path, more % "1000")[0])
    lost = np.isnan(clocks.arrival_us)
    assert 0.1 < lost.mean() < 0.3
    delay_s = (clocks.arrival_us - clocks.step[clocks.message] * 5000)[~lost] / 1e6
    assert delay_s.min() >= 0.05
    assert delay_s.max() <= 0.4
    link = (clocks.fires[clocks.message] == 0) & (clocks.receiver == 1) & ~lost
    assert (np.diff(clocks.arrival_us[link]) < 0).any(), "none overtakes another"
    assert (clocks.receiver != clocks.fires[clocks.message]).all()
    with pytest.raises(ConfigError, match="no message arrives"):
        plans(tmp_path, more % "1")


def test_messages_queue_for_bandwidth_and_are_delayed_by_distance(tmp_path: Path) -> None:
    """At 10 Mbit/s, 50 kB take 0.04 s; the second of two triggers 0.02 s apart waits 0.02 s."""
    drone, step = np.array([0, 1, 0, 0]), np.array([0, 0, 4, 200])
    assert _waits_s(drone, step, step_s=0.005, sending_s=0.04) == pytest.approx([0.04, 0.04, 0.06, 0.04])
    more = CLOCKS.replace("}", ", messages: {%s}}")
    plan, plain = (plans(tmp_path, more % words)[0] for words in (
        "bandwidth_mbps: 10, size_kb: 50, latency_s_per_km: 1", "loss: 0"))  # fmt: skip
    clocks, sent = clocks_of(plan), clocks_of(plain)
    place_m = plan.swarm.map_SE3_flu.translation_m[clocks.step[clocks.message]]
    apart_m = np.linalg.norm(place_m[np.arange(len(place_m)), clocks.fires[clocks.message]]
                             - place_m[np.arange(len(place_m)), clocks.receiver], axis=1)  # fmt: skip
    assert (clocks.arrival_us - sent.arrival_us) / 1e6 == pytest.approx(0.04 + apart_m / 1000, abs=1e-9)


def test_a_requested_agent_fires_when_the_request_arrives(tmp_path: Path) -> None:
    """Drone 0 sends a request every 0.1 s; each drone that receives it triggers 0.02 to 0.03 s later."""
    more = "clocks: {rate_hz: 10, trigger: request, messages: {latency_s: [0.02, 0.03], loss: 0.2}}\n"
    clocks = clocks_of(plans(tmp_path, more)[0])
    sent_s, received_s = (clocks.asked_us[rows] / 1e6 for rows in (clocks.fires == 0, clocks.fires != 0))
    assert sent_s == pytest.approx(np.arange(21) * 0.1)
    late_s = (received_s[:, None] - sent_s).clip(min=0).min(axis=1, initial=9, where=received_s[:, None] >= sent_s)
    assert 0.02 <= late_s.min() < late_s.max() <= 0.03
    assert 0.65 < len(received_s) / (4 * 20) < 0.95


def test_nothing_arrives_through_an_obstacle() -> None:
    """A link from 40 m, 10 m before a tower of 51 m, to 80 m at a distance of 30 m passes above the tower."""
    tower = Obstacle(name="tower", x_m=(10.0, 20.0), y_m=(-5.0, 5.0), top_m=50.0)
    ends_m = (-100.0, 100.0)
    town = TownConfig(
        name="T", carla_map="T", short_name="t", x_m=ends_m, y_m=ends_m, ground_z_m=1.0, obstacles=(tower,)
    )
    to_m = np.array([[30, 0, 40], [30, 0, 60], [30, 0, 80], [5, 0, 40], [0, 30, 40], [30, 20, 40]], dtype=float)
    from_m = np.array([0.0, 0.0, 40.0]) + np.zeros((6, 3))
    assert _hidden(town, from_m, to_m).tolist() == [True, True, False, False, False, False]
    assert _hidden(town, from_m, to_m).tolist() == _hidden(town, to_m, from_m).tolist()


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (
            "clocks: {rate_hz: 10, messages: {bandwidth_mbps: 10, size_kb: 500}}\n",
            "sends a message of 500 kB in 0.4 s, but one is due every 0.1 s; raise it to 40, or reduce size_kb",
        ),
        (
            "clocks: {rate_hz: 400}\n",
            "rate_hz=400 needs several images in a step of 0.005 s; reduce it to 200, or set step_s: 0.0025",
        ),
        (
            "clocks: {rate_hz: 100, jitter_s: 0.01}\n",
            "jitter_s=0.01 allows two images in a step of 0.005 s; reduce it to 0.00083",
        ),
        (
            "clocks: {rate_hz: 200, drift_ppm: 50}\n",
            "drift_ppm=50 allows two images in a step of 0.005 s; reduce it to 0",
        ),
        ("clocks: {rate_hz: 10, messages: {latency_s: [9, 9]}}\n", "which ends after 2 s; reduce latency_s"),
        ("clocks: {rate_hz: 10, phase_s: [0.2, 0.1]}\n", "phase_s is"),
        ("clocks: {rate_hz: 10, messages: {loss: 1}}\n", "loss"),
        ("clocks: {rate_hz: 10, messages: {latency_s: [1, 0.5]}}\n", "latency_s"),
        ("clocks: {rate_hz: 10}\nsweeps_per_keyframe: 1\n", "sweeps_per_keyframe"),
        ("clocks: {rate_hz: 10, ground: true, messages: {range_m: 9}}\n", "messages.range_m supports only drones"),
        ("clocks: {rate_hz: 10, ground: true, messages: {bandwidth_mbps: 9}}\n", "ground is true; set size_kb, too"),
    ],
)
def test_impossible_values_are_refused(tmp_path: Path, more: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=r"own\.yaml:\d") as refused:
        plans(tmp_path, more)
    assert reason in str(refused.value)
