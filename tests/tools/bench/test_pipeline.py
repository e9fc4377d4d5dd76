"""Kept captures are recorded as flown ones are, and ways are compared turn by turn."""

from pathlib import Path

import numpy as np
import pytest

from tests.capture.test_recording_writer import INFOS, PLAN, STATES, _images
from tools.bench.pipeline import Frame, Kept, plan_of, quiet, shares
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
    plan = plan_of(5)
    assert list(plan.capture_steps) == [0, 1, 2, 3, 4]


def test_only_turns_next_to_each_other_are_compared():
    encoder_s, pipeline_s = [1.0, 4.0, 1.0], [2.0, 8.0, 4.0]  # the machine was busy in the second turn
    assert shares(encoder_s, pipeline_s) == pytest.approx(0.5)
