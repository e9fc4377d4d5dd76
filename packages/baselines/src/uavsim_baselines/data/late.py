"""Delayed images of other agents, by their clocks or by a shifted index.

The delay comes from the table ``message`` (``known_at``) or the keyframes, plus a latency drawn for each frame and sender
between two bounds. A sender's pose and images belong to its capture time.
"""

import zlib
from collections.abc import Sequence
from functools import cached_property

import torch

import uavsim
from uavsim_baselines.config import DataConfig
from uavsim_baselines.data.frames import Frame
from uavsim_baselines.data.items import Sight, Sights, sights_of


def sights_for(frames: Sequence[Frame], config: DataConfig) -> Sights:
    """Return the function that reads views for a configuration."""
    return sights_of if config.late is None else LateSights(frames, config)


class LateSights:
    """Current images of the ego, and the newest received image of each other drone (``Sights``).

    Args:
        frames: frames of a split by scene and time.
        config: configuration with ``late``.
    """

    def __init__(self, frames: Sequence[Frame], config: DataConfig) -> None:
        assert config.late is not None
        self._config, self._late = config, config.late
        self._scene_of: dict[str, list[Frame]] = {}
        for frame in frames:
            self._scene_of.setdefault(frame.scene, []).append(frame)
        self._heard: dict[tuple[str, int, int], Sight] = {}

    def __call__(self, frame: Frame, used: Sequence[int]) -> list[Sight]:
        """Return the views of drones; the first is the ego's."""
        return [sights_of(frame, used[:1])[0], *(self._cached(frame, used[0], index) for index in used[1:])]

    def _cached(self, frame: Frame, ego: int, index: int) -> Sight:
        key = (frame.token, ego, index)
        if key not in self._heard:
            least, most = self._late.latency_ms
            drawn = zlib.crc32(f"{frame.token} {index}".encode()) / 2**32
            latency_us = round((least + drawn * (most - least)) * 1e3)
            read_sight = self._by_clock if self._late.way == "clocks" else self._by_index
            self._heard[key] = read_sight(frame, ego, index, latency_us)
        return self._heard[key]

    def _by_index(self, frame: Frame, _ego: int, index: int, latency_us: int) -> Sight:
        scene = self._scene_of[frame.scene]
        # A single sample has no older one.
        period_us = scene[1].timestamp_us - scene[0].timestamp_us if len(scene) > 1 else 1
        older = scene.index(frame) - round(latency_us / period_us)
        if older < 0:
            return _absent(frame, index)
        source = scene[older]
        (sight,) = sights_of(source, [index])
        return _aged(sight, (frame.timestamp_us - source.timestamp_us) * 1e-6)

    def _by_clock(self, frame: Frame, ego: int, index: int, latency_us: int) -> Sight:
        scene = self._scenes[frame.scene]
        ego_name, sender = str(frame.drones[ego]), str(frame.drones[index])
        known = scene.known_at(frame.timestamp_us - latency_us, ego_name).get(sender)
        if known is None:
            return _absent(frame, index)
        channels = [camera.channel for camera in frame.cameras[index]]
        found = {image.channel: image for image in known.images}
        cameras = tuple(found[channel] for channel in channels)
        pose = torch.from_numpy(cameras[0].map_SE3_flu.matrix)
        return _aged(Sight(cameras, pose, (False,) * len(cameras)), (known.age_us + latency_us) * 1e-6)

    @cached_property
    def _scenes(self) -> dict[str, uavsim.Scene]:
        data = uavsim.open(self._config.folder, self._config.version)
        return {name: data.scene(name) for name in self._scene_of}


def _aged(sight: Sight, age_s: float) -> Sight:
    return Sight(sight.cameras, sight.map_T_flu, sight.lost, age_s=age_s)


def _absent(frame: Frame, index: int) -> Sight:
    cameras = frame.cameras[index]
    return Sight(cameras, frame.map_T_flu[index], (True,) * len(cameras), present=False)
