"""Conversion of the z-buffer's triangle numbers to depth, id, tag and normal of each pixel."""

# ruff: noqa: PLR0917, D417 (kernels take their buffers by place)
from __future__ import annotations

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.render.lanes import SPAN, TILE
from headless_simulator.render.raster import Int64
from headless_simulator.render.tiles import srgb
from headless_simulator.scene import Float32, Float64, Int32, UInt8, UInt32

SKY_TAG = 11


@kernel()
def mover_tables(
    drawn: Int32,
    world: Float64,
    model: Int32,
    first_triangle: Int32,
    model_surface: Float32,
    model_material: UInt8,
    model_tag: UInt8,
    actor_id: UInt32,
    tint: Float32,
    surface: Float32,
    material: UInt8,
    tag: UInt8,
    ids: UInt32,
    owner: Int32,
) -> None:
    """Write the world-frame surface tables of all drawn movers' triangles.

    Args:
        tint: (N, 3) linear body colours; they multiply the albedo of material PAINT (4).
        surface: (K, 6) out, linear albedo and world normal.
        owner: (K,) out, the mover's row.
    """
    for m in range(drawn.shape[0]):
        start = drawn[m, 0]
        if start < 0:
            continue
        first = first_triangle[model[m]]
        for i in range(drawn[m, 1]):
            source, to = first + i, start + i
            material[to] = model_material[source]
            tag[to] = model_tag[source]
            ids[to] = actor_id[m]
            owner[to] = m
            for axis in range(3):
                albedo = model_surface[source, axis]
                surface[to, axis] = albedo * tint[m, axis] if model_material[source] == 4 else albedo
                surface[to, 3 + axis] = (
                    world[m, axis, 0] * model_surface[source, 3]
                    + world[m, axis, 1] * model_surface[source, 4]
                    + world[m, axis, 2] * model_surface[source, 5]
                )


@kernel()
def resolve(
    keys: Int64,
    width: int,
    static_count: int,
    static_ids: UInt32,
    static_tag: UInt8,
    mover_ids: UInt32,
    mover_tag: UInt8,
    visible: Int32,
    starts: Int32,
    depth_m: Float32,
    ids: UInt32,
    tag: UInt8,
) -> None:
    """Unpack the z-buffer's keys into ``visible`` (-1: sky), depth, ids and tag (each (P,)).

    Args:
        starts: (P + 1,) out, first pixel of each run of one triangle within a row, or a ``TILE`` of it; then the image's end.
    """
    size = np.uint64(visible.shape[0])
    one, span = np.uint64(1), np.uint64(SPAN)
    runs, done = np.uint64(0), np.uint64(0)
    begin = np.uint64(0)
    row_end = np.uint64(width)
    while begin < size:
        end = min(begin + np.uint64(TILE), row_end)
        for i in range(begin, end):
            key = keys[i]
            depth_m[i] = np.float32(1.0) / np.int32(key >> np.int64(32)).view(np.float32)
            visible[i] = np.int32(key & np.int64(0xFFFFFFFF)) if key > 0 else np.int32(-1)
        starts[runs] = begin
        runs += one
        for i in range(begin + one, end):  # branch-free: run lengths are unpredictable
            starts[runs] = i
            runs += np.uint64(visible[i] != visible[i - one])
        starts[runs] = end
        for n in range(done, runs):
            first, last = np.uint64(starts[n]), np.uint64(starts[n + one])
            mark = visible[first]
            number = mark >> 1
            if mark < 0:
                id_now, tag_now = np.uint32(0), np.uint8(SKY_TAG)
            elif number < static_count:
                id_now, tag_now = static_ids[number], static_tag[number]
            else:
                id_now, tag_now = mover_ids[number - static_count], mover_tag[number - static_count]
            padded = ((last - first + span - one) >> np.uint64(4)) << np.uint64(4)
            if first + padded <= size:  # the next run overwrites the part past the run's end
                for i in range(padded):
                    ids[first + i] = id_now
                    tag[first + i] = tag_now
            else:
                for i in range(first, last):
                    ids[i] = id_now
                    tag[i] = tag_now
        done = runs
        begin = end
        if begin == row_end:
            row_end += np.uint64(width)


@kernel()
def resolve_normals(
    visible: Int32, static_count: int, static_surface: Float32, mover_surface: Float32, out: Float32
) -> None:
    """Fill (P, 3) world normals, facing the camera; zero where sky."""
    for i in range(visible.shape[0]):
        mark = visible[i]
        number = mark >> 1
        facing = np.float32(1.0) if mark & 1 else np.float32(-1.0)
        for axis in range(3):
            if mark < 0:
                out[i, axis] = 0.0
            elif number < static_count:
                out[i, axis] = facing * static_surface[number, 3 + axis]
            else:
                out[i, axis] = facing * mover_surface[number - static_count, 3 + axis]


def base_colours(visible: Int32, static_surface: Float32, mover_surface: Float32) -> UInt8:
    """Return the (P, 3) uint8 sRGB base colour of each pixel; black where sky."""
    numbers, inverse = np.unique(visible >> 1, return_inverse=True)
    static = numbers < len(static_surface)
    albedo = np.zeros((len(numbers), 3), np.float32)
    albedo[static] = static_surface[numbers[static], :3]
    albedo[~static] = mover_surface[numbers[~static] - len(static_surface), :3]
    albedo[numbers < 0] = 0.0
    return srgb(albedo)[inverse]
