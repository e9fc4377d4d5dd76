"""Deferred shading of the z-buffer, row by row, in loops that the compiler can vectorise."""

# ruff: noqa: PLR0917, D417 (kernels take their buffers by place)
from __future__ import annotations

import math

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.render.glow import lamplight, look_lamps_up
from headless_simulator.render.lanes import (
    ACROSS,
    BIAS,
    BLUE,
    CLEAR,
    DEPTH,
    GREEN,
    NEAR_M,
    RED,
    ROUGHNESS,
    SPAN,
    SUN,
    SUN_BLUE,
    SUN_GREEN,
    SUN_RED,
    TILE,
    UPRIGHT,
    Z,
    coloured,
    fill,
    finish,
    grained,
    grained_near,
    place_pixels,
    roughened,
    sky_colour,
    sunlit,
)  # fmt: skip
from headless_simulator.render.light import BOUNCE_RGB, FOG_PER_M, NIGHT, PUDDLES, SKY_RGB, SUN_RGB, TO_SUN, WET
from headless_simulator.render.mirror import mirror_knots, mirror_pools, mirror_span, put_knots
from headless_simulator.scene import (
    ASPHALT,
    FOLIAGE,
    GLASS,
    HEAD_LIGHT,
    MATTE,
    PAINT,
    SIGNAL_GREEN,
    SIGNAL_RED,
    TAIL_LIGHT,
    WINDOW,
    Float32,
    Float64,
    Int32,
    UInt8,
    UInt16,
    UInt32,
)  # fmt: skip

_F = np.float32
_ZERO, _HALF, _ONE = _F(0.0), _F(0.5), _F(1.0)
_HAZARD = np.uint32(48)  # both blinkers
_NEVER_SHADED = _F(1e5)  # metres above everything

# Columns of ``runs``, the runs with more than sun, sky and grain: first and last pixel, then properties of the triangle.
FIRST, LAST, SURFACE, NORMAL, MIRROR, GLOSS, GLOW, WARM, POOLS = 0, 1, 2, 5, 8, 9, 10, 11, 12


