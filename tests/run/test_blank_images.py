"""A simulator that renders nothing is reported by its first images."""

from pathlib import Path

import numpy as np
import pytest

from tools.common.factories import make_recording
from uavsim.errors import SceneVoid
from uavsim.images.codec import encode_png
from uavsim.records.recording import Recording
from uavsim.run.blank_images import refuse_blank_images


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return make_recording(tmp_path, samples=1, sweeps=0, drones=2, size_px=(64, 36))


def paint(recording: Recording, drone_id: int, *, but: str = "") -> None:
    for shot in recording.frames[0].readings:
        if shot.sensor.agent.number == drone_id and shot.sensor.spec.name != but:
            grey = np.full((36, 64, 3), 127, np.uint8)
            grey[0, 0] += 2  # what compression or dithering may leave
            (recording.folder / shot.files["rgb"]).write_bytes(encode_png(grey))


def test_images_of_a_street_are_taken(recording: Recording) -> None:
    refuse_blank_images(recording)


def test_one_colour_in_all_cameras_is_refused(recording: Recording) -> None:
    paint(recording, recording.frames[0].readings[0].sensor.agent.number)
    with pytest.raises(SceneVoid, match="of one colour"):
        refuse_blank_images(recording)


def test_a_camera_that_looks_at_the_sky_is_no_fault(recording: Recording) -> None:
    first = recording.frames[0].readings[0]
    paint(recording, first.sensor.agent.number, but=first.sensor.spec.name)
    refuse_blank_images(recording)
