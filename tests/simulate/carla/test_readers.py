"""Measurements of CARLA's client, calculated by hand."""

import struct
import weakref
from typing import Any, cast

import carla
import numpy as np

from uavsim.records.radar import RadarParams
from uavsim.records.sensors import CameraParams, Exposure
from uavsim.simulate.carla import radar, readers
from uavsim.simulate.carla.inbox import Inbox


def test_semantic_tags_are_the_red_channel() -> None:
    class Image:
        width, height = 2, 1
        raw_data = bytes([0, 0, 14, 255, 9, 9, 24, 255])  # blue, green, red, alpha

    assert readers.SEMANTIC.read(Image()).tolist() == [[14, 24]]


def test_flow_is_in_pixels_right_and_down() -> None:
    """In an image of 4 x 2, 0.25 of clip space to the right is half a pixel, 0.5 up is half a pixel up."""

    class Image:
        width, height = 4, 2
        raw_data = np.tile(np.array([0.25, 0.5], np.float32), 8).tobytes()

    np.testing.assert_array_equal(readers.OPTICAL_FLOW.read(Image())[1, 3], [0.5, -0.5])


def test_event_times_are_relative_to_the_image() -> None:
    """The image at 12.5 s has two events: at pixel (3, 1) 2 ms earlier, and at (0, 0) at the same time."""

    class Image:
        timestamp = 12.5
        raw_data = struct.pack("<HHq?", 3, 1, 12_498_000_000, True) + struct.pack("<HHq?", 0, 0, 12_500_000_000, False)

    assert readers.EVENTS.read(Image()).tolist() == [(3, 1, -2_000_000, 1), (0, 0, 0, 0)]


def test_radar_axes() -> None:
    """CARLA's order is velocity, azimuth, altitude, depth; a ray 30 degrees to the right lies at y = -sin 30 of our frame."""

    class Measurement:
        raw_data = np.array([[9, np.pi / 6, 0, 10], [9, 0, np.pi / 6, 10]], np.float32).tobytes()

    found = radar.RADAR.read(Measurement())["flu_m"]
    level = 10 * np.cos(np.pi / 6)
    np.testing.assert_allclose(found, [[level, -5, 0], [level, 0, 5]], atol=1e-5)
    params = RadarParams(10.0, 6000, 60.0, 20.0, 1)
    assert radar.RADAR.fault(Measurement(), params, {}) == ""
    assert "sees 10.0 m far" in radar.RADAR.fault(Measurement(), RadarParams(9.0, 6000, 60.0, 20.0, 1), {})


def test_mask_image_is_released_after_copying() -> None:
    """A measurement held until the next one makes libcarla allocate memory permanently."""

    class Image:
        frame, timestamp, transform, width, height, fov = 7, 0.35, "where", 2, 1, 90.0
        raw_data = bytes([1, 2, 14, 255, 3, 0, 24, 255])  # ids' high byte is blue, low byte green; red is the tag

    image = Image()
    image_ref = weakref.ref(image)
    inbox = Inbox()
    inbox.expect(7)
    inbox.put(0, cast("carla.SensorData", image), copy=lambda taken: readers.INSTANCE.copy(taken, np.arange(256) == 14))
    del image

    assert image_ref() is None
    found = inbox.get(timeout_s=1)
    assert found is not None
    mask: Any = found[1]
    runs, tags = readers.INSTANCE.read(mask)
    assert (runs.tolist(), tags.tolist()) == ([[0, 0, 1, 0x0102, 14]], [[14, 24]])
    assert (mask.frame, mask.timestamp, mask.transform) == (7, 0.35, "where")
    assert (mask.width, mask.height, mask.fov) == (2, 1, 90.0)


def test_exposure_attributes_of_colour_and_event_cameras() -> None:
    """CARLA's names: ref_sensors.md, "Advanced camera attributes"."""
    adapted = CameraParams(32, 18, 90.0, exposure=Exposure(speed=4.0, compensation=0.5))
    histogram = {"exposure_mode": "histogram", "exposure_compensation": "0.5"}
    speeds = {"exposure_speed_up": "4.0", "exposure_speed_down": "4.0"}
    assert readers.RGB.optional(adapted) == {"motion_blur_intensity": "0.0", **histogram, **speeds}
    assert readers.EVENTS.optional(adapted) == {**histogram, **speeds}
    constant = readers.EVENTS.optional(CameraParams(32, 18, 90.0, exposure=Exposure("manual", iso=400.0, fstop=8.0)))
    assert constant == {
        "exposure_mode": "manual", "exposure_compensation": "0.0", "shutter_speed": "200.0", "iso": "400.0", "fstop": "8.0",
    }  # fmt: skip
    assert not any(reader.optional(adapted) for reader in (readers.DEPTH, readers.INSTANCE, readers.SEMANTIC))
