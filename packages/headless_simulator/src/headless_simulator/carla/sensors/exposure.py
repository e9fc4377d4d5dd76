"""Exposure of RGB cameras, as Unreal 4.26 adapts it under CARLA's attributes: behaviour ``exposure=adapts``.

Unreal draws a scene in its own units of luminance and divides by the adapted luminance. Here the renderer's image counts as
correctly exposed: an image with a middle grey average has luminance ``_USUAL``, the middle of CARLA's ``exposure_min_bright``
10 and ``exposure_max_bright`` 12, and gain 1. Only drawn frames adapt; the state lives as long as the sensor's actor
(``bAlwaysPersistRenderingState``).

A new view has the exposure scale 1 of Unreal's white dummy texture: its adapted luminance is that of the compensation alone,
2^0.75 on Linux, far below ``exposure_min_bright``. With CARLA's defaults the first image is 2.5 stops too bright.

``calibration_constant`` has no effect: ``SceneCaptureSensor.cpp`` sets ``AutoExposureCalibrationConstant_DEPRECATED``.

Source: ``SceneCaptureSensor.cpp``; Unreal 4.26's ``PostProcessEyeAdaptation.cpp`` (``GetEyeAdaptationParameters``) and
``PostProcessHistogramCommon.ush`` (``ComputeEyeAdaptation``). The scale of a new view is not proven for CARLA's build.
"""

import math
from typing import Final

import numpy as np

from headless_simulator.carla.sensors import rays
from headless_simulator.scene import Float64, UInt8
from headless_simulator.world.actors import Actor

__all__ = ["Exposure", "exposure_of"]

_MEMORY: Final = "exposure"
_USUAL: Final = 11.0
_MIDDLE_GREY: Final = 0.18
_LINUX_STOPS: Final = 0.75  # ``SetExposureCompensation`` adds them
_GAMMA: Final = 2.2  # CARLA's default of the attribute ``gamma``
_EVERY_PX: Final = 4  # Unreal builds its histogram from a smaller image, too
_LOW, _HIGH = 0.1, 0.9  # ``AutoExposureLowPercent`` and ``HighPercent``
_LINEAR_BEYOND: Final = 1.5  # stops: ``r.EyeAdaptation.ExponentialTransitionDistance``
_SLOPE_S: Final = 1 / 60  # gives both laws the same slope at their junction
_DARKEST: Final = 1e-6
_BGR_LUMINANCE: Final = np.array([0.0722, 0.7152, 0.2126])
_LINEAR: Final = (np.arange(256) / 255) ** _GAMMA


class Exposure:
    """The exposure of one camera.

    Args:
        actor: the camera, with the attributes of CARLA's ``sensor.camera.rgb``.
    """

    def __init__(self, actor: Actor) -> None:
        def value(name: str, default: float) -> float:
            return float(rays.number(actor, name, default))

        self._is_manual = actor.order.attributes.get("exposure_mode") == "manual"
        self._compensation = value("exposure_compensation", 0.0)
        self._speed_up = max(value("exposure_speed_up", 3.0), 0.001)
        self._speed_down = max(value("exposure_speed_down", 1.0), 0.001)
        self._high = max(value("exposure_max_bright", 12.0), _DARKEST)
        self._low = min(max(value("exposure_min_bright", 10.0), _DARKEST), self._high)
        shutter, iso, fstop = value("shutter_speed", 200.0), max(value("iso", 100.0), 1.0), value("fstop", 1.4)
        self._manual_stops = (
            math.log2(200 * 1.4**2) - math.log2(max(shutter * fstop**2, _DARKEST)) + math.log2(iso / 100)
        )
        self._stops = self._compensation + _LINUX_STOPS  # log2 of the adapted luminance

    def expose(self, bgra: UInt8, delta_s: float) -> UInt8:
        """Adapt to a rendered image and return the exposed image, (H, W, 4) uint8.

        Args:
            bgra: (H, W, 4) uint8, not changed.
            delta_s: seconds since the last tick.
        """
        stops = self._manual_stops if self._is_manual else math.log2(_USUAL) - self._adapted(_luminance(bgra), delta_s)
        levels = np.rint(np.minimum(np.arange(256) * 2 ** ((stops + self._compensation) / _GAMMA), 255)).astype(
            np.uint8
        )
        exposed: UInt8 = levels[bgra]
        exposed[..., 3] = bgra[..., 3]
        return exposed

    def _adapted(self, luminance: float, delta_s: float) -> float:
        target = math.log2(min(max(luminance / _MIDDLE_GREY * _USUAL, self._low), self._high))
        if self._low == self._high:
            self._stops = target  # without a range Unreal adapts at once
            return self._stops
        remaining_stops = target - self._stops
        speed = self._speed_up if remaining_stops > 0 else self._speed_down
        if abs(remaining_stops) > _LINEAR_BEYOND:
            step = min(abs(remaining_stops), speed * delta_s)
        else:
            slope = _SLOPE_S * speed / ((1 - 2 ** (-_SLOPE_S * speed)) * _LINEAR_BEYOND)
            step = abs(remaining_stops) * (1 - 2 ** (-speed * delta_s)) * slope
        self._stops += math.copysign(step, remaining_stops)
        return self._stops


def exposure_of(actor: Actor) -> Exposure:
    """Return the exposure of a camera, created with its first image."""
    if _MEMORY not in actor.extra:
        actor.extra[_MEMORY] = Exposure(actor)
    exposure: Exposure = actor.extra[_MEMORY]
    return exposure


def _luminance(bgra: UInt8) -> float:
    """Return the mean linear luminance, 0 to 1, of an (H, W, 4) image without its darkest and brightest tenth."""
    sampled: Float64 = _LINEAR[bgra[::_EVERY_PX, ::_EVERY_PX, :3]] @ _BGR_LUMINANCE
    ordered = np.sort(sampled, axis=None)
    low, high = int(len(ordered) * _LOW), max(int(len(ordered) * _HIGH), 1)
    return float(ordered[low:high].mean())