@kernel(assume_finite=True)
def shade(
    depth_m: Float32,
    visible: Int32,
    starts: Int32,
    width: Number,
    height: Number,
    camera: Float64,
    static_count: Number,
    static_surface: Float32,
    static_material: UInt8,
    static_glow: UInt8,
    mover_surface: Float32,
    mover_material: UInt8,
    owner: Int32,
    lights: UInt32,
    light: Float32,
    noise: UInt8,
    heights: UInt16,
    shadow: Float32,
    glow_map: Float32,
    glow_frame: Float32,
    lane: Float32,
    small: Float32,
    runs: Float32,
    out: UInt32,
) -> None:
    """Write (H * W,) uint32 BGRA words.

    Args:
        static_glow: (T,) 1 for a lit signal lamp; for windows, their seed.
        owner: (K,) mover's row of each mover triangle; ``lights``: (N,) its VehicleLightState bits.
        heights: flat shadow map; ``shadow``: its frame, with 0 texels per metre if there is none.
        lane: (LANES,) scratch; ``small``: (5, 6) and ``runs``: (TILE, 13) scratch.
    """
    focal, cx = _F(camera[12]), _F(camera[13])
    eye, surface, colour, line, right = small[0], small[1], small[2], small[3], small[4]
    for k in range(3):
        eye[k], right[k] = camera[k], _F(camera[3 + k]) / focal
    wet, night = light[WET], light[NIGHT]
    has_shadow = shadow[4] > _ZERO
    start_index = np.uint64(0)  # in starts
    laid_out = -1  # value of ``begin`` for which ACROSS is filled
    over_all = wet > _ZERO or night > _ZERO  # every run needs an overlay
    for row in range(height):
        below = _F(row) + _HALF - _F(camera[14])
        for k in range(3):
            line[k] = _F(camera[9 + k]) + below * (_F(camera[6 + k]) / focal)
        for begin in range(0, width, TILE):
            count = np.uint64(min(width - begin, TILE))
            here = row * width + begin
            marks = visible[here : here + TILE]
            if begin != laid_out:
                laid_out = begin
                for i in range(count):
                    lane[ACROSS + i] = _F(begin) + _F(np.int32(i)) + _HALF - cx
            place_pixels(depth_m[here : here + TILE], eye, line, right, lane, count)
            special, far, knots = 0, True, np.uint64(0)
            last = np.uint64(0)  # unsigned: no index can count from the end
            while last < count:
                first = last
                mark = marks[first]
                start_index += np.uint64(1)
                last = np.uint64(starts[start_index]) - np.uint64(here)
                if mark < 0:
                    sky(lane, first, last, line, right, eye[2], light, noise, colour)
                    continue
                number = mark >> 1
                facing = _ONE if mark & 1 else -_ONE
                glow, warm = _ZERO, _ZERO
                bias = _F(0.10)
                if number < static_count:
                    kind = static_material[number]
                    for k in range(6):
                        surface[k] = static_surface[number, k]
                    if SIGNAL_RED <= kind <= SIGNAL_GREEN:
                        glow = _F(2.4) if static_glow[number] else _ZERO
                    elif kind == HEAD_LIGHT and night > _HALF:
                        glow = _F(2.0)
                    elif kind == WINDOW and static_glow[number] < 70:
                        warm = night * (_F(0.30) + _F(static_glow[number]) * _F(0.008))
                else:
                    number -= static_count
                    kind = mover_material[number]
                    for k in range(6):
                        surface[k] = mover_surface[number, k]
                    bias = _F(0.18)
                    state = lights[owner[number]]
                    if kind == HEAD_LIGHT:
                        glow = _F(3.0) if state & np.uint32(6) else (_F(1.2) if state & np.uint32(1) else _ZERO)
                    elif kind == TAIL_LIGHT:
                        glow = _F(3.0) if state & np.uint32(8) else (_F(1.0) if state & np.uint32(1) else _ZERO)
                    if HEAD_LIGHT <= kind <= TAIL_LIGHT and state & _HAZARD == _HAZARD:
                        glow = _F(1.2)  # brighter, red saturates and amber turns to pale yellow
                        surface[0], surface[1], surface[2] = _F(0.90), _F(0.30), _F(0.02)  # both indicators
                red, green, blue = surface[0], surface[1], surface[2]
                nx, ny, nz = facing * surface[3], facing * surface[4], facing * surface[5]
                lit = max(_ZERO, nx * light[TO_SUN] + ny * light[TO_SUN + 1] + nz * light[TO_SUN + 2])
                grainy, mirror, gloss, pools = _F(0.16), _ZERO, _ZERO, _ZERO
                if kind == FOLIAGE:
                    grainy = _F(0.55)
                    lit = _F(0.40) + _F(0.60) * lit  # leaves scatter light
                elif kind == ASPHALT:
                    grainy = _F(0.20)
                    pools = _F(0.65) if nz > _HALF else _ZERO
                elif kind == MATTE:
                    pools = _F(0.25) if nz > _HALF else _ZERO
                elif kind == PAINT:
                    grainy, mirror, gloss = _ZERO, _F(0.20), _F(0.30)
                elif kind in (GLASS, WINDOW):
                    grainy, mirror, gloss = _ZERO, _F(0.60), _F(0.12)
                elif kind >= HEAD_LIGHT:
                    grainy = _ZERO
                bias += min(shadow[9] * math.sqrt(nx * nx + ny * ny) / max(lit, _F(0.02)), _F(3.0))
                if lit <= _ZERO:
                    bias = _NEVER_SHADED
                up = _HALF + _HALF * nz
                sky_red = red * (light[BOUNCE_RGB] + (light[SKY_RGB] - light[BOUNCE_RGB]) * up)
                sky_green = green * (light[BOUNCE_RGB + 1] + (light[SKY_RGB + 1] - light[BOUNCE_RGB + 1]) * up)
                sky_blue = blue * (light[BOUNCE_RGB + 2] + (light[SKY_RGB + 2] - light[BOUNCE_RGB + 2]) * up)
                sun_red, sun_green, sun_blue = (
                    red * light[SUN_RGB] * lit,
                    green * light[SUN_RGB + 1] * lit,
                    blue * light[SUN_RGB + 2] * lit,
                )
                upright = _ONE if abs(nz) < _HALF else _ZERO
                # Whole spans: the next run overwrites the part past the run's end.
                span = ((last - first + np.uint64(SPAN - 1)) >> np.uint64(4)) << np.uint64(4)
                for k in range(span):
                    at = first + k
                    lane[RED + at] = sky_red
                    lane[GREEN + at] = sky_green
                    lane[BLUE + at] = sky_blue
                    lane[SUN_RED + at] = sun_red
                    lane[SUN_GREEN + at] = sun_green
                    lane[SUN_BLUE + at] = sun_blue
                    lane[BIAS + at] = bias
                    lane[ROUGHNESS + at] = grainy
                    lane[UPRIGHT + at] = upright
                far = far and lane[DEPTH + first] >= NEAR_M and lane[DEPTH + last - np.uint64(1)] >= NEAR_M
                if over_all or mirror > _ZERO or glow > _ZERO:
                    run = runs[special]
                    run[FIRST], run[LAST] = _F(np.int32(first)), _F(np.int32(last))
                    run[SURFACE], run[SURFACE + 1], run[SURFACE + 2] = red, green, blue
                    run[NORMAL], run[NORMAL + 1], run[NORMAL + 2] = nx, ny, nz
                    run[MIRROR], run[GLOSS], run[GLOW], run[WARM], run[POOLS] = mirror, gloss, glow, warm, pools
                    special += 1
            if has_shadow:
                sunlit(heights, shadow, lane, count)
            else:
                fill(lane, SUN, SUN + count, _ONE)
            roughened(noise, lane, count)
            if far:
                grained(lane, count)
            else:
                grained_near(noise, lane, count)
            coloured(lane, count)
            if night > _ZERO:
                look_lamps_up(lane, glow_map, glow_frame, count)
            for n in range(special):
                run = runs[n]
                if run[MIRROR] > _ZERO:
                    first, last = np.uint64(run[FIRST]), np.uint64(run[LAST])
                    knots = put_knots(lane, knots, first, last, eye, run[NORMAL:MIRROR], run[MIRROR], run[GLOSS])
            mirror_knots(lane, knots, light)
            knots = np.uint64(0)
            for n in range(special):
                knots = overlay(lane, knots, runs[n], eye, light)
            finish(lane, light, eye[2], out[here : here + TILE], count)


