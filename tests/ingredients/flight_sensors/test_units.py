"""Readings against motion calculated by hand, and against predictions of the error model."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from uavsim.geometry.se3 import SE3
from uavsim.ingredients.flight_sensors.carrier_motion import CarrierMotion, Track
from uavsim.ingredients.flight_sensors.units import (
    Barometer,
    Gnss,
    Imu,
    InertialNoise,
    Magnetometer,
    Stream,
    Unit,
)
from uavsim.plan import plan_scenes
from uavsim.typing import FloatArray

STEP_US = 50_000
NONE = InertialNoise()
EXACT = Imu(rate_hz=200.0, gyroscope=NONE, accelerometer=NONE)


def read(unit: Unit, motion: CarrierMotion, seed: int = 0) -> Stream:
    return unit.read(motion, np.random.default_rng(seed))


def moved(
    place_m: FloatArray, yaw_rad: FloatArray, *, rate_hz: float = 200.0, until_s: float | None = None
) -> CarrierMotion:
    """Return the motion along (N, 3) positions, metres, and (N,) headings, radians, read at a rate."""
    quats = np.stack([np.cos(yaw_rad / 2), 0 * yaw_rad, 0 * yaw_rad, np.sin(yaw_rad / 2)], axis=1)
    last_us = (len(place_m) - 1) * STEP_US if until_s is None else int(until_s * 1e6)
    times_us = np.arange(0, last_us + 1, round(1e6 / rate_hz))
    return Track(SE3(quats, place_m), step_us=STEP_US, start_us=0).at(times_us)


def steps(seconds: float) -> FloatArray:
    return np.arange(round(seconds * 1e6 / STEP_US) + 1, dtype=np.float64) * (STEP_US / 1e6)


def integrated(found: Stream) -> FloatArray:
    """Integrate measured rates and forces like a strapdown navigator; returns (N, 3) positions, metres."""
    dt_s = np.diff(found["timestamp_us"]) / 1e6
    rates, forces = found["gyroscope_radps"], found["accelerometer_mps2"]
    turn = Rotation.from_quat(found["quat_wxyz"][0], scalar_first=True)
    position_m, velocity = found["position_map_m"][0].copy(), found["velocity_map_mps"][0].copy()
    positions_m = [position_m.copy()]
    for n, dt in enumerate(dt_s):
        before = turn.apply(forces[n])
        turn = turn * Rotation.from_rotvec((rates[n] + rates[n + 1]) / 2 * dt)
        acceleration = (before + turn.apply(forces[n + 1])) / 2 - np.array([0, 0, 9.81])
        position_m += velocity * dt + acceleration * dt**2 / 2
        velocity += acceleration * dt
        positions_m.append(position_m.copy())
    return np.array(positions_m)


def test_at_rest_the_force_is_9_81_upwards() -> None:
    found = read(EXACT, moved(np.zeros((21, 3)), np.full(21, 0.7)))
    np.testing.assert_allclose(found["accelerometer_mps2"], np.tile([0, 0, 9.81], (201, 1)), atol=1e-9)
    np.testing.assert_allclose(found["gyroscope_radps"], 0, atol=1e-9)


def test_in_free_fall_there_is_no_force() -> None:
    t = steps(1.0)
    position_m = np.stack([0 * t, 0 * t, 100 - 9.81 * t**2 / 2], axis=1)
    found = read(EXACT, moved(position_m, 0 * t))
    np.testing.assert_allclose(found["accelerometer_mps2"], 0, atol=1e-6)


def test_in_a_circle_the_force_is_to_its_middle() -> None:
    # 20 m, 10 m/s counter-clockwise, nose forward: the middle is to the left, v^2 / r = 5 m/s^2, turning 0.5 rad/s upwards
    t = steps(10.0)
    position_m = np.stack([20 * np.cos(0.5 * t), 20 * np.sin(0.5 * t), 0 * t], axis=1)
    found = read(EXACT, moved(position_m, 0.5 * t + np.pi / 2))[200:-200]
    np.testing.assert_allclose(found["accelerometer_mps2"], np.tile([0, 5, 9.81], (len(found), 1)), atol=2e-3)
    np.testing.assert_allclose(found["gyroscope_radps"], np.tile([0, 0, 0.5], (len(found), 1)), atol=1e-3)


def test_integrated_twice_a_planned_flight_ends_where_the_drone_was() -> None:
    plan = plan_scenes("uav3d-mini", scenes=[3])[0]
    start_us = 1_000_000
    times_us = start_us + np.arange(0, 10_000_001, 5_000)
    for drone in range(5):
        poses = plan.swarm.map_SE3_flu[:, drone]
        motion = Track(poses, step_us=plan.step_us, start_us=start_us).at(times_us)
        found = read(EXACT, motion)
        at_steps = found["position_map_m"][:: plan.step_us // 5_000]
        np.testing.assert_allclose(at_steps, poses.translation_m[: len(at_steps)], atol=1e-9)
        assert np.linalg.norm(integrated(found)[-1] - found["position_map_m"][-1]) < 0.01


def test_with_errors_a_hundred_flights_end_as_far_away_as_the_model_predicts() -> None:
    """With white accelerometer noise only, the position error after T seconds is white * sqrt(T^3 / 3) per axis."""
    t, white = steps(10.0), 0.02
    unit = Imu(rate_hz=200.0, gyroscope=NONE, accelerometer=InertialNoise(white=white))
    motion = moved(np.stack([5 * t, 0 * t, 0 * t], axis=1), 0 * t)
    off = []
    for seed in range(100):
        found = read(unit, motion, seed)
        force = found["accelerometer_mps2"] - found["accelerometer_true_mps2"]
        off.append((np.cumsum(np.cumsum(force, axis=0) / 200, axis=0) / 200)[-1])
    square = float((np.square(off) / (white**2 * 10.0**3 / 3)).sum())
    low, high = chi2.ppf([0.005, 0.995], 300)
    assert low < square < high


def test_all_errors_together_spread_a_hundred_navigators_as_the_model_predicts() -> None:
    """White noise and bias walks of a real IMU over 10 s of a planned flight; tilt errors also project gravity."""
    plan = plan_scenes("uav3d-mini", scenes=[3])[0]
    track = Track(plan.swarm.map_SE3_flu[:, 0], step_us=plan.step_us, start_us=0)
    found = [read(Imu(), track.at(np.arange(0, 10_000_001, 5_000)), seed) for seed in range(100)]
    rates, forces = (
        np.stack([one[name] for one in found], axis=1) for name in ("gyroscope_radps", "accelerometer_mps2")
    )
    turn = Rotation.from_quat(np.tile(found[0]["quat_wxyz"][0], (100, 1)), scalar_first=True)
    position_m, velocity = (np.tile(found[0][name][0], (100, 1)) for name in ("position_map_m", "velocity_map_mps"))
    for n in range(2000):
        before = turn.apply(forces[n])
        turn = turn * Rotation.from_rotvec((rates[n] + rates[n + 1]) / 2 * 0.005)
        acceleration = (before + turn.apply(forces[n + 1])) / 2 - np.array([0, 0, 9.81])
        position_m += velocity * 0.005 + acceleration * 0.005**2 / 2
        velocity += acceleration * 0.005
    t, force, turning = 10.0, Imu().accelerometer, Imu().gyroscope
    along_m2 = force.white**2 * t**3 / 3 + force.random_walk**2 * t**5 / 20
    tilt_m2 = 9.81**2 * (turning.white**2 * t**5 / 20 + turning.random_walk**2 * t**7 / 252)
    square = np.square(position_m - found[0]["position_map_m"][-1]).sum(axis=0)
    low, high = chi2.ppf([0.005, 0.995], 300)
    assert low < square[:2].sum() / (along_m2 + tilt_m2) + square[2] / along_m2 < high


def test_a_bias_walks_as_far_as_the_model_predicts() -> None:
    motion = moved(np.zeros((201, 3)), np.zeros(201))
    unit = Imu(rate_hz=200.0, gyroscope=InertialNoise(random_walk=1e-3), accelerometer=NONE)
    ends = [read(unit, motion, seed)["gyroscope_radps"][-1] for seed in range(100)]
    low, high = chi2.ppf([0.005, 0.995], 300)
    assert low < float((np.square(ends) / (1e-3**2 * 10.0)).sum()) < high


def test_the_allan_deviation_is_the_models() -> None:
    """By IEEE 952, white noise dominates at one second, later the bias walk with a deviation of walk * sqrt(tau / 3)."""
    still, white, walk = moved(np.zeros((20_001, 3)), np.zeros(20_001)), 1e-3, 2e-4  # 1,000 s
    both = Imu(rate_hz=200.0, gyroscope=InertialNoise(white=white, random_walk=walk), accelerometer=NONE)
    angle_rad = np.cumsum(read(both, still)["gyroscope_radps"], axis=0) / 200
    for tau_s in (0.1, 1.0, 30.0):
        m = round(200 * tau_s)
        second = angle_rad[2 * m :] - 2 * angle_rad[m:-m] + angle_rad[: -2 * m]
        found = np.sqrt(np.square(second).mean() / (2 * tau_s**2))
        assert found == pytest.approx(np.hypot(white / np.sqrt(tau_s), walk * np.sqrt(tau_s / 3)), rel=0.15)


def test_scale_and_misalignment_have_the_requested_size_and_the_bias_is_reported() -> None:
    still = moved(np.zeros((2, 3)), np.zeros(2), rate_hz=20)  # the force is 9.81 upwards
    noise = InertialNoise(bias=0.1, scale=0.01, misalignment_rad=0.02)
    unit = Imu(rate_hz=20.0, gyroscope=NONE, accelerometer=noise)
    all_found = [read(unit, still, seed) for seed in range(400)]
    off = np.array(
        [(f["accelerometer_mps2"] - f["accelerometer_true_mps2"] - f["accelerometer_bias_mps2"])[0] for f in all_found]
    )
    np.testing.assert_allclose(off.std(axis=0), [9.81 * 0.02, 9.81 * 0.02, 9.81 * 0.01], rtol=0.12)
    np.testing.assert_allclose(np.std([f["accelerometer_bias_mps2"][0] for f in all_found], axis=0), 0.1, rtol=0.12)


NORTH = Magnetometer(rate_hz=20.0, field_map_ut=(0.0, 20.0, -44.0), white_ut=0.0)


def test_a_field_that_points_north_is_to_the_left_of_a_drone_that_looks_east() -> None:
    still = moved(np.zeros((2, 3)), np.zeros(2), rate_hz=20)
    found = read(NORTH, still)
    np.testing.assert_allclose(found["field_ut"], np.tile([0, 20, -44], (2, 1)), atol=1e-12)
    turned = moved(np.zeros((2, 3)), np.full(2, np.pi / 2), rate_hz=20)  # looks north
    found = read(NORTH, turned)
    np.testing.assert_allclose(found["field_ut"], np.tile([20, 0, -44], (2, 1)), atol=1e-12)


def test_pressure_is_the_standard_atmospheres() -> None:
    high = moved(np.tile([0.0, 0.0, 1000.0], (2, 1)), np.zeros(2), rate_hz=20)
    found = read(Barometer(rate_hz=20.0, white_pa=0.0, random_walk_pa=0.0), high)
    np.testing.assert_allclose(found["pressure_pa"], 89_874.6, rtol=1e-4)  # the table's value at 1,000 m


def test_gnss_errors_have_the_configured_size() -> None:
    motion = moved(np.zeros((2001, 3)), np.zeros(2001), rate_hz=20)
    unit = Gnss(rate_hz=20.0, horizontal_m=2.0, vertical_m=3.0, velocity_mps=0.1)
    found = read(unit, motion, 5)
    off = found["lat_lon_deg_height_m"] - found["lat_lon_deg_height_m_true"]
    assert np.std(off[:, 0]) * 110_574 == pytest.approx(2.0, rel=0.1)
    assert np.std(off[:, 2]) == pytest.approx(3.0, rel=0.1)
    assert np.std(found["velocity_map_mps"]) == pytest.approx(0.1, rel=0.1)


def test_a_scene_of_one_image_has_one_reading() -> None:
    found = read(EXACT, moved(np.array([[1.0, 2, 3]]), np.zeros(1)))
    assert found["position_map_m"].tolist() == [[1, 2, 3]]
