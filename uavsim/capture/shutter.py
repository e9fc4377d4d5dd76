"""Compose shutter images from the images of several ticks: light is averaged, masks and depth are taken by row.

Each of these images has passed its tick and pose proofs before.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from uavsim.capture.assemble import Capture, Spread
from uavsim.geometry.se3 import SE3
from uavsim.geometry.shutter import Shutter
from uavsim.images.light import light_of, stored
from uavsim.records.modalities import DEPTH, INSTANCE, RGB, SHUTTER, SHUTTER_DEPTH, SHUTTER_INSTANCE, Mask
from uavsim.records.recording import ShutterTick
from uavsim.records.sensors import shutter_of
from uavsim.typing import AnyArray


class ThroughShutter:
    """Composes the shutter image of one camera."""

    def __init__(self, shutter: Shutter, height_px: int) -> None:
        """Start an image."""
        self._first, self._middle = shutter.first_ticks(height_px), shutter.middle_ticks(height_px)
        self._weights, self._height_px = shutter.weights, height_px
        self._light: AnyArray | None = None
        self._taken: dict[str, AnyArray] = {}

    def add(self, tick: int, data: dict[str, Any]) -> None:
        """Add a tick: (H, W, K) uint8 colours, (H, W) ids and tags, (H, W) depth in metres."""
        since = tick - self._first
        rows = np.flatnonzero((since >= 0) & (since < len(self._weights)))
        if len(rows):
            exposed = slice(int(rows[0]), int(rows[-1]) + 1)  # exposures begin in the order of the rows
            light = light_of(data[RGB][exposed, :, :3]) * self._weights[since[exposed], None, None].astype(np.float32)
            if self._light is None:
                self._light = np.zeros((self._height_px, *light.shape[1:]), np.float32)
            self._light[exposed] += light
        middle = self._middle == tick
        parts = {"ids": data[INSTANCE].ids, "tags": data[INSTANCE].tags}
        if DEPTH in data:
            parts[DEPTH] = data[DEPTH]
        for name, part in parts.items():
            self._taken.setdefault(name, np.zeros_like(part))[middle] = part[middle]

    def image(self) -> dict[str, Any]:
        """Return the composed data by modality."""
        assert self._light is not None, "a shutter has ticks"
        found = {
            SHUTTER: stored(self._light),
            SHUTTER_INSTANCE: Mask(self._taken["ids"], self._taken["tags"]),
        }
        return found | ({SHUTTER_DEPTH: self._taken[DEPTH]} if DEPTH in self._taken else {})


class ThroughShutters:
    """Composes the shutter images of all cameras of a capture."""

    def __init__(self, captures: Sequence[Capture]) -> None:
        """Start with the captures of the images' own tick; they receive the composed images."""
        self.captures = captures
        self._by_channel = {
            capture.pose.channel: ThroughShutter(shutter, capture.pose.sensor.spec.camera.height_px)
            for capture in captures
            if (shutter := shutter_of(capture.pose.sensor.spec)) is not None
        }
        self.ticks: list[ShutterTick] = []

    def add(self, captures: Sequence[Capture], *, step: int, spread: Spread = map) -> None:
        """Add the captures of the next tick, beginning with the images' own tick."""
        with_shutter = [capture for capture in captures if capture.pose.channel in self._by_channel]
        tick = len(self.ticks)
        list(spread(lambda capture: self._by_channel[capture.pose.channel].add(tick, capture.data), with_shutter))
        self.ticks.append(ShutterTick(step, SE3.stack([capture.pose.map_SE3_optical for capture in with_shutter])))

    def finish(self, *, spread: Spread = map) -> None:
        """Store each camera's image in its capture."""
        with_shutter = [capture for capture in self.captures if capture.pose.channel in self._by_channel]
        images = spread(lambda capture: self._by_channel[capture.pose.channel].image(), with_shutter)
        for capture, image in zip(with_shutter, list(images), strict=True):
            capture.data.update(image)
