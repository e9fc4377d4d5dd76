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
    """Return the scalar focal loss of heatmaps, normalised by the number of centres, with a lower weight near centres.

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
    """Return the weighted scalar losses ``heat`` and ``values``; the training minimises their sum.

    Args:
        maps: output of the head.
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
    """Return the scalar divergence of the student's from the teacher's features over channels, averaged over cells.

    Args:
        student: (B, C, cells, cells).
        teacher: the same shape, detached from the gradient.

    Source: DiscoNet (Li et al., NeurIPS 2021), equation 5.
    """
    predicted = functional.log_softmax(_full(student).permute(0, 2, 3, 1).flatten(0, 2), dim=-1)
    target = functional.log_softmax(_full(teacher.detach()).permute(0, 2, 3, 1).flatten(0, 2), dim=-1)
    return functional.kl_div(predicted, target, reduction="batchmean", log_target=True)


def _full(maps: Tensor) -> Tensor:
    """Convert maps to single precision, because sums over a map overflow half precision."""
    return maps.float() if maps.dtype in {torch.float16, torch.bfloat16} else maps
