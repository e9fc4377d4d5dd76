"""Exact Shapley values of drones over all subsets of the swarm.

Subsets of D drones are numbered 0 to 2**D - 1; bit d of the number says that drone d is in the subset. Five drones have 32
subsets, so no sampling is necessary.
"""

from functools import cache
from math import factorial
from typing import Final

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import BoolArray, FloatArray, IntArray

__all__ = ["drone_gains", "pairwise_help", "shapley_values", "subset_diversity_deg", "subset_pixels"]

_MOST_DRONES: Final = 16  # 65,536 subsets


def subset_pixels(visible_px: IntArray) -> FloatArray:
    """Return (N, 2**D) total visible pixels of each object in each subset of drones.

    Args:
        visible_px: (N, D) pixels of the object in all cameras of each drone.
    """
    return np.asarray(visible_px, dtype=np.float64) @ _members(visible_px.shape[-1]).T.astype(np.float64)


def subset_diversity_deg(map_rays: FloatArray, visible: BoolArray) -> FloatArray:
    """Return (N, 2**D) largest angles in degrees between the viewing directions of a subset's drones to each object.

    A subset with fewer than two drones that see the object has 0.

    Args:
        map_rays: (N, D, 3) from the object to each drone, of any length above 0.
        visible: (N, D) bool: the drone sees the object.
    """
    rays = map_rays / np.linalg.norm(map_rays, axis=-1, keepdims=True)
    angle_deg = np.degrees(np.arccos(np.clip(rays @ np.swapaxes(rays, -1, -2), -1.0, 1.0)))
    angle_deg = np.where(visible[..., :, None] & visible[..., None, :], angle_deg, 0.0)
    members = _members(visible.shape[-1])
    widest = np.zeros((len(visible), len(members)))
    for a in range(visible.shape[-1]):
        for b in range(a):
            both = members[:, a] & members[:, b]
            widest[:, both] = np.maximum(widest[:, both], angle_deg[:, a, b, None])
    return widest


def shapley_values(values: FloatArray) -> FloatArray:
    """Return (..., D) Shapley values: the mean gain of each drone over all orders in which drones join the swarm.

    They add up to the value of the swarm minus that of no drone.

    Args:
        values: (..., 2**D) value of each subset.
    """
    return np.asarray(values, dtype=np.float64) @ _shapley_weights(_drones_of(values)).T


def drone_gains(values: FloatArray) -> FloatArray:
    """Return (..., D) losses of the swarm without each drone, of (..., 2**D) values of subsets."""
    drones = _drones_of(values)
    swarm = 2**drones - 1
    without = [swarm & ~(1 << drone) for drone in range(drones)]
    return np.asarray(values[..., swarm, None] - values[..., without], dtype=np.float64)


def pairwise_help(values: FloatArray) -> FloatArray:
    """Return (..., D, D) gains that drone i (row) adds to drone j (column) alone; 0 on the diagonal.

    Args:
        values: (..., 2**D) value of each subset.
    """
    alone = 1 << np.arange(_drones_of(values))
    together = alone[:, None] | alone[None, :]
    return np.asarray(values[..., together] - values[..., alone][..., None, :], dtype=np.float64)


def _drones_of(values: FloatArray) -> int:
    drones = int(values.shape[-1]).bit_length() - 1
    if values.shape[-1] != 2**drones or not 1 <= drones <= _MOST_DRONES:
        raise InputError(f"{values.shape[-1]} values; expected 2**D, one per subset of D = 1 to {_MOST_DRONES} drones")
    return drones


@cache
def _members(drones: int) -> BoolArray:
    """Return (2**D, D) bool: membership of drones in subsets."""
    if not 1 <= drones <= _MOST_DRONES:
        raise InputError(f"collaboration values need 1 to {_MOST_DRONES} drones, not {drones}")
    return np.asarray((np.arange(2**drones)[:, None] >> np.arange(drones)) & 1, dtype=np.bool_)


@cache
def _shapley_weights(drones: int) -> FloatArray:
    """Return (D, 2**D) weights of the subsets' values in the Shapley values."""
    members = _members(drones)
    size = members.sum(axis=1)
    with_it = np.array([factorial(max(k - 1, 0)) * factorial(drones - k) for k in range(drones + 1)])
    without = np.array([factorial(k) * factorial(max(drones - k - 1, 0)) for k in range(drones + 1)])
    weights = np.where(members, with_it[size][:, None], -without[size][:, None]) / factorial(drones)
    return np.asarray(weights.T, dtype=np.float64)
