"""Shading steps for one row of pixels or one pixel of it.

A row is processed in small arrays (``lane``): world position, sunlight, grain and linear colour of its pixels, then fog, tone
curve and bytes. Runs of pixels of one triangle share its constants. Runs have 8 pixels on average, so the triangles' constants
are copied along the row, and most steps process a whole row at a time.
"""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.render.light import (
    CLOUDS,
    FOG_FALLOFF_PER_M,
    FOG_PER_M,
    FOG_RGB,
    FOG_START_M,
    HAZE_PER_M,
    HORIZON_RGB,
    NOISE_SIZE,
    SATURATION,
    SUN_DISC,
    SUN_RGB,
    TO_SUN,
    ZENITH_RGB,
)  # fmt: skip
from headless_simulator.scene import (
    Float32,
    UInt8,
    UInt16,
    UInt32,
)  # fmt: skip

Triple: TypeAlias = tuple[Number, Number, Number]

_F = np.float32
_MASK = np.int32(NOISE_SIZE - 1)
_SHIFT = np.int32(9)  # log2 of NOISE_SIZE
NEAR_M = _F(36.0)  # surfaces nearer than this have a second, finer grain
_ZERO, _HALF, _ONE, _TWO = _F(0.0), _F(0.5), _F(1.0), _F(2.0)

TILE: Final = 1024
"""Pixels of a row that are processed together. Longer rows are split."""
SPAN: Final = 16
"""Runs are filled in steps of this size, past their end: the next run overwrites that part, the last one has a margin."""

# Offsets of the parts of ``lane``: they are compile-time constants, so that loops need no overlap check. RED, GREEN, BLUE are
# the surface under sky light, then the colour; SUN_RED and so on are the addition of full sun. RAY and FACING have three parts
# each: the vectors at a row's knots, where reflections are evaluated.
(
    DEPTH, X, Y, Z, RED, GREEN, BLUE, CLEAR, SUN, GRAIN, ROUGH, ACROSS,
    SUN_RED, SUN_GREEN, SUN_BLUE, BIAS, ROUGHNESS, UPRIGHT, BESIDE,
    RAY, FACING, SHARE, SHINE,
) = (np.uint64(k * (TILE + SPAN)) for k in (*range(20), 22, 25, 26))  # fmt: skip
LANES: Final = 27 * (TILE + SPAN)
PART: Final = np.uint64(TILE + SPAN)


@kernel(assume_finite=True)
def three(numbers: Float32, at: int) -> Triple:
    """Return ``numbers[at : at + 3]`` of a (N,) array by value, so that the compiler can treat them as constant in loops."""
    return numbers[at], numbers[at + 1], numbers[at + 2]


@kernel(assume_finite=True)
def gradient(dz: Number, horizon: Triple, zenith: Triple) -> Triple:
    """Return the sky's linear colour at elevation ``dz``, without clouds and sun."""
    up = max(dz, _ZERO)
    share = min(up / (up + _F(0.22)) * _F(1.22), _ONE)
    return (
        horizon[0] + (zenith[0] - horizon[0]) * share,
        horizon[1] + (zenith[1] - horizon[1]) * share,
        horizon[2] + (zenith[2] - horizon[2]) * share,
    )


@kernel(assume_finite=True)
def sky_colour(dx: Number, dy: Number, dz: Number, light: Float32, noise: UInt8, out: Float32) -> None:
    """Write the sky's linear colour in a unit direction (gradient, clouds, sun) to (3,) ``out``."""
    out[0], out[1], out[2] = gradient(dz, three(light, HORIZON_RGB), three(light, ZENITH_RGB))
    clouds = light[CLOUDS]
    cover = _ZERO
    if clouds > _F(0.01) and dz > _F(0.02):
        scale = _F(60.0) / (dz + _F(0.06))
        puff = cloud_noise(noise, dx * scale, dy * scale) - (_F(0.80) - _F(0.70) * clouds)
        cover = min(max(puff * _F(2.6), _ZERO), _ONE) * min(dz * _F(8.0), _ONE) * _F(0.85)
    near_sun = max(dx * light[TO_SUN] + dy * light[TO_SUN + 1] + dz * light[TO_SUN + 2], _ZERO)
    glow = near_sun * near_sun
    glow = glow * glow
    glow = glow * glow
    glow = glow * glow * glow * glow
    disc = _F(60.0) if near_sun > _F(0.99990) else _ZERO
    for axis in range(3):
        white = light[FOG_RGB + axis] * _F(1.1)
        shine = light[SUN_RGB + axis] * light[SUN_DISC] * _F(0.02)
        out[axis] = out[axis] + (white - out[axis]) * cover + shine * (glow + disc) * (_ONE - cover)


