from dataclasses import replace

import numpy as np
import pytest

from tools.common.plans import scene_plan
from uavsim.capture.degrade import agent_view, degraded_image, image_changes
from uavsim.geometry.se3 import SE3
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import DegradationPlan
from uavsim.records.recording import AgentState, DroneState
from uavsim.records.sensors import Agent

T = np.array([10.0, -20.0, 60.0])
DRONE = DroneState(3, SE3(np.array([1.0, 0, 0, 0]), T), np.zeros(3), SE3(np.array([1.0, 0, 0, 0]), T))


def test_no_degradation_by_default() -> None:
    assert agent_view(scene_plan(), DRONE, channel="CAMERA_FRONT_id_3", step=0) == {}
    assert not image_changes(scene_plan(), "drone")


def test_pose_noise_bias_and_clock_offset() -> None:
    degradations = DegradationPlan(
        seed=5, position_noise_m=0.5, position_bias_m=(1.0, 0.0, -2.0), clock_offset_us=40_000, latency_us=100_000
    )
    plan = replace(scene_plan(), degradations=degradations)
    views = [agent_view(plan, DRONE, channel="CAMERA_FRONT_id_3", step=step) for step in range(0, 4000, 2)]
    off = np.array([v["reported_translation"] for v in views]) - T
    np.testing.assert_allclose(off.mean(axis=0), [1.0, 0.0, -2.0], atol=0.05)
    np.testing.assert_allclose(off.std(axis=0), 0.5, rtol=0.08)
    clocks = {v["reported_timestamp_us"] - v["arrival_timestamp_us"] + 100_000 for v in views}
    assert len(clocks) == 1  # an agent's clock has a constant offset
    assert abs(clocks.pop()) <= 40_000


def test_cameras_of_a_drone_report_one_pose() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=5, position_noise_m=0.5, yaw_noise_deg=1.0))
    front, left = (agent_view(plan, DRONE, channel=f"CAMERA_{c}_id_3", step=10) for c in ("FRONT", "LEFT"))
    assert front["reported_translation"] == left["reported_translation"]
    assert front["reported_rotation"] == left["reported_rotation"]


def test_drop_probability() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=1, drop_probability=0.25))
    dropped = [agent_view(plan, DRONE, channel="CAMERA_FRONT_id_3", step=s)["dropped"] for s in range(2000)]
    assert np.mean(dropped) == pytest.approx(0.25, abs=0.04)


def test_image_noise_and_exposure_are_repeatable() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=1, pixel_noise_sigma=6.0, exposure_stops=-1.0))
    grey = np.full((120, 160, 3), 128, np.uint8)
    first = degraded_image(plan, grey, channel="CAMERA_FRONT_id_0", step=0)
    again = degraded_image(plan, grey, channel="CAMERA_FRONT_id_0", step=0)
    other = degraded_image(plan, grey, channel="CAMERA_FRONT_id_0", step=10)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.std() == pytest.approx(6.0, rel=0.05)
    assert first.mean() == pytest.approx(128 * 0.5 ** (1 / 2.2), abs=0.6)  # half the light


def test_uneven_faults_are_one_or_none_for_each_camera() -> None:
    degradations = DegradationPlan(seed=1, pixel_noise_sigma=6.0, exposure_stops=-1.0, uneven=True)
    plan = replace(scene_plan(), degradations=degradations)
    grey = np.full((60, 80, 3), 128, np.uint8)
    found = {"none": 0, "noise": 0, "light": 0}
    for n in range(200):
        first, later = (degraded_image(plan, grey, channel=f"CAMERA_FRONT_id_{n}", step=step) for step in (0, 9))
        noise, light = (bool(first.std() > 1), bool(abs(first.mean() - 128) > 10))
        assert not (noise and light)
        assert (bool(later.std() > 1), bool(abs(later.mean() - 128) > 10)) == (noise, light)
        found["noise" if noise else "light" if light else "none"] += 1
    assert found["none"] == pytest.approx(100, abs=28)
    assert found["noise"] == pytest.approx(50, abs=25)


CAR = AgentState(Agent(1, "vehicle"), SE3(np.array([1.0, 0, 0, 0]), np.array([3.0, 4.0, 0.5])), np.zeros(3), 9)
POLE = AgentState(Agent(1, "roadside"), SE3(np.array([1.0, 0, 0, 0]), np.array([5.0, 6.0, 5.0])), np.zeros(3))


def test_degradations_by_kind_of_agent() -> None:
    of_vehicles = DegradationPlan(seed=5, position_bias_m=(0.0, 2.0, 0.0), pixel_noise_sigma=4.0)
    plan = replace(
        scene_plan(),
        degradations=DegradationPlan(
            seed=5, position_noise_m=0.5, by_kind=(("vehicle", of_vehicles), ("roadside", DegradationPlan(seed=5)))
        ),
    )
    plan = unpack_plan(pack_plan(plan))
    shift_m = {
        state.agent.id: np.array(agent_view(plan, state, channel=channel, step=4)["reported_translation"])
        - state.map_SE3_flu.translation_m
        for state, channel in ((DRONE, "CAMERA_FRONT_id_3"), (CAR, "CAM_FRONT_id_v1"), (POLE, "CAM_LEFT_id_r1"))
    }
    np.testing.assert_allclose(shift_m["v1"], [0.0, 2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(shift_m["r1"], 0.0, atol=1e-12)
    assert np.abs(shift_m["3"]).min() > 1e-3
    assert [image_changes(plan, kind) for kind in ("drone", "vehicle", "roadside")] == [False, True, False]
    grey = np.full((60, 80, 3), 128, np.uint8)
    assert degraded_image(plan, grey, channel="CAM_FRONT_id_v1", step=0).std() == pytest.approx(4.0, rel=0.1)
    np.testing.assert_array_equal(degraded_image(plan, grey, channel="CAMERA_FRONT_id_3", step=0), grey)


def test_agents_of_equal_number_have_independent_errors() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=5, position_noise_m=0.5))
    drone = replace(DRONE, drone_id=1, map_SE3_flu=CAR.map_SE3_flu)
    pole = replace(POLE, map_SE3_flu=CAR.map_SE3_flu)
    positions = [
        tuple(agent_view(plan, state, channel="CAM_FRONT_id_v1", step=4)["reported_translation"])
        for state in (drone, CAR, pole)
    ]
    assert len(set(positions)) == 3


def test_links_by_sender_and_receiver() -> None:
    links = (("air_to_ground", 200_000, 0.25), ("ground_to_ground", 50_000, 0.0))
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=1, latency_us=7, links=links))
    lost = []
    for step in range(1500):
        now_us = plan.start_timestamp_us + step * plan.step_us
        up = agent_view(plan, DRONE, channel="CAMERA_FRONT_id_3", step=step)
        assert up["arrival_timestamp_us"] == now_us + 7
        assert set(up["links"]) == {"ground"}
        assert up["links"]["ground"]["arrival_timestamp_us"] == now_us + 200_000
        lost.append(up["links"]["ground"]["dropped"])
    assert np.mean(lost) == pytest.approx(0.25, abs=0.05)
    down = agent_view(plan, CAR, channel="CAM_FRONT_id_v1", step=0)
    assert down["links"] == {"ground": {"arrival_timestamp_us": plan.start_timestamp_us + 50_000, "dropped": False}}
    assert "links" not in agent_view(
        replace(plan, degradations=DegradationPlan()), CAR, channel="CAM_FRONT_id_v1", step=0
    )
