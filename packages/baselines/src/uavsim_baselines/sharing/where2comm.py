"""Where2comm: drones send only cells with confident detections.

Source: Hu, Fang, Lei, Zhong, Chen: "Where2comm: Communication-Efficient Collaborative Perception via Spatial Confidence Maps",
NeurIPS 2022; the first round, in which the request map is 1 everywhere. Cells are joined by scaled dot-product attention over
the drones that sent them.
"""

import torch
from torch import Tensor

from uavsim_baselines.config import SharingConfig
from uavsim_baselines.sharing.messages import FLOAT_BYTES, POSE_BYTES, Messages, Shared, Sharing, in_grid_of

_LOWEST = -1e9
_INDEX_BYTES = 4


class Where2comm(Sharing):
    """Sparse features: a drone sends cells where its own head exceeds the threshold for a class.

    In training, each sender sends a random share of its most confident cells, so that one model serves any threshold.
    """

    needs_confidence = True

    def __init__(self, config: SharingConfig) -> None:
        super().__init__()
        self.threshold = config.threshold

    def forward(self, messages: Messages) -> Shared:
        """Return the ego's features, fused with the received cells."""
        if messages.confidence is None:
            raise AssertionError("where2comm needs confidence maps")
        chosen = self._chosen(messages.confidence).clone()
        chosen[:, 0] = True  # the ego keeps all of its cells
        features = messages.features
        carried = torch.cat([features * chosen[:, :, None], chosen[:, :, None].to(features.dtype)], dim=2)
        moved, reach = in_grid_of(0, carried, messages)
        moved, share = moved[:, :, :-1], moved[:, :, -1]
        sent_here = reach & (share > 1e-3)
        moved = torch.where(sent_here[:, :, None], moved / share.clamp(min=1e-3)[:, :, None], torch.zeros_like(moved))
        likeness = (moved[:, :1] * moved).sum(2) / moved.shape[2] ** 0.5
        weights = likeness.masked_fill(~sent_here, _LOWEST).softmax(1)
        cells = (chosen & messages.present[:, :, None, None])[:, 1:].flatten(2).sum(-1)
        each = FLOAT_BYTES * features.shape[2] + _INDEX_BYTES
        sent = (cells * each + POSE_BYTES * (cells > 0)).sum(1)
        return Shared((moved * weights[:, :, None]).sum(1), sent)

    def _chosen(self, confidence: Tensor) -> Tensor:
        if not self.training:
            return confidence > self.threshold
        flat = confidence.flatten(2)
        rank = flat.argsort(dim=2, descending=True, stable=True).argsort(dim=2)
        share = torch.rand(flat.shape[:2]).to(flat.device)  # drawn on the CPU: equal on every device
        chosen: Tensor = (rank < share[..., None] * flat.shape[2]).unflatten(2, confidence.shape[2:])
        return chosen
