"""Kept captures are recorded as flown ones are."""

from pathlib import Path

import numpy as np

from tests.capture.test_recording_writer import INFOS, PLAN, STATES, _images
from tools.bench.frames import Frame, Kept, plan_of, quiet
from uavsim.capture.record import record_scene
from uavsim.capture.recording_reader import read_recording
from uavsim.simulate.ports import SceneTraffic, TickState
from uavsim.simulate.swarm import PlannedSwarm


def test_captures_come_again_and_again(tmp_path: Path):
    swarm = PlannedSwarm()
    swarm.begin(PLAN, heartbeat=quiet)
    frames = tuple(Frame(swarm.advance(0), TickState(77 + k, 0.0, lambda: STATES), _images(seed=k)) for k in (0, 1))
    kept = Kept(frames, SceneTraffic(INFOS, {"vehicles": (2, 2)}), np.zeros((0, 4, 2)))
    assert [len(captures) for captures in kept.captures(PLAN)] == [len(PLAN.channels)] * 2
    record_scene(kept.session(PLAN), PLAN, tmp_path, heartbeat=quiet, sample_taken=lambda _samples, _images: None)
    assert [frame.simulator_frame for frame in read_recording(tmp_path).frames] == [77, 77]  # steps 0 and 10


def test_every_tick_of_the_plan_is_a_capture():
    plan = plan_of(5, images="jpeg")
    assert list(plan.capture_steps) == [0, 1, 2, 3, 4]
    assert plan.images.kind == "jpeg"
