"""Who2com and When2com: the ego broadcasts a query, the others answer with scores, and some send features.

Source: Liu, Tian, Glaser, Kira: "When2com: Multi-Agent Perception via Communication Graph Grouping", CVPR 2020; Liu, Tian, Ma,
Glaser, Kuo, Kira: "Who2com: Collaborative Perception via Learnable Handshake Communication", ICRA 2020. Both work on images
from about one place; here features are moved into the ego's grid first, as UAV3D's and V2X-Sim's versions do.
"""

import torch
from torch import Tensor, nn

from uavsim_baselines.config import SharingConfig
from uavsim_baselines.sharing.messages import FLOAT_BYTES, Messages, Shared, Sharing, feature_bytes, in_grid_of

_LOWEST = -1e9  # masked score; finite, because the softmax of a row of -inf is undefined


class _Handshake(nn.Module):
    """Scores between an ego's query and the drones' keys: general attention, q W k."""

    def __init__(self, channels: int, config: SharingConfig) -> None:
        super().__init__()
        self.look = nn.Sequential(
            nn.Conv2d(channels, channels, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.query = nn.Linear(channels, config.query_channels)
        self.key = nn.Linear(channels, config.key_channels)
        self.match = nn.Linear(config.query_channels, config.key_channels, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return (B, D) scores of (B, D, C, cells, cells) features for the query of drone 0."""
        batch, drones = features.shape[:2]
        descriptors = self.look(features.flatten(0, 1)).unflatten(0, (batch, drones))
        query = self.match(self.query(descriptors[:, 0]))
        scores: Tensor = (self.key(descriptors) * query[:, None]).sum(-1) / query.shape[-1] ** 0.5
        return scores


def _asking_bytes(config: SharingConfig, others: Tensor) -> Tensor:
    """Return (B,) bytes of a broadcast query and one score of each present drone, (B, D - 1)."""
    answers = others.sum(1)
    return FLOAT_BYTES * (config.query_channels * (answers > 0).long() + answers)


class When2com(Sharing):
    """Weights over all drones including the ego; drones with a weight below an equal share send nothing.

    In training every drone sends, so that all scores are learned. Remaining weights are normalised to 1.
    """

    def __init__(self, channels: int, config: SharingConfig) -> None:
        super().__init__()
        self.config = config
        self.handshake = _Handshake(channels, config)

    def forward(self, messages: Messages) -> Shared:
        """Return the weighted sum of the drones' features."""
        present = messages.present
        scores = self.handshake(messages.features).masked_fill(~present, _LOWEST)
        weights = scores.softmax(1) * present
        if not self.training:
            share = 1.0 / present.sum(1, keepdim=True)
            selected = weights >= share - 1e-6
            weights = weights * selected
        else:
            selected = present
        weights = weights / weights.sum(1, keepdim=True)
        moved, _ = in_grid_of(0, messages.features, messages)
        senders = (selected & present)[:, 1:].sum(1)
        sent = senders * feature_bytes(messages.features) + _asking_bytes(self.config, present[:, 1:])
        return Shared((moved * weights[:, :, None, None, None]).sum(1), sent)


class Who2com(Sharing):
    """The one drone with the highest score sends; its features are joined to the ego's by a convolution.

    In training, a softmax over the scores mixes all others, which has a gradient.
    """

    def __init__(self, channels: int, config: SharingConfig) -> None:
        super().__init__()
        self.config = config
        self.handshake = _Handshake(channels, config)
        self.join = nn.Conv2d(2 * channels, channels, 1)

    def forward(self, messages: Messages) -> Shared:
        """Return the ego's features joined with those of the chosen drone."""
        ego, others = messages.features[:, 0], messages.present[:, 1:]
        if others.shape[1] == 0:
            return Shared(ego, torch.zeros(len(ego), dtype=torch.int64, device=ego.device))
        scores = self.handshake(messages.features)[:, 1:].masked_fill(~others, _LOWEST)
        if self.training:
            weights, senders = scores.softmax(1), others.sum(1)
        else:
            weights = torch.zeros_like(scores).scatter(1, scores.argmax(1, keepdim=True), 1.0)
            senders = others.any(1).long()
        moved, _ = in_grid_of(0, messages.features, messages)
        chosen = (moved[:, 1:] * weights[:, :, None, None, None]).sum(1)
        joined = self.join(torch.cat([ego, chosen], dim=1))
        alone = ~others.any(1)[:, None, None, None]
        sent = senders * feature_bytes(messages.features) + _asking_bytes(self.config, others)
        return Shared(torch.where(alone, ego, joined), sent)
