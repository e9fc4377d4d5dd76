"""Which boxes on a plane overlap: the separating axis test for all pairs at once."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree


def overlapping(places: np.ndarray, yaws: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return (P, 2) pairs of rows whose upright boxes overlap.

    Args:
        places: (N, 3) centres; rows with nan never overlap.
        yaws: (N,) radians.
        half: (N, 3) half length, width, height.
    """
    alive = np.flatnonzero(np.isfinite(places).all(axis=1))
    if len(alive) < 2:
        return np.zeros((0, 2), np.int64)
    reach = 2 * np.linalg.norm(half[alive, :2], axis=1).max()
    near = alive[cKDTree(places[alive, :2]).query_pairs(reach, output_type="ndarray")]
    near = near[np.abs(places[near[:, 0], 2] - places[near[:, 1], 2]) < half[near].sum(axis=1)[:, 2]]
    axes = np.stack([np.cos(yaws), np.sin(yaws), -np.sin(yaws), np.cos(yaws)], axis=1).reshape(-1, 2, 2)
    apart = places[near[:, 1], :2] - places[near[:, 0], :2]
    touching = np.ones(len(near), bool)
    for side in (0, 1):
        for axis in (0, 1):
            way = axes[near[:, side], axis]
            gap = np.abs((apart * way).sum(axis=1))
            reached = sum(
                half[near[:, box], k] * np.abs((axes[near[:, box], k] * way).sum(axis=1))
                for box in (0, 1)
                for k in (0, 1)
            )
            touching &= gap < reached
    return np.sort(near[touching], axis=1)
