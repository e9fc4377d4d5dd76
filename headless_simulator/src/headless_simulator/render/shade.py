"""Colour from what the z-buffer saw: one deferred pass, row by row, in steps that the compiler can vectorise."""

# ruff: noqa: PLR0917, D417 (kernels take their buffers by place)
from __future__ import annotations

import math

import numpy as np

from headless_simulator.compiled import Number, kernel
from headless_simulator.render.glow import lamplight
from headless_simulator.render.lanes import (
    ACROSS,
    BLUE,
    CLEAR,
    DEPTH,
    GRAIN,
    GREEN,
    RED,
    ROUGH,
    SUN,
    X,
    Y,
    Z,
    finish,
    grained,
    mirror_at,
    mirror_span,
    mix_mirror,
    sky_colour,
    sunlit,
)  # fmt: skip
from headless_simulator.render.light import BOUNCE_RGB, FOG_PER_M, NIGHT, PUDDLES, SKY_RGB, SUN_RGB, TO_SUN, WET
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


@kernel(fastmath=True, counts=False)
def shade(
    depth_m: Float32,
    seen: Int32,
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
    out: UInt32,
) -> None:
    """Write BGRA words.

    Args:
        static_glow: (T,) 1 where a signal's lamp is lit; of windows, their seed.
        owner: mover's row of each mover triangle; ``lights`` its VehicleLightState bits.
        heights: shadow map, flat; ``shadow`` its frame, texels a metre 0 where there is none.
        lane: (LANES, width) scratch.
        small: (5, 6) scratch.
    """
    focal, cx, cy = _F(camera[12]), _F(camera[13]), _F(camera[14])
    eye, normal, surface, mirrored = small[0], small[1], small[2], small[3:]
    eye[0], eye[1], eye[2] = camera[0], camera[1], camera[2]
    right_x, right_y, right_z = _F(camera[3]) / focal, _F(camera[4]) / focal, _F(camera[5]) / focal
    down_x, down_y, down_z = _F(camera[6]) / focal, _F(camera[7]) / focal, _F(camera[8]) / focal
    wet, puddles, night = light[WET], light[PUDDLES], light[NIGHT]
    has_shadow = shadow[4] > _ZERO
    for i in range(width):
        lane[ACROSS, i] = _F(i) + _HALF - cx
    for row in range(height):
        below = _F(row) + _HALF - cy
        line_x, line_y, line_z = (
            _F(camera[9]) + below * down_x,
            _F(camera[10]) + below * down_y,
            _F(camera[11]) + below * down_z,
        )
        depths = depth_m[row * width : (row + 1) * width]
        marks = seen[row * width : (row + 1) * width]
        for i in range(width):
            depth = min(depths[i], _F(1e7))  # sky: anything finite
            lane[DEPTH, i] = depth
            lane[X, i] = eye[0] + depth * (line_x + lane[ACROSS, i] * right_x)
            lane[Y, i] = eye[1] + depth * (line_y + lane[ACROSS, i] * right_y)
            lane[Z, i] = eye[2] + depth * (line_z + lane[ACROSS, i] * right_z)
            lane[CLEAR, i] = _ONE
        column = 0
        while column < width:
            mark = marks[column]
            end = column + 1
            while end < width and marks[end] == mark:
                end += 1
            first, last = np.uint64(column), np.uint64(end)  # unsigned: no index can count from the end
            if mark < 0:
                for i in range(first, last):
                    dx, dy = line_x + lane[ACROSS, i] * right_x, line_y + lane[ACROSS, i] * right_y
                    dz = line_z + lane[ACROSS, i] * right_z
                    scale = _ONE / math.sqrt(dx * dx + dy * dy + dz * dz)
                    sky_colour(dx * scale, dy * scale, dz * scale, light, noise, mirrored[0])
                    lane[RED, i], lane[GREEN, i], lane[BLUE, i] = mirrored[0, 0], mirrored[0, 1], mirrored[0, 2]
                    lane[CLEAR, i] = _ZERO
                    if light[FOG_PER_M] > _ZERO:  # the sky stands in fog up to some height
                        lane[CLEAR, i] = _ONE
                        lane[DEPTH, i] = _F(500.0) * max(_F(0.0), _ONE - max(_ZERO, dz * scale) * _F(1.4))
                        lane[Z, i] = eye[2]
                column = end
                continue
            number = mark >> 1
            facing = _ONE if mark & 1 else -_ONE
            glow = _ZERO
            bias = _F(0.10)
            is_static = number < static_count
            if is_static:
                kind = static_material[number]
                for k in range(6):
                    surface[k] = static_surface[number, k]
                if SIGNAL_RED <= kind <= SIGNAL_GREEN:
                    glow = _F(2.4) if static_glow[number] else _ZERO
                elif kind == HEAD_LIGHT and night > _HALF:
                    glow = _F(2.0)
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
                    glow = _F(3.0)
                    surface[0], surface[1], surface[2] = _F(0.90), _F(0.36), _F(0.02)  # both indicators: amber
            normal[0], normal[1], normal[2] = facing * surface[3], facing * surface[4], facing * surface[5]
            to_sun = max(
                _ZERO, normal[0] * light[TO_SUN] + normal[1] * light[TO_SUN + 1] + normal[2] * light[TO_SUN + 2]
            )
            tilt = math.sqrt(normal[0] * normal[0] + normal[1] * normal[1])
            amplitude = _F(0.16)
            mirror, gloss = _ZERO, _ZERO
            if kind == FOLIAGE:
                amplitude = _F(0.55)
                to_sun = _F(0.40) + _F(0.60) * to_sun  # leaves scatter
            elif kind == ASPHALT:
                amplitude = _F(0.20)
            elif kind == PAINT:
                amplitude, mirror, gloss = _ZERO, _F(0.20), _F(0.30)
            elif kind in (GLASS, WINDOW):
                amplitude, mirror, gloss = _ZERO, _F(0.60), _F(0.12)
            elif kind >= HEAD_LIGHT:
                amplitude = _ZERO
            if has_shadow and to_sun > _ZERO:
                sunlit(
                    heights, shadow, lane, first, last, bias + min(shadow[9] * tilt / max(to_sun, _F(0.02)), _F(3.0))
                )
            else:
                for i in range(first, last):
                    lane[SUN, i] = _ONE
            if amplitude > _ZERO:
                grained(noise, lane, first, last, abs(normal[2]) < _HALF, amplitude)
            else:
                for i in range(first, last):
                    lane[GRAIN, i] = _ONE
            open_sky = _HALF + _HALF * normal[2]
            r0 = surface[0] * (light[BOUNCE_RGB] + (light[SKY_RGB] - light[BOUNCE_RGB]) * open_sky)
            g0 = surface[1] * (light[BOUNCE_RGB + 1] + (light[SKY_RGB + 1] - light[BOUNCE_RGB + 1]) * open_sky)
            b0 = surface[2] * (light[BOUNCE_RGB + 2] + (light[SKY_RGB + 2] - light[BOUNCE_RGB + 2]) * open_sky)
            r1, g1, b1 = (
                surface[0] * light[SUN_RGB] * to_sun,
                surface[1] * light[SUN_RGB + 1] * to_sun,
                surface[2] * light[SUN_RGB + 2] * to_sun,
            )
            for i in range(first, last):
                lane[RED, i] = lane[GRAIN, i] * (r0 + r1 * lane[SUN, i])
                lane[GREEN, i] = lane[GRAIN, i] * (g0 + g1 * lane[SUN, i])
                lane[BLUE, i] = lane[GRAIN, i] * (b0 + b1 * lane[SUN, i])
            if wet > _ZERO and normal[2] > _HALF and kind in (ASPHALT, MATTE):
                dark = _ONE - _F(0.45) * wet
                depth_of_pools = _F(0.65) if kind == ASPHALT else _F(0.25)
                for i in range(first, last):
                    lane[RED, i] *= dark
                    lane[GREEN, i] *= dark
                    lane[BLUE, i] *= dark
                    pool = wet * _F(0.25)
                    pool = max(
                        pool,
                        depth_of_pools
                        * min(max((lane[ROUGH, i] - _F(1.5) + _F(1.3) * puddles) * _F(1.6), _ZERO), _ONE),
                    )
                    mirror_at(lane, i, eye, normal, light, pool, pool * _HALF, mirrored[0])
                    mix_mirror(lane, i, light, mirrored[0])
            elif mirror > _ZERO:
                mirror_span(lane, first, last, eye, normal, light, mirror, gloss, mirrored)
            if night > _ZERO:
                lamplight(lane, first, last, glow_map, glow_frame, surface, normal[2], night)
                if kind == WINDOW and is_static and static_glow[number] < 70:
                    warm = night * (_F(0.30) + _F(static_glow[number]) * _F(0.008))
                    for i in range(first, last):
                        lane[RED, i] += warm
                        lane[GREEN, i] += warm * _F(0.76)
                        lane[BLUE, i] += warm * _F(0.42)
            if glow > _ZERO:
                for i in range(first, last):
                    lane[RED, i] += surface[0] * glow
                    lane[GREEN, i] += surface[1] * glow
                    lane[BLUE, i] += surface[2] * glow
            column = end
        finish(lane, light, eye[2], out[row * width : (row + 1) * width])
