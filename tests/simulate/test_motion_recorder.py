from dataclasses import replace

import numpy as np
import pytest

from tools.common.plans import scene_plan
from uavsim.errors import MissedTick
from uavsim.geometry.se3 import SE3
from uavsim.records.motion import TickMotion
from uavsim.records.recording import DroneState
from uavsim.simulate.motion_recorder import MotionRecorder

PLAN = scene_plan(samples=2)
DRONE = DroneState(0, SE3.identity(), np.array([1.0, 2.0, 3.0]), SE3.identity())


def tick(*ids: int, x_m: float = 0.0, signals: tuple[str, ...] = ("4",)) -> TickMotion:
    count = len(ids)
    return TickMotion(
        instance_id=np.array(ids, dtype=np.int64),
        ue_pose=np.full((count, 6), x_m),
        control=np.full((count, 5), 0.5),
        lights=np.arange(count),
        is_held=np.zeros(count, np.bool_),
        signal_id=signals,
        signals=np.full(len(signals), 2),
    )


def test_vanished_actor_has_nan_poses() -> None:
    recorder = MotionRecorder(PLAN)
    for step, ids in enumerate(((1, 2, 5), (1, 5), (1, 5))):
        recorder.add(step, tick(*ids, x_m=float(step)), [DRONE])
    motion = recorder.motion()
    assert motion is not None
    assert motion.instance_id.tolist() == [1, 2, 5]
    assert np.isnan(motion.ue_pose[:, :, 0]).tolist() == [[False] * 3, [False, True, False], [False, True, False]]
    assert motion.ue_pose[2, 2].tolist() == [2.0] * 6
    assert motion.lights[:, 2].tolist() == [2, 1, 1]
    assert motion.map_SE3_flu.translation_m.shape == (3, 1, 3)
    assert motion.velocity_map_mps[1, 0].tolist() == [1.0, 2.0, 3.0]


def test_keyframe_recording_keeps_ticks_with_images() -> None:
    recorder = MotionRecorder(replace(PLAN, recording="keyframes"))
    for step in range(11):
        recorder.add(step, tick(1), [DRONE])
    motion = recorder.motion()
    assert motion is not None
    assert motion.step.tolist() == [0, 10]


def test_no_motion_without_reports() -> None:
    recorder = MotionRecorder(PLAN)
    recorder.add(0, None, [DRONE])
    assert recorder.motion() is None


def test_changed_traffic_lights_are_refused() -> None:
    recorder = MotionRecorder(PLAN)
    recorder.add(0, tick(1), [DRONE])
    recorder.add(1, tick(1, signals=("4", "5")), [DRONE])
    with pytest.raises(MissedTick, match="traffic lights"):
        recorder.motion()
