"""Rain as short bright streaks that depend only on simulation time."""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

import math

import numpy as np

from headless_simulator.jit import Number, kernel
from headless_simulator.scene import Float64, UInt32


@kernel()
def draw_rain(
    out: UInt32,
    width: Number,
    height: Number,
    camera: Float64,
    density: Number,
    wind: Number,
    brightness: Number,
    seed: Number,
) -> None:
    """Blend streaks into (height * width,) uint32 BGRA words.

    A streak points to the vanishing point of the downward direction, so that a camera looking down sees radial strokes.
    """
    fall_x, fall_y, fall_z = 0.35 * wind, 0.12 * wind, -1.0
    across = camera[3] * fall_x + camera[4] * fall_y + camera[5] * fall_z
    down = camera[6] * fall_x + camera[7] * fall_y + camera[8] * fall_z
    ahead = camera[9] * fall_x + camera[10] * fall_y + camera[11] * fall_z
    focal, cx, cy = camera[12], camera[13], camera[14]
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
    for _ in range(int(density * width * height / 340.0)):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        x = float(state & np.uint64(0xFFFF)) / 65536.0 * width
        y = float((state >> np.uint64(16)) & np.uint64(0xFFFF)) / 65536.0 * height
        near = float((state >> np.uint64(32)) & np.uint64(0xFFFF)) / 65536.0
        step_x, step_y = across - (x - cx) / focal * ahead, down - (y - cy) / focal * ahead
        length = math.sqrt(step_x * step_x + step_y * step_y) + 1e-6
        count = int(height * (0.012 + 0.045 * near * near) * min(1.0, length))
        alpha = int((0.08 + 0.16 * near) * 256)
        for _ in range(count):
            if x < 0 or y < 0 or x >= width or y >= height:
                break
            at = int(y) * width + int(x)
            word = int(out[at])
            blend = 0xFF000000
            for shift in (0, 8, 16):
                channel = (word >> shift) & 0xFF
                blend |= (channel + (max(0, int(brightness) - channel) * alpha >> 8)) << shift
            out[at] = np.uint32(blend)
            x += step_x / length
            y += step_y / length
