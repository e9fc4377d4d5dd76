"""The bird's-eye grid of a drone, and the warp of features between grids of drones.

Frame ``grid``: the origin is at map height 0 below the drone, x along its heading, y to its left, z up, metres. Row i of a
feature map covers x, column j covers y, both ascending; the drone is above the corner in the middle. Matrices are
``dst_T_src``, (..., 4, 4), and neighbours cancel.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

_ROUNDED: float = 1e-4  # of a cell: rounds away errors of single precision, which would blur maps turned by 90 degrees


@dataclass(frozen=True, slots=True)
class Grid:
    """A square grid.

    Args:
        cells: number along each side, even.
        cell_m: side of a cell.
        heights_m: map heights at which cameras are sampled.
    """

    cells: int
    cell_m: float
    heights_m: tuple[float, ...]

    @property
    def half_m(self) -> float:
        """Half the side of the grid."""
        return self.cells * self.cell_m / 2.0

    def centres_m(self, *, device: torch.device | None = None) -> Tensor:
        """Return (cells, cells, 2) x and y of the cells' centres, metres."""
        line = (torch.arange(self.cells, dtype=torch.float64, device=device) + 0.5) * self.cell_m - self.half_m
        return torch.stack(torch.meshgrid(line, line, indexing="ij"), dim=-1)

    def points_m(self, *, device: torch.device | None = None) -> Tensor:
        """Return (heights, cells, cells, 3) points above the cells' centres, metres."""
        centres = self.centres_m(device=device)
        layers = [torch.cat([centres, torch.full_like(centres[..., :1], z)], dim=-1) for z in self.heights_m]
        return torch.stack(layers)

    def to_cells(self, xy_m: Tensor) -> Tensor:
        """Return (..., 2) row and column of (..., 2) points, metres; integers are cell centres."""
        return (xy_m + self.half_m) / self.cell_m - 0.5

    def to_metres(self, cells: Tensor) -> Tensor:
        """Return (..., 2) x and y, metres, of (..., 2) rows and columns; inverse of ``to_cells``."""
        return (cells + 0.5) * self.cell_m - self.half_m

    def holds(self, xy_m: Tensor) -> Tensor:
        """Return (...) bool, whether (..., 2) points, metres, are in the grid."""
        return (xy_m.abs() < self.half_m).all(dim=-1)


def map_T_grid(map_T_flu: Tensor) -> Tensor:
    """Return (..., 4, 4) grid poses of (..., 4, 4) drone poses: position and heading without height and tilt."""
    heading = torch.atan2(map_T_flu[..., 1, 0], map_T_flu[..., 0, 0])
    grid = torch.eye(4, dtype=map_T_flu.dtype, device=map_T_flu.device).expand(map_T_flu.shape).clone()
    grid[..., 0, 0], grid[..., 0, 1] = heading.cos(), -heading.sin()
    grid[..., 1, 0], grid[..., 1, 1] = heading.sin(), heading.cos()
    grid[..., :2, 3] = map_T_flu[..., :2, 3]
    return grid


def inverse(dst_T_src: Tensor) -> Tensor:
    """Return ``src_T_dst`` of (..., 4, 4) rigid transforms."""
    turned = dst_T_src[..., :3, :3].transpose(-1, -2)
    out = torch.zeros_like(dst_T_src)
    out[..., :3, :3] = turned
    out[..., :3, 3] = -(turned @ dst_T_src[..., :3, 3:])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def warp(features: Tensor, sender_T_receiver: Tensor, grid: Grid) -> Tensor:
    """Return (N, C, cells, cells) feature maps of N senders in the receivers' grids; 0 outside the sender's grid.

    Interpolation is bilinear between cell centres. Shifts by whole cells and turns by 90 degrees preserve features to a
    relative 1e-5.

    Args:
        features: (N, C, cells, cells) in the senders' grids.
        sender_T_receiver: (N, 4, 4) float64, between frames ``grid``.
        grid: grid of sender and receiver.
    """
    points = grid.centres_m(device=features.device).to(sender_T_receiver.dtype)
    turn, shift = sender_T_receiver[:, :2, :2], sender_T_receiver[:, :2, 3]
    cells = grid.to_cells(torch.einsum("nij,hwj->nhwi", turn, points) + shift[:, None, None])
    cells = (cells / _ROUNDED).round() * _ROUNDED
    shares = (2.0 * cells + 1.0) / grid.cells - 1.0
    where = shares.flip(-1).to(features.dtype)  # grid_sample takes column, row
    return functional.grid_sample(features, where, mode="bilinear", padding_mode="zeros", align_corners=False)
