"""Reflections of the sky on paint, glass and water."""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

import math

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.render.lanes import (
    BLUE,
    FACING,
    GREEN,
    PART,
    RAY,
    RED,
    ROUGH,
    SHARE,
    SHINE,
    SUN,
    Triple,
    X,
    Y,
    Z,
    gradient,
    three,
)
from headless_simulator.render.light import HORIZON_RGB, SUN_RGB, TO_SUN, ZENITH_RGB
from headless_simulator.scene import Float32

_F = np.float32
_TWO_PARTS = np.uint64(2) * PART
_ZERO, _HALF, _ONE, _TWO = _F(0.0), _F(0.5), _F(1.0), _F(2.0)


@kernel(assume_finite=True)
def sky_of(light: Float32) -> tuple[Triple, Triple, Triple]:
    """Return the sky's colours at the horizon and the zenith, and the unit vector to the sun."""
    return three(light, HORIZON_RGB), three(light, ZENITH_RGB), three(light, TO_SUN)


@kernel(assume_finite=True)
def ray_to(lane: Float32, pixel: Number, eye: Float32) -> Triple:
    """Return the vector from the camera to a pixel's surface point, metres."""
    return lane[X + pixel] - eye[0], lane[Y + pixel] - eye[1], lane[Z + pixel] - eye[2]


@kernel(assume_finite=True)
def mirrored(
    ray: Triple, normal: Triple, sky: tuple[Triple, Triple, Triple], share: Number, gloss: Number
) -> tuple[Number, Number, Number, Number, Number]:
    """Return a surface's reflection of the sky: red, green, blue, share, and the sun's glint.

    Args:
        ray: vector from the camera, of any length.
        normal: unit normal.
        sky: result of ``sky_of``.
        share: reflected share of light at grazing incidence.
        gloss: glossiness of the glint.
    """
    horizon, zenith, to_sun = sky
    scale = _ONE / math.sqrt(ray[0] * ray[0] + ray[1] * ray[1] + ray[2] * ray[2] + _F(1e-9))
    vx, vy, vz = ray[0] * scale, ray[1] * scale, ray[2] * scale
    toward = -(vx * normal[0] + vy * normal[1] + vz * normal[2])
    mx, my, mz = vx + _TWO * toward * normal[0], vy + _TWO * toward * normal[1], vz + _TWO * toward * normal[2]
    red, green, blue = gradient(max(mz, _ZERO), horizon, zenith)
    dim = _ONE if mz > _ZERO else max(_ONE + mz * _F(1.5), _F(0.35))  # reflections below the horizon show the street
    graze = _ONE - max(_ZERO, toward)
    graze = graze * graze
    shine = max(_ZERO, mx * to_sun[0] + my * to_sun[1] + mz * to_sun[2])
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine
    shine = shine * shine * shine * gloss
    return red * dim, green * dim, blue * dim, share * (_F(0.22) + _F(0.78) * graze * graze), shine


@kernel(assume_finite=True)
def mirror_pools(
    lane: Float32,
    first: Number,
    last: Number,
    eye: Float32,
    run_normal: Float32,
    light: Float32,
    wet: Number,
    puddles: Number,
    most: Number,
) -> None:
    """Darken wet pixels of one triangle and blend reflections into them, strongest in puddles, which follow ROUGH."""
    sky, sun, normal = sky_of(light), three(light, SUN_RGB), three(run_normal, 0)
    (eye_x, eye_y, eye_z), dark = three(eye, 0), _ONE - _F(0.45) * wet
    for i in range(first, last):
        red, green, blue = lane[RED + i] * dark, lane[GREEN + i] * dark, lane[BLUE + i] * dark
        depth = (lane[ROUGH + i] - _F(1.5) + _F(1.3) * puddles) * _F(1.6)
        pool = max(wet * _F(0.25), most * min(max(depth, _ZERO), _ONE))
        ray = lane[X + i] - eye_x, lane[Y + i] - eye_y, lane[Z + i] - eye_z
        sky_red, sky_green, sky_blue, share, shine = mirrored(ray, normal, sky, pool, pool * _HALF)
        shine = shine * lane[SUN + i]
        lane[RED + i] = red + ((sky_red - red) * share + sun[0] * shine)
        lane[GREEN + i] = green + ((sky_green - green) * share + sun[1] * shine)
        lane[BLUE + i] = blue + ((sky_blue - blue) * share + sun[2] * shine)