@kernel(assume_finite=True)
def cloud_noise(noise: UInt8, x: Number, y: Number) -> Number:
    """Return noise from 0 to 1, of two octaves that are rotated against each other.

    Each octave repeats, but their sum does not.
    """
    one = blend(noise, x + _F(8192.0), y + _F(8192.0))
    other = blend(noise, _F(0.371) * x - _F(0.489) * y + _F(8192.0), _F(0.489) * x + _F(0.371) * y + _F(8192.0))
    return _HALF + (one + other - _F(255.0)) * _F(0.7 / 255.0)


@kernel(assume_finite=True)
def blend(noise: UInt8, u: Number, v: Number) -> Number:
    """Return bilinearly interpolated noise (u, v above 0)."""
    return between(four_texels(noise, texel_at(u, v)), u, v)


@kernel(assume_finite=True)
def texel_at(u: Number, v: Number) -> Number:
    """Return the flat index of a texel in the noise (u, v above 0)."""
    return ((np.int32(v) & _MASK) << _SHIFT) | (np.int32(u) & _MASK)


@kernel(assume_finite=True)
def four_texels(noise: UInt8, at: Number) -> Number:
    """Pack a texel and its neighbours to the right, below and below right into one integer, lowest byte first."""
    row, column = np.uint32(at) & np.uint32(_MASK << _SHIFT), np.uint32(at) & np.uint32(_MASK)
    right, below = (
        (column + np.uint32(1)) & np.uint32(_MASK),
        (row + np.uint32(NOISE_SIZE)) & np.uint32(_MASK << _SHIFT),
    )
    upper = np.uint32(noise[row | column]) | np.uint32(noise[row | right]) << np.uint32(8)
    lower = np.uint32(noise[below | column]) | np.uint32(noise[below | right]) << np.uint32(8)
    return np.int32(upper | lower << np.uint32(16))


@kernel(assume_finite=True)
def between(four: Number, u: Number, v: Number) -> Number:
    """Interpolate four packed texels bilinearly."""
    fu, fv = u - _F(np.int32(u)), v - _F(np.int32(v))
    byte, word = np.int32(255), np.int32(four)
    a, b = _F(word & byte), _F((word >> np.int32(8)) & byte)
    c, d = _F((word >> np.int32(16)) & byte), _F((word >> np.int32(24)) & byte)
    upper = a + (b - a) * fu
    return upper + (c + (d - c) * fu - upper) * fv


@kernel(assume_finite=True)
def place_pixels(depths_m: Float32, eye: Float32, line: Float32, right: Float32, lane: Float32, count: Number) -> None:
    """Fill the pixels' world positions, metres, and CLEAR with 1.

    Args:
        depths_m: (count,) planar depth, inf where sky.
        eye: (3,) camera position, metres.
        line: (3,) direction of the row's middle at depth 1.
        right: (3,) change of direction per pixel.
        lane: scratch of the pixels.
        count: number of pixels.
    """
    eye_x, eye_y, eye_z = eye[0], eye[1], eye[2]
    line_x, line_y, line_z = line[0], line[1], line[2]
    right_x, right_y, right_z = right[0], right[1], right[2]
    for i in range(count):
        depth = min(depths_m[i], _F(1e7))  # any finite depth for the sky
        across = lane[ACROSS + i]
        lane[DEPTH + i] = depth
        lane[X + i] = eye_x + depth * (line_x + across * right_x)
        lane[Y + i] = eye_y + depth * (line_y + across * right_y)
        lane[Z + i] = eye_z + depth * (line_z + across * right_z)
        lane[CLEAR + i] = _ONE


@kernel(assume_finite=True)
def fill(lane: Float32, first: Number, last: Number, value: Number) -> None:
    """Set ``lane[first:last]`` to one value."""
    for i in range(first, last):
        lane[i] = value


@kernel(assume_finite=True)
def two_texels(heights: UInt16, at: Number) -> Number:
    """Pack a texel (lower half) and its right neighbour (upper half) into one integer."""
    first = np.uint64(np.uint32(at))
    return np.int32(np.uint32(heights[first]) | np.uint32(heights[first + np.uint64(1)]) << np.uint32(16))


