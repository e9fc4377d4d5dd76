"""Input of the ego with a share of the dataset's degradations of poses, links and cameras.

A dataset with ``degradations`` has true tables and, for each image, its drone's report (table ``agent_view``): a worse pose, a
later arrival, a loss. A share of 0 is the truth, 1 is the report; in between, pose errors, delays and the number of losses are
scaled in proportion.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

import uavsim
from uavsim_baselines.data.frames import Frame
from uavsim_baselines.data.items import Sight
from uavsim_baselines.errors import BaselineError

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {"pose": "poses of the others", "latency": "age of what the others send", "messages": "lost messages",
     "cameras": "lost images"}
)  # fmt: skip
"""Kinds of degradations with their descriptions."""


@dataclass(frozen=True, slots=True)
class Degradation:
    """Shares of the degradations in the dataset, 0 to 1.

    Attributes:
        pose: share of the position and heading errors of other agents; the ego's pose stays true.
        latency: share of the delay of other agents' messages.
        messages: share of lost messages: an agent is absent if its first camera's image is lost.
        cameras: share of lost single images of all agents, including the ego.
    """

    pose: float = 0.0
    latency: float = 0.0
    messages: float = 0.0
    cameras: float = 0.0


class DegradedSights:
    """The drones' views at each frame of a split; see ``training.predict.Sights``.

    Args:
        frames: frames of the split; late messages belong to earlier ones.
        degradation: shares of the degradations.

    Raises:
        BaselineError: the dataset lacks the degradation.
    """

    def __init__(self, frames: Sequence[Frame], degradation: Degradation) -> None:
        self.degradation = degradation
        self._by_scene: dict[str, list[Frame]] = {}
        for frame in frames:
            self._by_scene.setdefault(frame.scene, []).append(frame)
        first = frames[0].cameras[0][0]
        if not first.reported:
            raise BaselineError(
                f"{first.filename}: the dataset has no table agent_view, the drones' reports; "
                "generate one with degradations in its YAML"
            )

    def __call__(self, frame: Frame, used: Sequence[int]) -> list[Sight]:
        """Return the views of drones at the given positions in the frame; the first one is the ego."""
        return [self._sight(frame, index, ego=number == 0) for number, index in enumerate(used)]

    def _sight(self, frame: Frame, index: int, *, ego: bool) -> Sight:
        source = frame if ego else self._newest(frame, index)
        if source is None:
            return Sight(
                frame.cameras[index], frame.map_T_flu[index], (False,) * len(frame.cameras[index]), present=False
            )
        cameras, pose = source.cameras[index], source.map_T_flu[index]
        lost = tuple(_lost(camera, "camera", self.degradation.cameras) for camera in cameras)
        if ego:
            return Sight(cameras, pose, lost)
        heard = not _lost(cameras[0], "message", self.degradation.messages)
        return Sight(cameras, _shifted(pose, cameras[0].reported, self.degradation.pose), lost, present=heard)

    def _newest(self, frame: Frame, index: int) -> Frame | None:
        """Return the newest frame with an arrived message, or None."""
        share = self.degradation.latency
        arrived = [
            other
            for other in self._by_scene[frame.scene]
            if other.timestamp_us + share * _delay_us(other.cameras[index][0]) <= frame.timestamp_us
        ]
        return max(arrived, key=lambda other: other.timestamp_us, default=None)


def _delay_us(camera: uavsim.Image) -> float:
    return float(camera.reported["arrival_timestamp_us"]) - camera.timestamp_us


def _lost(camera: uavsim.Image, cause: str, share: float) -> bool:
    """Return whether an image counts as lost at a share; larger shares include smaller ones."""
    if not camera.reported["dropped"]:
        return False
    drawn = zlib.crc32(f"{cause} {camera.token}".encode()) / 2**32
    return drawn < share


def _shifted(map_T_flu: Tensor, reported: Mapping[str, Any], share: float) -> Tensor:
    """Interpolate (4, 4) poses from the true to the reported one by a share; the rotation is about z."""
    stated = np.array(reported["reported_translation"], dtype=np.float64)
    w, x, y, z = (float(part) for part in reported["reported_rotation"])
    heading = np.arctan2(2.0 * (x * y + w * z), 1.0 - 2.0 * (y * y + z * z))
    true_heading = torch.atan2(map_T_flu[1, 0], map_T_flu[0, 0])
    apart = torch.as_tensor(heading) - true_heading
    turn_rad = share * torch.atan2(apart.sin(), apart.cos())
    turned = torch.eye(3, dtype=map_T_flu.dtype)
    turned[0, 0] = turned[1, 1] = turn_rad.cos()
    turned[1, 0], turned[0, 1] = turn_rad.sin(), -turn_rad.sin()
    moved = map_T_flu.clone()
    moved[:3, :3] = turned @ map_T_flu[:3, :3]
    moved[:3, 3] += share * (torch.from_numpy(stated) - map_T_flu[:3, 3])
    return moved