@kernel(assume_finite=True)
def put_knots(
    lane: Float32,
    knots: Number,
    first: Number,
    last: Number,
    eye: Float32,
    run_normal: Float32,
    share: Number,
    gloss: Number,
) -> Number:
    """Store the arguments of ``mirrored`` at every twelfth pixel of a run and at its last; returns the number of knots."""
    normal = three(run_normal, 0)
    for step in range(first, last + np.uint64(11), np.uint64(12)):
        ray = ray_to(lane, min(step, last - np.uint64(1)), eye)
        for axis in range(3):
            lane[RAY + np.uint64(axis) * PART + knots] = ray[axis]
            lane[FACING + np.uint64(axis) * PART + knots] = normal[axis]
        lane[SHARE + knots], lane[SHINE + knots] = share, gloss
        knots += np.uint64(1)
    return knots


@kernel(assume_finite=True)
def mirror_knots(lane: Float32, knots: Number, light: Float32) -> None:
    """Evaluate ``mirrored`` at all knots of a row; the results replace the arguments, the colour the ray."""
    sky = sky_of(light)
    for n in range(knots):
        ray = lane[RAY + n], lane[RAY + PART + n], lane[RAY + _TWO_PARTS + n]
        normal = lane[FACING + n], lane[FACING + PART + n], lane[FACING + _TWO_PARTS + n]
        red, green, blue, share, shine = mirrored(ray, normal, sky, lane[SHARE + n], lane[SHINE + n])
        lane[RAY + n], lane[RAY + PART + n], lane[RAY + _TWO_PARTS + n] = red, green, blue
        lane[SHARE + n], lane[SHINE + n] = share, shine


@kernel(assume_finite=True)
def knot_at(lane: Float32, knot: Number) -> tuple[Number, Number, Number, Number, Number]:
    """Return the result of ``mirror_knots`` at a knot: red, green, blue, share, glint."""
    return (
        lane[RAY + knot], lane[RAY + PART + knot], lane[RAY + _TWO_PARTS + knot], lane[SHARE + knot], lane[SHINE + knot],
    )  # fmt: skip


@kernel(assume_finite=True)
def mirror_span(lane: Float32, knot: Number, first: Number, last: Number, light: Float32) -> Number:
    """Blend the reflection into pixels of one triangle, interpolated between knots; returns the next run's first knot."""
    sun_rgb = three(light, SUN_RGB)
    red, green, blue, share, shine = knot_at(lane, knot)
    knot += np.uint64(1)
    start = first
    while start < last:
        stop = min(start + np.uint64(12), last)
        end = min(stop, last - np.uint64(1))
        more_red, more_green, more_blue, more, more_shine = _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
        if end > start:
            next_knot = knot_at(lane, knot)
            knot += np.uint64(1)
            step = _ONE / _F(end - start)
            more_red, more_green, more_blue = (
                (next_knot[0] - red) * step,
                (next_knot[1] - green) * step,
                (next_knot[2] - blue) * step,
            )
            more, more_shine = (next_knot[3] - share) * step, (next_knot[4] - shine) * step
        for i in range(start, stop):
            sun = shine * lane[SUN + i]
            lane[RED + i] += (red - lane[RED + i]) * share + sun_rgb[0] * sun
            lane[GREEN + i] += (green - lane[GREEN + i]) * share + sun_rgb[1] * sun
            lane[BLUE + i] += (blue - lane[BLUE + i]) * share + sun_rgb[2] * sun
            red += more_red
            green += more_green
            blue += more_blue
            share += more
            shine += more_shine
        start = stop
    return knot