@kernel(assume_finite=True)
def sky(
    lane: Float32,
    first: Number,
    last: Number,
    line: Float32,
    right: Float32,
    eye_z: Number,
    light: Float32,
    noise: UInt8,
    colour: Float32,
) -> None:
    """Write a run of sky into a row; ``colour`` is (3,) scratch."""
    for i in range(first, last):
        dx, dy = line[0] + lane[ACROSS + i] * right[0], line[1] + lane[ACROSS + i] * right[1]
        dz = line[2] + lane[ACROSS + i] * right[2]
        scale = _ONE / math.sqrt(dx * dx + dy * dy + dz * dz)
        sky_colour(dx * scale, dy * scale, dz * scale, light, noise, colour)
        lane[RED + i], lane[GREEN + i], lane[BLUE + i] = colour[0], colour[1], colour[2]
        lane[SUN_RED + i], lane[SUN_GREEN + i], lane[SUN_BLUE + i] = _ZERO, _ZERO, _ZERO
        lane[BIAS + i], lane[ROUGHNESS + i], lane[UPRIGHT + i] = _NEVER_SHADED, _ZERO, _ZERO
        lane[CLEAR + i] = _ZERO
        if light[FOG_PER_M] > _ZERO:  # fog covers the lower sky
            lane[CLEAR + i] = _ONE
            lane[DEPTH + i] = _F(500.0) * max(_F(0.0), _ONE - max(_ZERO, dz * scale) * _F(1.4))
            lane[Z + i] = eye_z


@kernel(assume_finite=True)
def overlay(
    lane: Float32,
    knot: Number,
    run: Float32,
    eye: Float32,
    light: Float32,
) -> Number:
    """Add reflections, lamp light and emission to a run; ``run`` is a (13,) row of ``runs``. Returns the next knot."""
    first, last = np.uint64(run[FIRST]), np.uint64(run[LAST])
    surface, normal = run[SURFACE : SURFACE + 3], run[NORMAL : NORMAL + 3]
    wet, puddles, night = light[WET], light[PUDDLES], light[NIGHT]
    if wet > _ZERO and run[POOLS] > _ZERO:
        mirror_pools(lane, first, last, eye, normal, light, wet, puddles, run[POOLS])
    elif run[MIRROR] > _ZERO:
        knot = mirror_span(lane, knot, first, last, light)
    if night > _ZERO:
        lamplight(lane, first, last, surface, normal[2], night)
        warm = run[WARM]
        if warm > _ZERO:
            for i in range(first, last):
                lane[RED + i] += warm
                lane[GREEN + i] += warm * _F(0.76)
                lane[BLUE + i] += warm * _F(0.42)
    glow = run[GLOW]
    if glow > _ZERO:
        for i in range(first, last):
            lane[RED + i] += surface[0] * glow
            lane[GREEN + i] += surface[1] * glow
            lane[BLUE + i] += surface[2] * glow
    return knot
