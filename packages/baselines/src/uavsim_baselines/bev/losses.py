"""The losses of a head's maps."""

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from uavsim_baselines.bev.maps import HeadMaps

_VALUES_WEIGHT: Final = 0.25  # CenterPoint's weight of values beside the heatmap
_VELOCITY_WEIGHT: Final = 0.2  # CenterPoint's code weight of the velocity
_ALPHA, _BETA = 2.0, 4.0


def gaussian_focal_loss(heat: Tensor, target: Tensor) -> Tensor:
    """Return the focal loss of heatmaps, by number of centres: cells near a centre cost less the nearer they are.

    Args:
        heat: (B, classes, cells, cells) before the sigmoid.
        target: the same shape, 1 at centres.

    Source: CornerNet, ECCV 2018, equation 1.
    """
    log_p, log_not_p = functional.logsigmoid(heat), functional.logsigmoid(-heat)
    p = heat.sigmoid()
    centre = target == 1.0
    cost = torch.where(centre, -((1.0 - p) ** _ALPHA) * log_p, -((1.0 - target) ** _BETA) * p**_ALPHA * log_not_p)
    return cost.sum() / centre.sum().clamp(min=1)


def detection_losses(maps: HeadMaps, *, heat: Tensor, values: Tensor, weights: Tensor) -> dict[str, Tensor]:
    """Return the losses by name: ``heat`` and ``values``, weighted; their sum is what is trained.

    Args:
        maps: what the head says.
        heat: (B, classes, cells, cells) see ``Targets``.
        values: (B, VALUES, cells, cells).
        weights: (B, VALUES, cells, cells).
    """
    share = weights.clone()
    share[:, -2:] *= _VELOCITY_WEIGHT
    apart = (_full(maps.values) - values).abs() * share
    centres = (weights[:, :1] > 0).sum().clamp(min=1)
    return {"heat": gaussian_focal_loss(_full(maps.heat), heat), "values": _VALUES_WEIGHT * apart.sum() / centres}


def distillation_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return how far the student's features are from the teacher's: the divergence over channels, mean over cells.

    Args:
        student: (B, C, cells, cells).
        teacher: the same shape; no gradient goes there.

    Source: DiscoNet (Li et al., NeurIPS 2021), equation 5.
    """
    reported = functional.log_softmax(_full(student).permute(0, 2, 3, 1).flatten(0, 2), dim=-1)
    wanted = functional.log_softmax(_full(teacher.detach()).permute(0, 2, 3, 1).flatten(0, 2), dim=-1)
    return functional.kl_div(reported, wanted, reduction="batchmean", log_target=True)


def _full(maps: Tensor) -> Tensor:
    """Return maps of half precision in single; sums over a map overflow it."""
    return maps.float() if maps.dtype in {torch.float16, torch.bfloat16} else maps
