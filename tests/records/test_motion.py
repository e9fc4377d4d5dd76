import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.errors import DatasetError
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.codec import pack_value, unpack_value
from uavsim.records.motion import MotionLog, SceneMotion


def motion(ticks: int, actors: int, *, seed: int = 0, lights: int = 3, drones: int = 2) -> SceneMotion:
    """Make an irregular motion with a disappearing actor, NaN and signed zeros."""
    rng = np.random.default_rng(seed)
    ue_pose = rng.normal(0, 100, (ticks, actors, 6)).astype(np.float32)
    if actors and ticks > 1:
        ue_pose[ticks // 2 :, -1] = np.nan
        ue_pose[0, 0, 2] = -0.0
    return SceneMotion(
        step=np.arange(ticks, dtype=np.int64),
        instance_id=np.arange(1, actors + 1, dtype=np.int64),
        ue_pose=ue_pose,
        control=rng.random((ticks, actors, 5)).astype(np.float32),
        lights=rng.integers(0, 2**32, (ticks, actors)).astype(np.uint32),
        signal_id=tuple(f"{n}" for n in range(lights)),
        signals=rng.integers(0, 4, (ticks, lights)).astype(np.uint8),
        drone_id=tuple(range(drones)),
        map_SE3_flu=SE3(quaternion.from_yaw(rng.random((ticks, drones))), rng.normal(0, 50, (ticks, drones, 3))),
        velocity_map_mps=rng.normal(0, 5, (ticks, drones, 3)),
    )


def same_bits(one: Any, other: Any) -> bool:
    if isinstance(one, SE3):
        return same_bits(one.quat_wxyz, other.quat_wxyz) and same_bits(one.translation_m, other.translation_m)
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    return bool(one == other)


@given(ticks=st.integers(1, 7), actors=st.integers(0, 5), lights=st.integers(0, 3), drones=st.integers(0, 3))
def test_a_motion_comes_back_bit_by_bit(ticks: int, actors: int, lights: int, drones: int) -> None:
    original = motion(ticks, actors, lights=lights, drones=drones)
    log: MotionLog = unpack_value(pack_value(original.packed()))
    unpacked = log.open()
    for field in dataclasses.fields(SceneMotion):
        assert same_bits(getattr(original, field.name), getattr(unpacked, field.name)), field.name


def test_standing_actors_take_almost_no_space() -> None:
    ticks, actors = 200, 50
    moving = motion(ticks, actors)
    standing = dataclasses.replace(
        moving,
        ue_pose=np.broadcast_to(moving.ue_pose[:1], moving.ue_pose.shape),
        control=np.broadcast_to(moving.control[:1], moving.control.shape),
        lights=np.broadcast_to(moving.lights[:1], moving.lights.shape),
    )
    assert standing.packed().size_bytes - dataclasses.replace(
        standing, instance_id=np.zeros(0, np.int64), ue_pose=np.zeros((ticks, 0, 6), np.float32),
        control=np.zeros((ticks, 0, 5), np.float32), lights=np.zeros((ticks, 0), np.uint32),
    ).packed().size_bytes < ticks * actors  # fmt: skip


def test_steps_that_were_not_recorded_are_those_of_the_next_one() -> None:
    sparse = dataclasses.replace(motion(3, 1), step=np.array([0, 10, 20]))
    assert [sparse.row_of(step) for step in (0, 1, 10, 11, 20, 25)] == [0, 1, 1, 2, 2, 2]


def test_a_damaged_motion_is_refused() -> None:
    log = motion(3, 2).packed()
    for data in (b"", log.columns["ue_pose"][:-9], log.columns["control"]):
        broken = dataclasses.replace(log, columns={**log.columns, "ue_pose": data})
        with pytest.raises(DatasetError, match="damaged"):
            broken.open()