@kernel(assume_finite=True)
def sunlit(heights: UInt16, shadow: Float32, lane: Float32, count: Number) -> None:
    """Fill SUN: share of sunlight at each pixel, interpolated between four texels of the (rows * columns,) height map.

    GRAIN, ROUGH and BIAS serve as scratch. Only the texel look-up is not vectorised.
    """
    shear_x, shear_y, from_u, from_v = shadow[0], shadow[1], shadow[2], shadow[3]
    per_m, wide, high = shadow[4], shadow[5] - _TWO, shadow[6] - _TWO
    columns = np.int32(shadow[5])
    lowest, steps = shadow[7], shadow[8]
    integers = lane.view(np.int32)
    for i in range(count):
        z = lane[Z + i]
        u = (lane[X + i] - z * shear_x - from_u) * per_m - _HALF
        v = (lane[Y + i] - z * shear_y - from_v) * per_m - _HALF
        u, v = min(max(u, _ZERO), wide), min(max(v, _ZERO), high)
        level = np.int32((z - lowest + lane[BIAS + i]) * steps)
        iu, iv = np.int32(u), np.int32(v)
        lane[GRAIN + i], lane[ROUGH + i] = u - _F(iu), v - _F(iv)
        integers[BIAS + i] = level
        integers[SUN + i] = iv * columns + iu
    for i in range(count):
        at = np.uint32(integers[SUN + i])
        integers[SUN + i] = two_texels(heights, at)
        integers[BESIDE + i] = two_texels(heights, at + np.uint32(columns))
    for i in range(count):
        fu, fv, level = lane[GRAIN + i], lane[ROUGH + i], integers[BIAS + i]
        here, beside = np.uint32(integers[SUN + i]), np.uint32(integers[BESIDE + i])
        a, b = np.int32(here & np.uint32(0xFFFF)) <= level, np.int32(here >> np.uint32(16)) <= level
        c, d = np.int32(beside & np.uint32(0xFFFF)) <= level, np.int32(beside >> np.uint32(16)) <= level
        upper = (_ONE - fu if a else _ZERO) + (fu if b else _ZERO)
        lower = (_ONE - fu if c else _ZERO) + (fu if d else _ZERO)
        blended = upper + (lower - upper) * fv
        lane[SUN + i] = _ONE if a & b & c & d else (blended if a | b | c | d else _ZERO)


@kernel(assume_finite=True)
def along_surface(lane: Float32, pixel: Number) -> tuple[Number, Number]:
    """Return the coordinates of a pixel on its surface, metres, at which its noise is sampled."""
    upright = lane[UPRIGHT + pixel]
    return lane[X + pixel] + upright * lane[Y + pixel], lane[Z + pixel] if upright > _ZERO else lane[Y + pixel]


@kernel(assume_finite=True)
def roughened(noise: UInt8, lane: Float32, count: Number) -> None:
    """Fill ROUGH, -2..2, from the (NOISE_SIZE^2,) noise at fixed positions in the world."""
    integers = lane.view(np.int32)
    for i in range(count):
        s, t = along_surface(lane, i)
        integers[ROUGH + i] = texel_at(s * _F(3.0) + _F(98304.0), t * _F(3.0) + _F(98304.0))
    for i in range(count):  # a loop of its own, so that the compiler vectorises the others
        integers[ROUGH + i] = np.int32(noise[np.uint32(integers[ROUGH + i])])
    for i in range(count):
        lane[ROUGH + i] = (_F(integers[ROUGH + i]) - _F(128.0)) * _F(1.0 / 64.0)


@kernel(assume_finite=True)
def grained(lane: Float32, count: Number) -> None:
    """Fill GRAIN, a factor on the albedo, of a row of far pixels."""
    for i in range(count):
        lane[GRAIN + i] = max(_ONE + lane[ROUGHNESS + i] * _F(0.75) * lane[ROUGH + i], _F(0.25))


