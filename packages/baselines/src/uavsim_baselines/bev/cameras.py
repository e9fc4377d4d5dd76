"""Image features sampled into the bird's-eye grid by known cameras, without learned depth.

Each grid point is projected at several heights into all cameras that see it. Features are averaged over cameras; heights
become separate channels.

Source: the parameter-free lifting of Simple-BEV (Harley et al., ICRA 2023), with height hypotheses as in BEVFormer's pillars
(Li et al., ECCV 2022).
"""

import torch
from torch import Tensor
from torch.nn import functional

from uavsim_baselines.bev.grid import Grid, inverse

_NEAREST_M: float = 0.1
_OUTSIDE: float = 3.0  # in grid_sample's units, where an image reaches from -1 to 1


def project(points_m: Tensor, grid_T_optical: Tensor, intrinsics: Tensor) -> tuple[Tensor, Tensor]:
    """Project points into cameras.

    Args:
        points_m: (P, 3) in the frame ``grid``.
        grid_T_optical: (N, 4, 4).
        intrinsics: (N, 3, 3), pixels; (0, 0) is the top left corner of the image.

    Returns:
        (N, P, 2) pixels and (N, P) depths in metres; pixels at a depth of 0.1 m or less are invalid.
    """
    optical_T_grid = inverse(grid_T_optical)
    points = torch.einsum("nij,pj->npi", optical_T_grid[:, :3, :3], points_m) + optical_T_grid[:, None, :3, 3]
    depth_m = points[..., 2]
    pixels = torch.einsum("nij,npj->npi", intrinsics, points)[..., :2] / depth_m.clamp(min=_NEAREST_M)[..., None]
    return pixels, depth_m


def sample_cameras(
    features: Tensor,
    *,
    intrinsics: Tensor,
    grid_T_optical: Tensor,
    has_image: Tensor,
    size_px: tuple[int, int],
    grid: Grid,
) -> Tensor:
    """Return (B, heights * C, cells, cells) features of the grid's points, averaged over the cameras that see them.

    Args:
        features: (B, K, C, h, w) of K cameras, covering their whole images.
        intrinsics: (B, K, 3, 3) of images of ``size_px``.
        grid_T_optical: (B, K, 4, 4) float64.
        has_image: (B, K) whether the camera has an image.
        size_px: width, height of the images.
        grid: the grid to sample.
    """
    batch, cameras, channels = features.shape[:3]
    points_m = grid.points_m(device=features.device).to(grid_T_optical.dtype).reshape(-1, 3)
    pixels, depth_m = project(points_m, grid_T_optical.flatten(0, 1), intrinsics.to(grid_T_optical.dtype).flatten(0, 1))
    size = torch.tensor(size_px, dtype=pixels.dtype, device=pixels.device)
    in_view = (depth_m > _NEAREST_M) & (pixels >= 0.0).all(-1) & (pixels <= size).all(-1) & has_image.reshape(-1, 1)
    points = torch.where(in_view[..., None], 2.0 * pixels / size - 1.0, torch.full_like(pixels, _OUTSIDE))
    shape = (len(grid.heights_m) * grid.cells, grid.cells)
    flat = features.flatten(0, 1)
    found = functional.grid_sample(
        flat, points.to(flat.dtype).reshape(-1, *shape, 2), mode="bilinear", padding_mode="border", align_corners=False
    )
    weight = in_view.to(flat.dtype).reshape(batch, cameras, 1, *shape)
    total = (found.reshape(batch, cameras, channels, *shape) * weight).sum(1)
    mean = total / weight.sum(1).clamp(min=1.0)
    by_height = mean.reshape(batch, channels, len(grid.heights_m), grid.cells, grid.cells)
    return by_height.transpose(1, 2).flatten(1, 2)
