"""The worth of each drone for an object, exactly: every subset of the swarm is looked at.

Subsets of D drones are numbered 0 to 2**D - 1: bit d of a subset's number says that drone d is in it. Five drones make 32
subsets, so nothing is sampled.
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
    """Return (N, 2**D) pixels that each subset of drones sees of each object, together.

    Args:
        visible_px: (N, D) pixels of the object in all cameras of each drone.
    """
    return np.asarray(visible_px, dtype=np.float64) @ _members(visible_px.shape[-1]).T.astype(np.float64)


def subset_diversity_deg(map_rays: FloatArray, seen: BoolArray) -> FloatArray:
    """Return (N, 2**D) largest angles, degrees, between the directions from which a subset's drones see each object.

    A subset in which fewer than two drones see it has 0.

    Args:
        map_rays: (N, D, 3) from the object to each drone, of any length above 0.
        seen: (N, D) whether that drone sees it.
    """
    rays = map_rays / np.linalg.norm(map_rays, axis=-1, keepdims=True)
    angle_deg = np.degrees(np.arccos(np.clip(rays @ np.swapaxes(rays, -1, -2), -1.0, 1.0)))
    angle_deg = np.where(seen[..., :, None] & seen[..., None, :], angle_deg, 0.0)
    members = _members(seen.shape[-1])
    widest = np.zeros((len(seen), len(members)))
    for a in range(seen.shape[-1]):
        for b in range(a):
            both = members[:, a] & members[:, b]
            widest[:, both] = np.maximum(widest[:, both], angle_deg[:, a, b, None])
    return widest


def shapley_values(values: FloatArray) -> FloatArray:
    """Return each drone's Shapley value, (..., D): its gain over all orders in which the swarm could come together.

    They add up to what the whole swarm has beyond no drone at all.

    Args:
        values: (..., 2**D) what each subset has.
    """
    return np.asarray(values, dtype=np.float64) @ _shapley_weights(_drones_of(values)).T


def drone_gains(values: FloatArray) -> FloatArray:
    """Return what the swarm loses without each drone, (..., D), of (..., 2**D) values of subsets."""
    drones = _drones_of(values)
    everybody = 2**drones - 1
    without = [everybody & ~(1 << drone) for drone in range(drones)]
    return np.asarray(values[..., everybody, None] - values[..., without], dtype=np.float64)


def pairwise_help(values: FloatArray) -> FloatArray:
    """Return who helps whom, (..., D, D): what drone i (row) adds to drone j (column) alone; 0 where they are the same.

    Args:
        values: (..., 2**D) what each subset has.
    """
    alone = 1 << np.arange(_drones_of(values))
    together = alone[:, None] | alone[None, :]
    return np.asarray(values[..., together] - values[..., alone][..., None, :], dtype=np.float64)


def _drones_of(values: FloatArray) -> int:
    drones = int(values.shape[-1]).bit_length() - 1
    if values.shape[-1] != 2**drones or not 1 <= drones <= _MOST_DRONES:
        raise InputError(f"{values.shape[-1]} values are none of 2**D subsets of 1 to {_MOST_DRONES} drones")
    return drones


@cache
def _members(drones: int) -> BoolArray:
    """Return (2**D, D): who is in each subset."""
    if not 1 <= drones <= _MOST_DRONES:
        raise InputError(f"a swarm of {drones} drones: subsets are counted for 1 to {_MOST_DRONES}")
    return np.asarray((np.arange(2**drones)[:, None] >> np.arange(drones)) & 1, dtype=np.bool_)


@cache
def _shapley_weights(drones: int) -> FloatArray:
    """Return (D, 2**D) weights of the subsets' values in each drone's Shapley value."""
    members = _members(drones)
    size = members.sum(axis=1)
    with_it = np.array([factorial(max(k - 1, 0)) * factorial(drones - k) for k in range(drones + 1)])
    without = np.array([factorial(k) * factorial(max(drones - k - 1, 0)) for k in range(drones + 1)])
    weights = np.where(members, with_it[size][:, None], -without[size][:, None]) / factorial(drones)
    return np.asarray(weights.T, dtype=np.float64)
