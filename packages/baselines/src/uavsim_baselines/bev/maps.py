"""Encoding of boxes as CenterPoint's class heatmap and values at the centres, and decoding.

Source: Yin, Zhou, Kraehenbuehl: "Center-based 3D Object Detection and Tracking", CVPR 2021; radius of the Gaussian: Law and
Deng, "CornerNet", ECCV 2018, as CenterPoint uses it (overlap 0.1, at least 2 cells).
"""

import math
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from uavsim_baselines.bev.boxes import Boxes
from uavsim_baselines.bev.grid import Grid

VALUES: Final = 10
"""Values of a cell: offset in cells (2), height (1), logarithm of length, width, height (3), sine and cosine of the heading
(2), velocity (2); all in the frame ``grid``."""
_OFFSET, _HEIGHT, _SIZE, _HEADING, _VELOCITY = (slice(0, 2), slice(2, 3), slice(3, 6), slice(6, 8), slice(8, 10))
_LEAST_RADIUS: Final = 2
_OVERLAP: Final = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class HeadMaps:
    """The head's maps for B samples.

    Attributes:
        heat: (B, classes, cells, cells) before the sigmoid.
        values: (B, VALUES, cells, cells).
    """

    heat: Tensor
    values: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """The target maps of one sample.

    Attributes:
        heat: (classes, cells, cells) 1 at centres, Gaussians around them.
        values: (VALUES, cells, cells).
        weights: (VALUES, cells, cells) 1 for known values, else 0.
    """

    heat: Tensor
    values: Tensor
    weights: Tensor


def gaussian_radius_cells(length: float, width: float) -> int:
    """Return the largest shift, in cells, at which a box of this size still overlaps itself enough."""
    half, area = length + width, length * width
    first = (half + math.sqrt(max(half**2 - 4 * area * (1 - _OVERLAP) / (1 + _OVERLAP), 0.0))) / 2
    second = (2 * half + math.sqrt(max(4 * half**2 - 16 * (1 - _OVERLAP) * area, 0.0))) / 2
    third = (-2 * _OVERLAP * half + math.sqrt(4 * _OVERLAP**2 * half**2 + 16 * _OVERLAP * (1 - _OVERLAP) * area)) / 2
    return max(_LEAST_RADIUS, int(min(first, second, third)))


def encode(boxes: Boxes, *, grid: Grid, classes: int) -> Targets:
    """Return the maps of boxes in the frame ``grid``, without boxes outside it.

    A cell with several centres has the values of the largest box.
    """
    inside = boxes.pick(grid.holds(boxes.centre_m[:, :2]))
    order = torch.argsort(inside.size_lwh_m.prod(-1), stable=True)
    inside = inside.pick(order)
    n = grid.cells
    heat = torch.zeros(classes, n, n)
    values, weights = torch.zeros(VALUES, n, n), torch.zeros(VALUES, n, n)
    centre_cells = grid.to_cells(inside.centre_m[:, :2])
    cells = centre_cells.round().long().clamp(0, n - 1)
    line = torch.arange(n)
    for k in range(len(inside)):
        row, column = (int(c) for c in cells[k])
        length, width, _ = (float(s) / grid.cell_m for s in inside.size_lwh_m[k])
        radius = gaussian_radius_cells(length, width)
        sigma = (2 * radius + 1) / 6.0
        down, right = line - row, line - column
        bell = torch.exp(-(down[:, None] ** 2 + right[None, :] ** 2) / (2 * sigma**2))
        near = (down.abs() <= radius)[:, None] & (right.abs() <= radius)[None, :]
        label = int(inside.label[k])
        heat[label] = torch.maximum(heat[label], bell * near)
        cell_values = _values_of(inside, k, offset=centre_cells[k] - cells[k])
        is_known = torch.isfinite(cell_values)
        values[:, row, column] = torch.where(is_known, cell_values, torch.zeros_like(cell_values))
        weights[:, row, column] = is_known.float()
    return Targets(heat, values, weights)


def _values_of(boxes: Boxes, k: int, *, offset: Tensor) -> Tensor:
    yaw = boxes.yaw_rad[k]
    parts = (
        offset,
        boxes.centre_m[k, 2:],
        boxes.size_lwh_m[k].clamp(min=0.05).log(),
        torch.stack([yaw.sin(), yaw.cos()]),
        boxes.velocity_mps[k],
    )
    return torch.cat([part.float() for part in parts])


def decode(maps: HeadMaps, *, grid: Grid, min_score: float, max_boxes: int) -> list[Boxes]:
    """Return the boxes of each sample by descending score, one per local maximum of a 3x3 neighbourhood.

    Args:
        maps: maps of B samples.
        grid: grid of the maps.
        min_score: lowest score.
        max_boxes: largest number per sample.
    """
    heat = maps.heat.detach().float().sigmoid()
    highest = functional.max_pool2d(heat, kernel_size=3, stride=1, padding=1)
    peaks = torch.where(heat == highest, heat, torch.zeros_like(heat)).cpu()
    values = maps.values.detach().float().cpu().double()
    return [
        _boxes_at(peak, value, grid=grid, min_score=min_score, max_boxes=max_boxes)
        for peak, value in zip(peaks, values, strict=True)
    ]


def _boxes_at(peaks: Tensor, values: Tensor, *, grid: Grid, min_score: float, max_boxes: int) -> Boxes:
    flat = peaks.flatten()
    score, index = torch.sort(flat, descending=True, stable=True)
    taken = (score[:max_boxes] >= min_score) & (score[:max_boxes] > 0.0)
    score, index = score[:max_boxes][taken], index[:max_boxes][taken]
    label = index // grid.cells**2
    row, column = index % grid.cells**2 // grid.cells, index % grid.cells
    cell_values = values[:, row, column].T
    centre = grid.to_metres(torch.stack([row, column], dim=-1).double() + cell_values[:, _OFFSET])
    heading = cell_values[:, _HEADING]
    return Boxes(
        torch.cat([centre, cell_values[:, _HEIGHT]], dim=-1),
        cell_values[:, _SIZE].clamp(-3.0, 4.0).exp(),
        torch.atan2(heading[:, 0], heading[:, 1]),
        cell_values[:, _VELOCITY],
        label,
        score.double(),
    )
