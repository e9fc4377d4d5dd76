"""Images of a paused world: old ones, those of another drone and of another moment are refused."""

import numpy as np
import pytest

from uavsim.errors import MissedTick
from uavsim.geometry.se3 import SE3
from uavsim.records.sensors import Agent, CameraParams, Sensor, SensorSpec
from uavsim.simulate.merged.proof import LastImages, TimedReading, agreed, refuse_other_times, same_pixels
from uavsim.simulate.ports import Reading, SensorPose
from uavsim.typing import AnyArray

EYE = SensorSpec("FRONT", (0.0, 0.0, 0.0), (0.0, -45.0, 0.0), CameraParams(64, 48, 90.0), ("rgb",))
RNG = np.random.default_rng(5)
TRUE = RNG.integers(0, 255, (2, 48, 64, 3), dtype=np.uint8)
OLD = RNG.integers(0, 255, (2, 48, 64, 3), dtype=np.uint8)


def taken(images: AnyArray, *, modality: str = "rgb", time_ns: int = 50) -> list[TimedReading]:
    return [TimedReading(Reading(f"CAMERA_FRONT_id_{n}", modality, image), time_ns) for n, image in enumerate(images)]


def poses(x_m: float) -> list[SensorPose]:
    return [
        SensorPose(Sensor(Agent(n), EYE), np.array([x_m, 0, 60]), (0.0, -45.0, 0.0), SE3.identity(), np.zeros(3))
        for n in range(2)
    ]


def answers(*rounds: AnyArray) -> list[TimedReading]:
    left = list(rounds)
    return agreed(lambda: taken(left.pop(0)), frame=9)


def test_two_equal_answers_agree() -> None:
    np.testing.assert_array_equal(answers(TRUE, TRUE)[0].reading.data, TRUE[0])


@pytest.mark.parametrize("wrong", [OLD, TRUE[::-1], np.stack([TRUE[0], OLD[1]])], ids=["old", "swapped", "one old"])
def test_single_wrong_answer_is_not_accepted(wrong: np.ndarray) -> None:
    for rounds in ((wrong, TRUE, TRUE), (TRUE, wrong, TRUE, TRUE)):
        for one, true in zip(answers(*rounds), TRUE, strict=True):
            np.testing.assert_array_equal(one.reading.data, true)


def test_changing_images_are_refused() -> None:
    with pytest.raises(MissedTick, match="tick 9: CAMERA_FRONT_id_0 rgb changes although nothing moves"):
        answers(TRUE, OLD, TRUE, OLD, TRUE)


def test_noise_is_accepted_in_colours_only() -> None:
    noisy = np.clip(TRUE[0].astype(int) + RNG.integers(-5, 6, TRUE[0].shape), 0, 255).astype(np.uint8)
    assert same_pixels(TRUE[0], noisy, "rgb")
    assert not same_pixels(TRUE[0], noisy, "instance")
    car_moved = TRUE[0].copy()
    car_moved[8:16, 8:16] = 255 - car_moved[8:16, 8:16]
    assert not same_pixels(TRUE[0], car_moved, "rgb")
    depth = np.full((4, 4), np.nan, np.float32)
    assert same_pixels(depth, depth.copy(), "depth")
    assert not same_pixels(TRUE[0], TRUE[0][:-1], "rgb")


@pytest.mark.parametrize(("time_ns", "words"), [(39, "before"), (61, "after")])
def test_timestamps_outside_the_pause_are_refused(time_ns: int, words: str) -> None:
    refuse_other_times(taken(TRUE, time_ns=50), 40, 60, frame=3)
    with pytest.raises(MissedTick, match=rf"tick 3: CAMERA_FRONT_id_0 rgb was taken 0\.000 s {words} it"):
        refuse_other_times(taken(TRUE, time_ns=time_ns), 40, 60, frame=3)


def readings(images: AnyArray) -> list[Reading]:
    return [one.reading for one in taken(images)]


def test_images_of_the_previous_capture_are_recognised() -> None:
    last = LastImages()
    last.take(readings(TRUE), poses(0.0), frame=1)
    last.take(readings(TRUE), poses(0.0), frame=2)  # a drone that hovers over a still town sees the same
    with pytest.raises(MissedTick, match=r"tick 3: .*_id_0 shows the previous image of .*_id_0"):
        last.take(readings(TRUE), poses(2.5), frame=3)
    last = LastImages()
    last.take(readings(TRUE), poses(0.0), frame=1)
    with pytest.raises(MissedTick, match="tick 2: CAMERA_FRONT_id_0 shows the previous image of CAMERA_FRONT_id_1"):
        last.take(readings(np.stack([TRUE[1], OLD[1]])), poses(2.5), frame=2)


def test_equal_images_of_two_cameras_are_refused() -> None:
    apart = [poses(0.0)[0], poses(40.0)[1]]
    equal_images = readings(np.stack([TRUE[0], TRUE[0]]))
    with pytest.raises(
        MissedTick, match="tick 4: CAMERA_FRONT_id_1 shows the image of CAMERA_FRONT_id_0, which has another pose"
    ):
        LastImages().take(equal_images, apart, frame=4)
    LastImages().take(equal_images, poses(0.0), frame=4)  # two cameras in one place may
    LastImages().take(readings(np.full_like(TRUE, 90)), apart, frame=4)  # thick fog has no edges
