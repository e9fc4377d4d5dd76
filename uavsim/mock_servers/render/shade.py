"""Colour from what the z-buffer saw: one deferred pass over the pixels, run by run of the same triangle."""

# ruff: noqa: PLR0917, D417 (kernels take their buffers by place)
from __future__ import annotations

import math

import numpy as np

from uavsim.mock_servers.render.jit import Number, kernel
from uavsim.mock_servers.render.light import (
    BOUNCE_RGB,
    CLOUDS,
    CURVE_SIZE,
    CURVE_TOP,
    EXP_SIZE,
    EXP_STEP,
    FOG_FALLOFF_PER_M,
    FOG_PER_M,
    FOG_RGB,
    FOG_START_M,
    HAZE_PER_M,
    HORIZON_RGB,
    NIGHT,
    NOISE_SIZE,
    PUDDLES,
    SATURATION,
    SKY_RGB,
    SUN_DISC,
    SUN_RGB,
    TO_SUN,
    WET,
    ZENITH_RGB,
)  # fmt: skip
from uavsim.mock_servers.scene import (
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
_MASK = np.int64(NOISE_SIZE - 1)
_TO_CURVE = _F(CURVE_SIZE / CURVE_TOP)
_CURVE_LAST = np.int64(CURVE_SIZE - 1)
_TO_EXP = _F(1.0 / EXP_STEP)
_EXP_LAST = _F(EXP_SIZE - 1)


@kernel(fastmath=True)
def sky_colour(dx: Number, dy: Number, dz: Number, light: Float32, noise: UInt8, out: Float32) -> None:
    """Colour of the sky in a unit direction: gradient, clouds, sun."""
    up = max(dz, _F(0.0))
    share = up / (up + _F(0.22))
    share = min(share * _F(1.22), _F(1.0))
    clouds = light[CLOUDS]
    cover = _F(0.0)
    if clouds > _F(0.01) and dz > _F(0.02):
        scale = _F(90.0) / (dz + _F(0.06))
        at = (np.int64(dy * scale + _F(4096.0)) & _MASK) * NOISE_SIZE + (np.int64(dx * scale + _F(4096.0)) & _MASK)
        puff = _F(noise[at]) * _F(1.0 / 255.0) - (_F(0.86) - _F(0.72) * clouds)
        cover = min(max(puff * _F(3.0), _F(0.0)), _F(1.0)) * min(dz * _F(8.0), _F(1.0)) * _F(0.85)
    near_sun = max(dx * light[TO_SUN] + dy * light[TO_SUN + 1] + dz * light[TO_SUN + 2], _F(0.0))
    glow = near_sun * near_sun
    glow = glow * glow * glow * glow
    disc = _F(40.0) if near_sun > _F(0.99985) else _F(0.0)
    for axis in range(3):
        base = light[HORIZON_RGB + axis] + (light[ZENITH_RGB + axis] - light[HORIZON_RGB + axis]) * share
        white = light[FOG_RGB + axis] * _F(1.1)
        base = base + (white - base) * cover
        shine = light[SUN_RGB + axis] * light[SUN_DISC] * _F(0.02)
        out[axis] = base + shine * (glow + disc) * (_F(1.0) - cover)


@kernel(fastmath=True)
def _sunlit(heights: UInt16, shadow: Float32, x: Number, y: Number, z: Number, bias: Number) -> Number:
    """Share of sunlight that reaches a point: four texels of a sheared height map, blended.

    ``shadow`` holds shear x, y, origin x, y, texels a metre, columns, rows, lowest height, metres a step.
    """
    u = (x - z * shadow[0] - shadow[2]) * shadow[4] - _F(0.5)
    v = (y - z * shadow[1] - shadow[3]) * shadow[4] - _F(0.5)
    columns = np.int64(shadow[5])
    if u < _F(0.0) or v < _F(0.0) or u >= shadow[5] - _F(1.0) or v >= shadow[6] - _F(1.0):
        return _F(1.0)
    i, j = np.int64(u), np.int64(v)
    level = (z + bias - shadow[7]) * shadow[8]
    at = j * columns + i
    a = _F(1.0) if _F(heights[at]) <= level else _F(0.0)
    b = _F(1.0) if _F(heights[at + 1]) <= level else _F(0.0)
    c = _F(1.0) if _F(heights[at + columns]) <= level else _F(0.0)
    d = _F(1.0) if _F(heights[at + columns + 1]) <= level else _F(0.0)
    fu, fv = u - _F(i), v - _F(j)
    upper = a + (b - a) * fu
    return upper + (c + (d - c) * fu - upper) * fv


@kernel()
def _hash(a: Number, b: Number, c: Number) -> Number:
    """A stable number in 0..65535 for a cell."""
    value = (a * 73856093) ^ (b * 19349663) ^ (c * 83492791)
    value ^= value >> 13
    value *= 1274126177
    return (value ^ (value >> 16)) & 0xFFFF


@kernel(fastmath=True)
def shade(
    inverse_depth: Float32,
    seen: Int32,
    width: int,
    height: int,
    camera: Float64,
    static_count: int,
    static_surface: Float32,
    static_material: UInt8,
    static_glow: UInt8,
    mover_surface: Float32,
    mover_material: UInt8,
    owner: Int32,
    lights: UInt32,
    light: Float32,
    noise: UInt8,
    exp_of: Float32,
    curve: UInt8,
    town_heights: UInt16,
    mover_heights: UInt16,
    shadow: Float32,
    out: UInt32,
) -> None:
    """Write BGRA words.

    Args:
        static_glow: (T,) 1 where a signal's lamp is lit.
        owner: mover's row of each mover triangle; ``lights`` its VehicleLightState bits.
        town_heights, mover_heights: shadow maps, flat; ``shadow`` their frame (first number 0 scale: none).
    """
    focal, cx, cy = _F(camera[12]), _F(camera[13]), _F(camera[14])
    ox, oy, oz = _F(camera[0]), _F(camera[1]), _F(camera[2])
    rx, ry, rz = _F(camera[3]) / focal, _F(camera[4]) / focal, _F(camera[5]) / focal
    bx, by, bz = _F(camera[6]) / focal, _F(camera[7]) / focal, _F(camera[8]) / focal
    sun_x, sun_y, sun_z = light[TO_SUN], light[TO_SUN + 1], light[TO_SUN + 2]
    wet, puddles, night = light[WET], light[PUDDLES], light[NIGHT]
    fog_per_m, falloff, fog_start, haze = (
        light[FOG_PER_M],
        light[FOG_FALLOFF_PER_M],
        light[FOG_START_M],
        light[HAZE_PER_M],
    )
    saturation = light[SATURATION]
    has_shadow = shadow[4] > _F(0.0)
    reflected = np.empty(3, dtype=np.float32)
    one, zero, half = _F(1.0), _F(0.0), _F(0.5)
    for row in range(height):
        py = _F(row) + half - cy
        line_x = _F(camera[9]) + py * bx
        line_y = _F(camera[10]) + py * by
        line_z = _F(camera[11]) + py * bz
        column = 0
        offset = row * width
        while column < width:
            mark = seen[offset + column]
            end = column + 1
            while end < width and seen[offset + end] == mark:
                end += 1
            if mark < 0:
                for u in range(column, end):
                    px = _F(u) + half - cx
                    dx, dy, dz = line_x + px * rx, line_y + px * ry, line_z + px * rz
                    scale = one / math.sqrt(dx * dx + dy * dy + dz * dz)
                    sky_colour(dx * scale, dy * scale, dz * scale, light, noise, reflected)
                    share = zero
                    if fog_per_m > zero:
                        share = min(one, fog_per_m * _F(400.0)) * max(zero, one - max(zero, dz * scale) * _F(1.6))
                    red = reflected[0] + (light[FOG_RGB] - reflected[0]) * share
                    green = reflected[1] + (light[FOG_RGB + 1] - reflected[1]) * share
                    blue = reflected[2] + (light[FOG_RGB + 2] - reflected[2]) * share
                    out[offset + u] = (
                        np.uint32(0xFF000000)
                        | (np.uint32(curve[min(np.int64(red * _TO_CURVE), _CURVE_LAST)]) << np.uint32(16))
                        | (np.uint32(curve[min(np.int64(green * _TO_CURVE), _CURVE_LAST)]) << np.uint32(8))
                        | np.uint32(curve[min(np.int64(blue * _TO_CURVE), _CURVE_LAST)])
                    )
                column = end
                continue
            number = np.int64(mark >> 1)
            facing = one if mark & 1 else -one
            glow = zero
            if number < static_count:
                kind = static_material[number]
                ar, ag, ab = static_surface[number, 0], static_surface[number, 1], static_surface[number, 2]
                nx, ny, nz = (
                    facing * static_surface[number, 3],
                    facing * static_surface[number, 4],
                    facing * static_surface[number, 5],
                )
                if SIGNAL_RED <= kind <= SIGNAL_GREEN:
                    glow = _F(2.2) if static_glow[number] else zero
                elif kind == HEAD_LIGHT and night > half:
                    glow = _F(2.0)
            else:
                number -= static_count
                kind = mover_material[number]
                ar, ag, ab = mover_surface[number, 0], mover_surface[number, 1], mover_surface[number, 2]
                nx, ny, nz = (
                    facing * mover_surface[number, 3],
                    facing * mover_surface[number, 4],
                    facing * mover_surface[number, 5],
                )
                if kind == HEAD_LIGHT:
                    state = lights[owner[number]]
                    glow = _F(3.0) if state & np.uint32(6) else (_F(1.2) if state & np.uint32(1) else zero)
                elif kind == TAIL_LIGHT:
                    state = lights[owner[number]]
                    glow = _F(3.0) if state & np.uint32(8) else (_F(1.0) if state & np.uint32(1) else zero)
            facing_sun = max(zero, nx * sun_x + ny * sun_y + nz * sun_z)
            open_sky = half + half * nz
            amb_r = light[BOUNCE_RGB] + (light[SKY_RGB] - light[BOUNCE_RGB]) * open_sky
            amb_g = light[BOUNCE_RGB + 1] + (light[SKY_RGB + 1] - light[BOUNCE_RGB + 1]) * open_sky
            amb_b = light[BOUNCE_RGB + 2] + (light[SKY_RGB + 2] - light[BOUNCE_RGB + 2]) * open_sky
            sun_r, sun_g, sun_b = (
                light[SUN_RGB] * facing_sun,
                light[SUN_RGB + 1] * facing_sun,
                light[SUN_RGB + 2] * facing_sun,
            )
            upright = abs(nz) < half
            amplitude = _F(0.16)
            if kind == FOLIAGE:
                amplitude = _F(0.55)
            elif kind == PAINT or kind >= HEAD_LIGHT:
                amplitude = zero
            elif kind in (GLASS, WINDOW):
                amplitude = _F(0.05)
            elif kind == ASPHALT:
                amplitude = _F(0.20)
            mirror = zero
            if kind in (GLASS, WINDOW):
                mirror = _F(0.55)
            elif kind == PAINT:
                mirror = _F(0.16)
            bias = _F(0.06) + (one - facing_sun) * shadow[9]
            is_wet = wet > zero and nz > half and kind in (ASPHALT, MATTE)
            for u in range(column, end):
                depth = one / inverse_depth[offset + u]
                px = _F(u) + half - cx
                dx, dy, dz = line_x + px * rx, line_y + px * ry, line_z + px * rz
                x, y, z = ox + depth * dx, oy + depth * dy, oz + depth * dz
                sun = one
                if has_shadow and facing_sun > zero:
                    sun = _sunlit(town_heights, shadow, x, y, z, bias)
                    if sun > zero:
                        sun = min(sun, _sunlit(mover_heights, shadow, x, y, z, bias))
                grain = zero
                rough = zero
                if amplitude > zero:
                    if upright:
                        s, t = x + y, z
                    else:
                        s, t = x, y
                    fine = noise[
                        (np.int64(t * _F(5.0) + _F(65536.0)) & _MASK) * NOISE_SIZE
                        + (np.int64(s * _F(5.0) + _F(65536.0)) & _MASK)
                    ]
                    rough_word = noise[
                        (np.int64(t * _F(0.6) + _F(65536.0)) & _MASK) * NOISE_SIZE
                        + (np.int64(s * _F(0.6) + _F(65536.0)) & _MASK)
                    ]
                    rough = (_F(rough_word) - _F(128.0)) * _F(1.0 / 64.0)
                    near = _F(60.0) / (_F(60.0) + depth)
                    grain = amplitude * (rough * _F(0.55) + (_F(fine) - _F(128.0)) * _F(1.0 / 64.0) * near)
                factor = max(one + grain, _F(0.3))
                lit_r, lit_g, lit_b = amb_r + sun_r * sun, amb_g + sun_g * sun, amb_b + sun_b * sun
                red, green, blue = ar * factor * lit_r, ag * factor * lit_g, ab * factor * lit_b
                share = mirror
                if is_wet:
                    pool = wet * _F(0.25)
                    if puddles > zero and rough > _F(1.1) - _F(1.9) * puddles:
                        pool = max(pool, _F(0.65))
                    dark = one - _F(0.45) * wet
                    red, green, blue = red * dark, green * dark, blue * dark
                    share = pool
                if share > zero or glow > zero:
                    length = one / math.sqrt(dx * dx + dy * dy + dz * dz)
                    vx, vy, vz = dx * length, dy * length, dz * length
                    toward = -(vx * nx + vy * ny + vz * nz)
                    if share > zero:
                        mx, my, mz = vx + _F(2.0) * toward * nx, vy + _F(2.0) * toward * ny, vz + _F(2.0) * toward * nz
                        sky_colour(mx, my, max(mz, _F(0.02)), light, noise, reflected)
                        graze = one - max(zero, toward)
                        graze = graze * graze
                        fresnel = share * (_F(0.22) + _F(0.78) * graze * graze)
                        red += (reflected[0] - red) * fresnel
                        green += (reflected[1] - green) * fresnel
                        blue += (reflected[2] - blue) * fresnel
                        if kind == PAINT and sun > zero:
                            shine = max(zero, mx * sun_x + my * sun_y + mz * sun_z)
                            shine = shine * shine
                            shine = shine * shine
                            shine = shine * shine * shine * shine * sun * _F(0.35)
                            red, green, blue = (
                                red + light[SUN_RGB] * shine,
                                green + light[SUN_RGB + 1] * shine,
                                blue + light[SUN_RGB + 2] * shine,
                            )
                if kind == WINDOW and night > zero:
                    cell = _hash(
                        np.int64(math.floor(s * _F(0.45))),
                        np.int64(math.floor(t * _F(0.33))),
                        np.int64(nx * _F(8.0)) + 3,
                    )
                    if cell < 23000:
                        warm = night * (_F(0.55) + _F(cell & 1023) * _F(0.0006))
                        red, green, blue = red + warm, green + warm * _F(0.78), blue + warm * _F(0.45)
                if glow > zero:
                    red, green, blue = red + ar * glow, green + ag * glow, blue + ab * glow
                if saturation < one:
                    grey = _F(0.3) * red + _F(0.55) * green + _F(0.15) * blue
                    red, green, blue = (
                        grey + (red - grey) * saturation,
                        grey + (green - grey) * saturation,
                        grey + (blue - grey) * saturation,
                    )
                thick = haze * depth
                if fog_per_m > zero:
                    density = fog_per_m
                    if falloff > zero:
                        low = exp_of[np.int64(min(max(z, zero) * falloff * _TO_EXP, _EXP_LAST))]
                        high = exp_of[np.int64(min(max(oz, zero) * falloff * _TO_EXP, _EXP_LAST))]
                        rise = max(abs(oz - z) * falloff, _F(0.05))
                        density = fog_per_m * min(one, max(abs(low - high) / rise, min(low, high)))
                    thick += density * max(zero, depth - fog_start)
                clear = exp_of[np.int64(min(thick * _TO_EXP, _EXP_LAST))]
                red = light[FOG_RGB] + (red - light[FOG_RGB]) * clear
                green = light[FOG_RGB + 1] + (green - light[FOG_RGB + 1]) * clear
                blue = light[FOG_RGB + 2] + (blue - light[FOG_RGB + 2]) * clear
                out[offset + u] = (
                    np.uint32(0xFF000000)
                    | (np.uint32(curve[min(np.int64(max(red, zero) * _TO_CURVE), _CURVE_LAST)]) << np.uint32(16))
                    | (np.uint32(curve[min(np.int64(max(green, zero) * _TO_CURVE), _CURVE_LAST)]) << np.uint32(8))
                    | np.uint32(curve[min(np.int64(max(blue, zero) * _TO_CURVE), _CURVE_LAST)])
                )
            column = end
