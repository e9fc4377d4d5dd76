"""Messages between drones, and their warp into the grid of the ego."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from uavsim_baselines.bev.grid import Grid, inverse, warp

FLOAT_BYTES: Final = 4
POSE_BYTES: Final = 7 * FLOAT_BYTES  # a position and a quaternion


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Bird's-eye features of B samples and D drones; drone 0 is the detecting ego.

    Attributes:
        features: (B, D, C, cells, cells), each in its drone's own grid.
        map_T_grid: (B, D, 4, 4) float64.
        present: (B, D) whether the drone's message arrived; True for the ego.
        grid: grid of all drones.
        confidence: (B, D, cells, cells) the highest class probability of each cell, in the drone's own grid.
        age_s: (B, D) age of the drone's images; None if all are of one tick.
    """

    features: Tensor
    map_T_grid: Tensor
    present: Tensor
    grid: Grid
    confidence: Tensor | None = None
    age_s: Tensor | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """The ego's features after sharing.

    Attributes:
        features: (B, C, cells, cells) in the ego's grid.
        sent_bytes: (B,) int64 bytes of all messages; a broadcast counts once.
    """

    features: Tensor
    sent_bytes: Tensor


class Sharing(nn.Module, ABC):
    """A sharing method, invariant to the order of the other drones; a single ego keeps its features."""

    needs_confidence: bool = False

    @abstractmethod
    def forward(self, messages: Messages) -> Shared:
        """Return the ego's features."""

    def __call__(self, messages: Messages) -> Shared:
        """Return the ego's features."""
        shared: Shared = super().__call__(messages)
        return shared


class NoSharing(Sharing):
    """The lower bound without communication."""

    def forward(self, messages: Messages) -> Shared:
        """Return the ego's features as they are."""
        nothing = torch.zeros(len(messages.features), dtype=torch.int64, device=messages.features.device)
        return Shared(messages.features[:, 0], nothing)


def feature_bytes(features: Tensor) -> int:
    """Return the bytes of one drone's (..., C, cells, cells) feature map with its pose."""
    channels, rows, columns = features.shape[-3:]
    return FLOAT_BYTES * channels * rows * columns + POSE_BYTES


def in_grid_of(receiver: int, features: Tensor, messages: Messages) -> tuple[Tensor, Tensor]:
    """Warp all drones' features into one drone's grid.

    Args:
        receiver: index of this drone; its own features stay unchanged.
        features: (B, D, C, cells, cells) in the drones' own grids.
        messages: poses and presence of the drones.

    Returns:
        (B, D, C, cells, cells) features, and (B, D, cells, cells) bool, whether a present drone's grid covers the cell.
    """
    batch, drones = features.shape[:2]
    to = messages.map_T_grid[:, receiver : receiver + 1]
    sender_T_receiver = (inverse(messages.map_T_grid) @ to).flatten(0, 1)
    moved = warp(features.flatten(0, 1), sender_T_receiver, messages.grid).unflatten(0, (batch, drones))
    ones = torch.ones_like(features[:, :, :1]).flatten(0, 1)
    reach = warp(ones, sender_T_receiver, messages.grid).unflatten(0, (batch, drones))[:, :, 0] > 0.5
    is_receiver = torch.zeros(drones, dtype=torch.bool, device=features.device)
    is_receiver[receiver] = True
    moved = torch.where(is_receiver[None, :, None, None, None], features, moved)
    reach = (reach | is_receiver[None, :, None, None]) & messages.present[:, :, None, None]
    return moved * reach[:, :, None], reach
