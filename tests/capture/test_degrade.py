from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tools.common.plans import scene_plan
from uavsim.capture.degrade import agent_view, degraded_image, image_changes
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import DegradationPlan
from uavsim.records.recording import DroneState

T = np.array([10.0, -20.0, 60.0])
DRONE = DroneState(3, SE3(np.array([1.0, 0, 0, 0]), T), np.zeros(3), SE3(np.array([1.0, 0, 0, 0]), T))


def test_nothing_is_degraded_by_default() -> None:
    assert agent_view(scene_plan(), DRONE, channel="CAMERA_FRONT_id_3", step=0) == {}
    assert not image_changes(scene_plan())


def test_noise_has_the_size_asked_for_and_the_bias() -> None:
    wanted = DegradationPlan(
        seed=5, position_noise_m=0.5, position_bias_m=(1.0, 0.0, -2.0), clock_offset_us=40_000, latency_us=100_000
    )
    plan = replace(scene_plan(), degradations=wanted)
    views = [agent_view(plan, DRONE, channel="CAMERA_FRONT_id_3", step=step) for step in range(0, 4000, 2)]
    off = np.array([v["reported_translation"] for v in views]) - T
    np.testing.assert_allclose(off.mean(axis=0), [1.0, 0.0, -2.0], atol=0.05)
    np.testing.assert_allclose(off.std(axis=0), 0.5, rtol=0.08)
    clocks = {v["reported_timestamp_us"] - v["arrival_timestamp_us"] + 100_000 for v in views}
    assert len(clocks) == 1  # an agent's clock is off by the same all along
    assert abs(clocks.pop()) <= 40_000


def test_cameras_of_one_drone_report_one_pose() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=5, position_noise_m=0.5, yaw_noise_deg=1.0))
    front, left = (agent_view(plan, DRONE, channel=f"CAMERA_{c}_id_3", step=10) for c in ("FRONT", "LEFT"))
    assert front["reported_translation"] == left["reported_translation"]
    assert front["reported_rotation"] == left["reported_rotation"]


def test_dropped_share() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=1, drop_probability=0.25))
    dropped = [agent_view(plan, DRONE, channel="CAMERA_FRONT_id_3", step=s)["dropped"] for s in range(2000)]
    assert np.mean(dropped) == pytest.approx(0.25, abs=0.04)


def test_images_get_noise_and_light_and_repeat() -> None:
    plan = replace(scene_plan(), degradations=DegradationPlan(seed=1, pixel_noise_sigma=6.0, exposure_stops=-1.0))
    grey = np.full((120, 160, 3), 128, np.uint8)
    first = degraded_image(plan, grey, channel="CAMERA_FRONT_id_0", step=0)
    again = degraded_image(plan, grey, channel="CAMERA_FRONT_id_0", step=0)
    other = degraded_image(plan, grey, channel="CAMERA_FRONT_id_0", step=10)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.std() == pytest.approx(6.0, rel=0.05)
    assert first.mean() == pytest.approx(128 * 0.5 ** (1 / 2.2), abs=0.6)  # half the light


def test_where_faults_are_uneven_a_camera_has_one_of_them_or_none_all_scene_long() -> None:
    wanted = DegradationPlan(seed=1, pixel_noise_sigma=6.0, exposure_stops=-1.0, uneven=True)
    plan = replace(scene_plan(), degradations=wanted)
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
