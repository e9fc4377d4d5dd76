"""Compiled hash table of surfaces, (voxel, class) -> pixels."""

# ruff: noqa: PLR0917 (kernels take their arrays by place)
from typing import Any

import numpy as np

from uavsim.images.compiled import kernel


@kernel
def _slot(keys: Any, key: int) -> Any:
    """Return the slot of a key in a table of 2^n slots; empty slots hold -1."""
    mask = keys.shape[0] - 1
    slot = (key * 0x9E3779B97F4A7C1 ^ (key >> 29)) & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def _in_a_box(x: float, y: float, z: float, boxes: Any) -> bool:
    for n in range(boxes.shape[0]):
        dx, dy, dz = x - boxes[n, 0], y - boxes[n, 1], z - boxes[n, 2]
        inside = True
        for axis in range(3):
            off = dx * boxes[n, 3 + axis] + dy * boxes[n, 6 + axis] + dz * boxes[n, 9 + axis]
            inside = inside and abs(off) <= boxes[n, 12 + axis]
        if inside:
            return True
    return False


@kernel
def add_surfaces(
    depth_m: Any,
    ids: Any,
    classes: Any,
    mover_tag: Any,
    rays: Any,
    map_R_sensor: Any,
    eye_map_m: Any,
    boxes: Any,
    voxel_m: float,
    inward_m: float,
    reach_m: float,
    keys: Any,
    counts: Any,
    first: int,
    used: int,
) -> tuple[int, int]:
    """Add the static surfaces of an image to a table of (voxel, class) -> pixels.

    Args:
        depth_m: (H, W) depth.
        ids: (H, W) instance ids; pixels of objects are skipped.
        classes: (H, W) classes; 255 is no surface.
        mover_tag: (H, W) whether the tag is one of moving objects; such pixels inside a box are residue without an id.
        rays: (H, W, 3) rays in the sensor's frame, one metre deep.
        map_R_sensor: (3, 3) rotation.
        eye_map_m: (3,) position of the sensor.
        boxes: (N, 15) centre, rotation map_R_box by rows, half size of the sample's objects.
        voxel_m: edge of the map's voxels.
        inward_m: depth added to points, so that a wall on a voxel border stays in one voxel.
        reach_m: largest depth.
        keys: (2^n,) int64 keys of the table.
        counts: (2^n,) uint32 pixels of each key.
        first: first pixel to process.
        used: number of used slots.

    Returns:
        The next pixel, H * W at the end, and the number of used slots. The caller doubles a half-full table.
    """
    height, width = depth_m.shape
    for pixel in range(first, height * width):
        if 2 * used >= keys.shape[0]:
            return pixel, used
        v, u = pixel // width, pixel % width
        deep = np.float64(depth_m[v, u])
        if not 0.0 < deep <= reach_m or ids[v, u] != 0 or classes[v, u] == 255:
            continue
        deep += inward_m
        way_x, way_y, way_z = rays[v, u, 0], rays[v, u, 1], rays[v, u, 2]
        x = eye_map_m[0] + deep * (map_R_sensor[0, 0] * way_x + map_R_sensor[0, 1] * way_y + map_R_sensor[0, 2] * way_z)
        y = eye_map_m[1] + deep * (map_R_sensor[1, 0] * way_x + map_R_sensor[1, 1] * way_y + map_R_sensor[1, 2] * way_z)
        z = eye_map_m[2] + deep * (map_R_sensor[2, 0] * way_x + map_R_sensor[2, 1] * way_y + map_R_sensor[2, 2] * way_z)
        if mover_tag[v, u] and _in_a_box(x, y, z, boxes):
            continue
        i, j, k = int(np.floor(x / voxel_m)), int(np.floor(y / voxel_m)), int(np.floor(z / voxel_m))
        key = ((((i + 524288) << 20) + (j + 524288)) << 16) + ((k + 2048) << 4)
        key = (key << 1) + classes[v, u]
        slot = _slot(keys, key)
        if keys[slot] == -1:
            keys[slot] = key
            used += 1
        counts[slot] += 1
    return height * width, used


@kernel
def copy_table(keys: Any, counts: Any, new_keys: Any, new_counts: Any) -> None:
    """Copy the entries of a table of ``add_surfaces`` into a larger one."""
    for n in range(keys.shape[0]):
        if keys[n] != -1:
            slot = _slot(new_keys, keys[n])
            new_keys[slot], new_counts[slot] = keys[n], counts[n]
