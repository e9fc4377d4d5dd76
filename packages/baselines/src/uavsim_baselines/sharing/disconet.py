"""DiscoNet: learned weights for each cell of each drone, distilled from a teacher with all images.

Source: Li, Ren, Wu, Chen, Feng, Zhang: "Learning Distilled Collaboration Graph for Multi-Agent Perception", NeurIPS 2021. The
teacher is a model with sharing ``early``; ``bev.losses.distillation_loss`` compares the student's features with the teacher's.
"""

import torch
from torch import Tensor, nn

from uavsim_baselines.sharing.messages import Messages, Shared, Sharing, feature_bytes, in_grid_of

_LOWEST = -1e9


class DiscoNet(Sharing):
    """Graph edges with weight maps, computed from the cells of a drone and of the ego."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight = nn.Sequential(
            nn.Conv2d(2 * channels, channels, 1), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1), nn.ReLU(),
            nn.Conv2d(channels // 2, 1, 1),
        )  # fmt: skip

    def forward(self, messages: Messages) -> Shared:
        """Return the sum of all drones' features, weighted cell by cell."""
        moved, reach = in_grid_of(0, messages.features, messages)
        pairs = torch.cat([moved[:, :1].expand_as(moved), moved], dim=2)
        scores: Tensor = self.weight(pairs.flatten(0, 1)).unflatten(0, moved.shape[:2])[:, :, 0]
        weights = scores.masked_fill(~reach, _LOWEST).softmax(1)
        sent = messages.present[:, 1:].sum(1) * feature_bytes(messages.features)
        return Shared((moved * weights[:, :, None]).sum(1), sent)
