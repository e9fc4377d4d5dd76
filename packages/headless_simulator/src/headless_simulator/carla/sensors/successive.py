"""Cameras that compare an image with the one before: optical flow and DVS (events).

Source: CARLA's ``OpticalFlowCamera`` and ``DVSCamera`` (what they send, when, and in which units).
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
    """Recall what such a camera has to know of its previous image, and note where it is now; others need nothing.

    The previous image is the last that it drew, however long ago: neither its view state nor ``ADVSCamera``'s image is
    forgotten while the camera has no listener.
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
    """Give (H, W, 8): two float32 a pixel."""
    before: Before = reading.state
    return optical_flow(image, view, moment.movers, before).view(np.uint8)


def event_bytes(reading: Reading, bgra: UInt8, moment: Moment) -> UInt8:
    """Give (N * 13,): the packed events of all pixels by time."""
    pixels: EventPixels = reading.state
    # rounded, so that two images are as far apart in every run, however long the simulator ran before
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