@kernel(assume_finite=True)
def grained_near(noise: UInt8, lane: Float32, count: Number) -> None:
    """Fill ROUGH and GRAIN of a row with near pixels, where the grain is smooth and has a second, finer octave.

    BIAS and BESIDE serve as scratch. Only the texel look-up is not vectorised.
    """
    integers = lane.view(np.int32)
    for i in range(count):
        s, t = along_surface(lane, i)
        integers[BIAS + i] = texel_at(s * _F(24.0) + _F(98304.0), t * _F(24.0) + _F(98304.0))
        integers[BESIDE + i] = texel_at(s * _F(3.0) + _F(98304.0), t * _F(3.0) + _F(98304.0))
    for i in range(count):
        integers[BIAS + i] = four_texels(noise, integers[BIAS + i])
        integers[BESIDE + i] = four_texels(noise, integers[BESIDE + i])
    for i in range(count):
        s, t = along_surface(lane, i)
        amplitude, rough = lane[ROUGHNESS + i], lane[ROUGH + i]
        near = min(max((NEAR_M - lane[DEPTH + i]) * _F(1.0 / 12.0), _ZERO), _ONE) if amplitude > _ZERO else _ZERO
        fine = between(integers[BIAS + i], s * _F(24.0) + _F(98304.0), t * _F(24.0) + _F(98304.0))
        smooth = between(integers[BESIDE + i], s * _F(3.0) + _F(98304.0), t * _F(3.0) + _F(98304.0))
        rough += ((smooth - _F(128.0)) * _F(1.0 / 64.0) - rough) * near
        fine = (fine - _F(128.0)) * _F(1.0 / 64.0)
        lane[ROUGH + i] = rough
        lane[GRAIN + i] = max(_ONE + amplitude * (_F(0.75) * rough + _F(0.35) * fine * near), _F(0.25))


@kernel(assume_finite=True)
def coloured(lane: Float32, count: Number) -> None:
    """Combine sky light, sunlight and grain to a colour."""
    for i in range(count):
        sun, grain = lane[SUN + i], lane[GRAIN + i]
        lane[RED + i] = grain * (lane[RED + i] + lane[SUN_RED + i] * sun)
        lane[GREEN + i] = grain * (lane[GREEN + i] + lane[SUN_GREEN + i] * sun)
        lane[BLUE + i] = grain * (lane[BLUE + i] + lane[SUN_BLUE + i] * sun)


@kernel(assume_finite=True)
def finish(lane: Float32, light: Float32, eye_z: Number, out: UInt32, count: Number) -> None:
    """Apply saturation, fog and the tone curve, and write (count,) BGRA words to ``out``."""
    saturation, haze = light[SATURATION], light[HAZE_PER_M]
    per_m, falloff, start = light[FOG_PER_M], light[FOG_FALLOFF_PER_M], light[FOG_START_M]
    fog_r, fog_g, fog_b = light[FOG_RGB], light[FOG_RGB + 1], light[FOG_RGB + 2]
    if per_m > _ZERO:
        eye = max(eye_z, _ZERO) * falloff
        eye_share = math.exp(-eye)
        for i in range(count):
            low = max(lane[Z + i], _ZERO) * falloff
            power = max(_ONE - min(low, _F(15.0)) * _F(1.0 / 16.0), _ZERO)
            power = power * power
            power = power * power
            power = power * power
            share = power * power  # close to exp(-low)
            rise = abs(low - eye)
            mean = abs(share - eye_share) / max(rise, _F(0.02)) if rise > _F(0.02) else share
            depth = lane[DEPTH + i]
            lane[CLEAR + i] *= haze * depth + per_m * mean * max(_ZERO, depth - start)
    else:
        for i in range(count):
            lane[CLEAR + i] *= haze * lane[DEPTH + i]
    for i in range(count):
        red, green, blue = lane[RED + i], lane[GREEN + i], lane[BLUE + i]
        grey = (_F(0.3) * red + _F(0.55) * green + _F(0.15) * blue) * (_ONE - saturation)
        power = max(_ONE - min(lane[CLEAR + i], _F(15.0)) * _F(1.0 / 16.0), _ZERO)
        power = power * power
        power = power * power
        power = power * power
        power = power * power  # close to exp(-thickness)
        r = fog_r + (grey + red * saturation - fog_r) * power
        g = fog_g + (grey + green * saturation - fog_g) * power
        b = fog_b + (grey + blue * saturation - fog_b) * power
        r, g, b = max(r, _ZERO), max(g, _ZERO), max(b, _ZERO)
        # Narkowicz' fit of the ACES film curve, and a gamma of 2, which is close to sRGB in the usual range.
        r = math.sqrt(min(r * (_F(2.51) * r + _F(0.03)) / (r * (_F(2.43) * r + _F(0.59)) + _F(0.14)), _ONE))
        g = math.sqrt(min(g * (_F(2.51) * g + _F(0.03)) / (g * (_F(2.43) * g + _F(0.59)) + _F(0.14)), _ONE))
        b = math.sqrt(min(b * (_F(2.51) * b + _F(0.03)) / (b * (_F(2.43) * b + _F(0.59)) + _F(0.14)), _ONE))
        word = (
            (np.int32(r * _F(255.0)) << np.int32(16))
            | (np.int32(g * _F(255.0)) << np.int32(8))
            | np.int32(b * _F(255.0))
        )
        out[i] = np.uint32(word) | np.uint32(0xFF000000)
