"""Stream files: content, carrier of the motion, and reproducible bytes."""

import io
import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from tools.common.factories import make_recording
from uavsim.errors import DatasetError
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.flight_sensors import FlightSensorsPlan
from uavsim.ingredients.flight_sensors.stream_files import write_streams
from uavsim.ingredients.vehicles import VehiclesPlan
from uavsim.records.motion import SceneMotion
from uavsim.records.recording import AgentState, Recording
from uavsim.records.sensors import Agent

EXACT = {"rate_hz": 20.0, "gyroscope": {}, "accelerometer": {}}
CAR = Agent(0, "vehicle")


@pytest.fixture(scope="module")
def flown(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Return a recording with car 7 on a circle, tick by tick as in CARLA: float32, y to the right, degrees."""
    made = make_recording(tmp_path_factory.mktemp("flown"), samples=3, sweeps=0, drones=2, size_px=(32, 18))
    steps = made.plan.capture_steps[-1] + 1
    t = np.arange(steps) * 0.05
    ue_pose = np.zeros((steps, 1, 6), np.float32)
    ue_pose[:, 0, 0], ue_pose[:, 0, 1] = 20 * np.cos(0.5 * t), -20 * np.sin(0.5 * t)  # to the left, 20 m, 10 m/s
    ue_pose[:, 0, 5] = -np.degrees(0.5 * t + np.pi / 2)
    motion = SceneMotion(
        step=np.arange(steps),
        instance_id=np.array([7]),
        ue_pose=ue_pose,
        control=np.zeros((steps, 1, 5), np.float32),
        lights=np.zeros((steps, 1), np.uint32),
        signal_id=(),
        signals=np.zeros((steps, 0), np.uint8),
        drone_id=(0, 1),
        map_SE3_flu=SE3.stack([made.plan.swarm.map_SE3_flu[step] for step in range(steps)]),
        velocity_map_mps=np.zeros((steps, 2, 3)),
    )
    at = AgentState(CAR, made.plan.swarm.map_SE3_flu[0, 0], np.zeros(3), instance_id=7)
    frames = tuple(replace(frame, others=(at,)) for frame in made.frames)
    ground = {"vehicles": VehiclesPlan((CAR,), (), "none", labels_itself=False)}
    return replace(made, plan=replace(made.plan, ingredients=ground), frames=frames, motion=motion.packed())


def test_a_car_on_a_circle_has_the_right_imu_readings(flown: Recording) -> None:
    moves = write_streams(flown, FlightSensorsPlan(1, {}, {"imu": EXACT}))
    assert list(moves) == list(moves.values()) == ["streams/IMU_id_v0/scene_00__IMU_id_v0.parquet"]
    table = pq.read_table(flown.folder / next(iter(moves)))
    times_us = flown.plan.start_timestamp_us + np.arange(21) * 50_000
    assert table["timestamp_us"].to_pylist() == times_us.tolist()
    force, turning = (np.array(table[name].to_pylist())[3:-3] for name in ("accelerometer_mps2", "gyroscope_radps"))
    np.testing.assert_allclose(force, np.tile([0, 5, 9.81], (15, 1)), atol=0.02)  # float32 of 20 m is 2e-6 m
    np.testing.assert_allclose(turning, np.tile([0, 0, 0.5], (15, 1)), atol=1e-3)
    about = json.loads(table.schema.metadata[b"uavsim"])
    assert (about["kind"], about["motion"], about["model"]["rate_hz"]) == ("imu", "reported", 20)


def test_a_flown_drones_forces_do_not_jump_where_its_simulator_pauses_a_little_late(flown: Recording) -> None:
    """The drone flies forward at 12 m/s and brakes at 1 m/s^2; its physics has steps of 3 ms."""
    assert flown.motion is not None
    motion, t = flown.motion.open(), np.ceil(np.arange(21) * 0.05 / 0.003) * 0.003
    places, speeds = np.zeros((21, 2, 3)), np.zeros((21, 2, 3))
    places[:, 1, 0], speeds[:, 1, 0] = 12 * t - t**2 / 2, 12 - t
    level = SE3(np.tile([1.0, 0, 0, 0], (21, 2, 1)), places)
    late = replace(flown, motion=replace(motion, map_SE3_flu=level, velocity_map_mps=speeds).packed())
    moves = write_streams(late, FlightSensorsPlan(1, {"imu": EXACT}, flown=True))
    table = pq.read_table(flown.folder / next(name for name in moves if "_id_1" in name))
    force = np.array(table["accelerometer_mps2"].to_pylist())
    np.testing.assert_allclose(force, np.tile([-1, 0, 9.81], (21, 1)), atol=0.15)
    np.testing.assert_allclose(np.array(table["position_map_m"].to_pylist()), places[:, 1], atol=1e-9)


def test_the_same_recording_gives_the_same_bytes(flown: Recording) -> None:
    record = FlightSensorsPlan(
        1, {"imu": {"rate_hz": 200.0}, "gnss": {}, "barometer": {}, "magnetometer": {}}, {"imu": EXACT}
    )
    once, again = (
        {name: (flown.folder / name).read_bytes() for name in write_streams(flown, record)} for _ in range(2)
    )
    assert once == again
    assert len(once) == 2 * 4 + 1
    other = write_streams(flown, replace(record, seed=2))
    assert all((flown.folder / name).read_bytes() != once[name] for name in other if "_v0" not in name)
    drones = [pq.read_table(io.BytesIO(once[f"streams/GNSS_id_{n}/scene_00__GNSS_id_{n}.parquet"])) for n in (0, 1)]
    errors = [np.subtract(*(np.array(t[f"velocity_map_{w}mps"].to_pylist()) for w in ("", "true_"))) for t in drones]
    assert (errors[0] != errors[1]).all()  # each carrier's errors are its own


def test_every_agent_has_the_origin_of_the_towns_map(flown: Recording) -> None:
    origin_deg_m, units = (48.5, -9.25, 0.0), {"gnss": {"rate_hz": 20.0}, "barometer": {"rate_hz": 20.0}}
    relocated = replace(flown, facts=replace(flown.facts, origin_deg_m=origin_deg_m))
    moves = write_streams(relocated, FlightSensorsPlan(1, units, units))
    tables = {name.split("/")[1]: pq.read_table(flown.folder / name) for name in moves}
    assert list(tables) == [f"{kind}_id_{agent}" for agent in ("0", "1", "v0") for kind in ("GNSS", "BAROMETER")]
    assert all(json.loads(t.schema.metadata[b"uavsim"])["origin_deg_m"] == list(origin_deg_m) for t in tables.values())
    for agent in ("0", "1", "v0"):
        lat, lon, height_m = np.array(tables[f"GNSS_id_{agent}"]["lat_lon_deg_height_m_true"].to_pylist()).T
        np.testing.assert_allclose((lat, lon), np.tile([[48.5], [-9.25]], len(lat)), atol=0.003)
        pressure_pa = np.array(tables[f"BAROMETER_id_{agent}"]["pressure_true_pa"].to_pylist())
        np.testing.assert_allclose(pressure_pa, 101325 * (1 - 0.0065 * height_m / 288.15) ** 5.25588, atol=0.01)


@pytest.mark.parametrize("recorded", ["none", "keyframes"])
def test_motion_that_was_not_recorded_is_refused(flown: Recording, recorded: str) -> None:
    assert flown.motion is not None
    motion = None if recorded == "none" else replace(flown.motion.open(), step=np.arange(21) * 10).packed()
    with pytest.raises(DatasetError, match="need the motion of every step, which was not recorded"):
        write_streams(replace(flown, motion=motion), FlightSensorsPlan(1, {}, {"imu": EXACT}))


def test_a_drone_that_left_its_plan_is_refused(flown: Recording) -> None:
    first = flown.frames[0]
    aside = replace(first.drones[1], map_SE3_flu=first.drones[0].map_SE3_flu)
    left = replace(flown, frames=(replace(first, drones=(first.drones[0], aside)), *flown.frames[1:]))
    with pytest.raises(DatasetError, match=r"drone 1 was .* from its plan at step 0"):
        write_streams(left, FlightSensorsPlan(1, {"imu": EXACT}))


def test_a_plan_of_another_version_is_refused(flown: Recording) -> None:
    with pytest.raises(DatasetError, match="of another version"):
        write_streams(flown, FlightSensorsPlan(1, {"imu": {"rate": 1}}))
