"""Cameras that compare successive images: optical flow and DVS (events).

Source: CARLA's ``OpticalFlowCamera`` and ``DVSCamera``.
"""

from typing import Any, Final

import numpy as np

from headless_simulator.carla.sensors import rays
from headless_simulator.carla.sensors.moment import Moment, Reading
from headless_simulator.render import Before, EventPixels, Tuning, optical_flow
from headless_simulator.scene import RenderedImage, UInt8, View
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import Pose6

FLOW: Final = "sensor.camera.optical_flow"
DVS: Final = "sensor.camera.dvs"
SUCCESSIVE: Final = frozenset({FLOW, DVS})

_LEAST_EPS: Final = 1e-9  # the logarithm of black stays finite
_LONGEST_NS: Final = 1 << 62
_MEMORY: Final = "previous image"


def gather(actor: Actor, pose: Pose6, moment: Moment) -> Any:
    """Return such a camera's data of its previous image, and record its current pose; None for other cameras.

    The previous image is the last drawn one, of any age: neither the view state nor ``ADVSCamera``'s image is dropped
    while the camera has no listener.
    """
    if actor.blueprint == FLOW:
        now = Before(pose, moment.movers)
        before = actor.extra.get(_MEMORY, now)
        actor.extra[_MEMORY] = now
        return before
    if actor.blueprint == DVS:
        return actor.extra.setdefault(_MEMORY, EventPixels(_tuning(actor), rays.generator(actor)))
    return None


def flow_bytes(view: View, reading: Reading, image: RenderedImage, moment: Moment) -> UInt8:
    """Return (H, W, 8) uint8: two float32 per pixel, the result of ``optical_flow``."""
    before: Before = reading.state
    return optical_flow(image, view, moment.movers, before).view(np.uint8)


def event_bytes(reading: Reading, bgra: UInt8, moment: Moment) -> UInt8:
    """Return (N * 13,) uint8: N packed events of all pixels, sorted by time, of the camera's (H, W, 4) uint8 image."""
    pixels: EventPixels = reading.state
    # rounded, so that the interval of two images is equal in every run, at any simulated time
    return pixels.update(bgra, round(moment.elapsed_s * 1e9)).view(np.uint8)


def _tuning(actor: Actor) -> Tuning:
    def number(name: str, default: float) -> float:
        return float(rays.number(actor, name, default))

    use_log = actor.order.attributes.get("use_log", "true").lower() in ("true", "1")
    return Tuning(
        thresholds=(number("positive_threshold", 0.3), number("negative_threshold", 0.3)),
        sigmas=(number("sigma_positive_threshold", 0.0), number("sigma_negative_threshold", 0.0)),
        refractory_ns=min(int(rays.number(actor, "refractory_period_ns", 0)), _LONGEST_NS),
        log_eps=max(number("log_eps", 0.001), _LEAST_EPS) if use_log else None,
    )
