"""Reflections, lamp light, shadows and grain of single pixels, against hand-computed values."""

import numpy as np
import pytest
from headless_simulator.render.glow import lamplight, look_lamps_up
from headless_simulator.render.lanes import (
    BESIDE,
    BIAS,
    CLEAR,
    DEPTH,
    GRAIN,
    LANES,
    RED,
    ROUGH,
    ROUGHNESS,
    SUN,
    TILE,
    UPRIGHT,
    X,
    Y,
    Z,
    blend,
    grained_near,
    sunlit,
)
from headless_simulator.render.light import HORIZON_RGB, NOISE_SIZE, NUMBERS, SUN_RGB, TO_SUN, ZENITH_RGB
from headless_simulator.render.mirror import mirror_knots, mirror_span, mirrored, put_knots, sky_of
from headless_simulator.render.resolve import SKY_TAG, resolve
from headless_simulator.scene import Float32


def lanes(**parts: list[float]) -> Float32:
    lane = np.zeros(LANES, np.float32)
    for name, values in parts.items():
        begin = int({"x": X, "y": Y, "z": Z, "bias": BIAS, "grain": GRAIN, "depth": DEPTH, "clear": CLEAR}[name])
        lane[begin : begin + len(values)] = values
    return lane


def part(lane: Float32, begin: np.uint64, count: int) -> list[float]:
    return lane[int(begin) : int(begin) + count].tolist()


def sky() -> Float32:
    light = np.zeros(NUMBERS, np.float32)
    light[HORIZON_RGB : HORIZON_RGB + 3], light[ZENITH_RGB : ZENITH_RGB + 3] = 1.0, (0.25, 0.5, 1.0)
    light[TO_SUN : TO_SUN + 3], light[SUN_RGB : SUN_RGB + 3] = (0.0, 0.0, 1.0), 2.0
    return light


def mirror(x: float, z: float) -> tuple[float, ...]:
    ray, up = (np.float32(x), np.float32(0), np.float32(z)), (np.float32(0), np.float32(0), np.float32(1))
    return mirrored(ray, up, sky_of(sky()), np.float32(0.5), np.float32(0.3))


def test_vertical_reflection_shows_zenith_and_sun() -> None:
    """22 hundredths of the share are mirrored there, and all of the glint."""
    assert mirror(0.0, -7.0) == pytest.approx((0.25, 0.5, 1.0, 0.5 * 0.22, 0.3))


def test_grazing_reflection_shows_the_horizon() -> None:
    assert mirror(90.0, 0.0) == pytest.approx((1.0, 1.0, 1.0, 0.5, 0.0))


def test_sunlight_is_interpolated_between_texels() -> None:
    """A texel's middle is at 0.5, 1.5 ..: of (1.25, 1.0) a quarter of the right column counts, and half of each row."""
    heights = np.array([[0, 0, 0, 0], [9, 0, 9, 9], [0, 9, 9, 0], [0, 0, 0, 0]], np.uint16)
    frame = np.array([0, 0, 0, 0, 1, 4, 4, 0, 1, 0], np.float32)  # upright sun, a texel a metre, a step a metre
    lane = lanes(x=[1.75, 1.5, 0.5, 2.5], y=[2.0, 0.5, 1.5, 2.5], z=[5.0] * 4, bias=[0.5] * 4)
    sunlit(heights.ravel(), frame, lane, np.uint64(4))
    assert part(lane, SUN, 4) == pytest.approx([0.75 * 0.5, 1.0, 0.0, 0.0])


def test_lamp_light_is_interpolated_and_fades_with_height() -> None:
    glow = np.zeros((4, 4), np.float32)
    glow[1, 1] = 8.0
    lane = lanes(x=[1.0, 1.5, 1.0], y=[1.0, 1.25, 1.0], z=[0.0, 0.0, 6.5], grain=[1.0] * 3)
    look_lamps_up(lane, glow, np.array([0, 0, 1], np.float32), np.uint64(3))
    assert part(lane, BESIDE, 3) == pytest.approx([8.0, 8.0 * 0.5 * 0.75, 8.0])
    lamplight(lane, np.uint64(0), np.uint64(3), np.ones(3, np.float32), np.float32(1.0), np.float32(1.0))
    assert part(lane, RED, 3) == pytest.approx([8.0, 3.0, 4.0])  # 2.5 m above 4 m: half


def test_runs_start_at_triangle_changes_and_rows() -> None:
    """Two rows of 20: sky; 18 pixels of the town's triangle 1 from the front, over the row's end; one of a mover."""
    one_m, four_m = (int(np.float32(share).view(np.int32)) << 32 for share in (1.0, 0.25))
    keys = np.zeros(40 + 16, np.int64)
    keys[3:21], keys[21] = four_m | 3, one_m | 4
    visible, starts, ids = np.zeros(40, np.int32), np.zeros(41, np.int32), np.zeros(40, np.uint32)
    depth_m, tag = np.zeros(40, np.float32), np.zeros(40, np.uint8)
    town = np.array([7, 8], np.uint32), np.array([1, 2], np.uint8)
    mover = np.array([9], np.uint32), np.array([14], np.uint8)

    resolve(keys, 20, 2, *town, *mover, visible, starts, depth_m, ids, tag)

    assert starts[:6].tolist() == [0, 3, 20, 21, 22, 40]
    assert ids.tolist() == [0] * 3 + [8] * 18 + [9] + [0] * 18
    assert tag.tolist() == [SKY_TAG] * 3 + [2] * 18 + [14] + [SKY_TAG] * 18
    assert depth_m[[3, 21]].tolist() == [4.0, 1.0]
    assert np.isinf(depth_m[[0, 39]]).all()


def test_near_grain_is_smooth_with_a_finer_octave() -> None:
    noise = np.full((NOISE_SIZE, NOISE_SIZE), 128, np.uint8)
    noise[0, 1] = noise[0, 12] = 192  # three texels a metre, of the fine grain 24: half a metre is texel 1.5, and 12
    lane = lanes(x=[0.5] * 6, depth=[24.0, 30.0, 48.0, 24.0, 24.0, 1e7])
    for begin, values in (
        (ROUGH, [1.0] * 6),
        (ROUGHNESS, [1.0, 1.0, 1.0, 0.0, 1.0, 0.0]),
        (UPRIGHT, [0, 0, 0, 0, 1, 0]),
    ):
        lane[int(begin) : int(begin) + 6] = values
    lane[int(Z) + 4] = 10.0  # a wall without grain at this point

    grained_near(noise.ravel(), lane, np.uint64(6))

    # smooth, smooth by half, far, without grain, plain, sky
    assert part(lane, ROUGH, 6) == [0.5, 0.75, 1.0, 1.0, 0.0, 1.0]
    expected = [1 + 0.75 * 0.5 + 0.35, 1 + 0.75 * 0.75 + 0.35 * 0.5, 1.75, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(part(lane, GRAIN, 6), expected, rtol=1e-6)


def test_grain_does_not_depend_on_the_column() -> None:
    rng = np.random.default_rng(3)
    noise = rng.integers(0, 256, NOISE_SIZE * NOISE_SIZE).astype(np.uint8)
    row = np.zeros(LANES, np.float32)
    parts = (X, Y, Z, DEPTH, ROUGH, ROUGHNESS, UPRIGHT)
    for begin, low, high in zip(parts, (-99, -99, 0, 5, -2, 0, 0), (99, 99, 20, 60, 2, 0.5, 2), strict=True):
        row[int(begin) : int(begin) + TILE] = rng.uniform(low, high, TILE)
    row[int(DEPTH) + 100 : int(DEPTH) + 200] = 50.0  # whole spans of which none is near
    row[int(UPRIGHT) : int(UPRIGHT) + TILE] = np.floor(row[int(UPRIGHT) : int(UPRIGHT) + TILE])
    together, alone = row.copy(), []

    grained_near(noise, together, np.uint64(TILE))

    for pixel in range(TILE):
        one = np.zeros(LANES, np.float32)
        for begin in parts:
            one[int(begin)] = row[int(begin) + pixel]
        grained_near(noise, one, np.uint64(1))
        alone.append((one[int(ROUGH)], one[int(GRAIN)]))
    assert list(zip(part(together, ROUGH, TILE), part(together, GRAIN, TILE), strict=True)) == alone


def test_noise_wraps_around() -> None:
    noise = np.zeros((NOISE_SIZE, NOISE_SIZE), np.uint8)
    noise[0, 0], noise[511, 511] = 200, 100

    assert blend(noise.ravel(), np.float32(511.5), np.float32(511.5)) == (200 + 100) / 4


def test_reflection_is_interpolated_between_knots() -> None:
    """Of runs that follow each other in a row, each has its own knots: here at pixels 0 and 2, then 3, 15 and 16."""
    eye, up, light = np.zeros(3, np.float32), np.array([0, 0, 1], np.float32), sky()
    lane = lanes(x=[float(k) for k in range(17)], z=[-10.0] * 17)
    runs = [
        (np.uint64(first), np.uint64(last), np.float32(share)) for first, last, share in ((0, 3, 0.2), (3, 17, 0.6))
    ]

    knots = np.uint64(0)
    for first, last, share in runs:
        knots = put_knots(lane, np.uint64(knots), first, last, eye, up, share, np.float32(0.0))
    mirror_knots(lane, np.uint64(knots), light)
    knot = np.uint64(0)
    for first, last, _ in runs:
        knot = np.uint64(mirror_span(lane, knot, first, last, light))

    def at(x: float, share: float) -> tuple[float, float]:
        red, _, _, weight, _ = mirrored((x, 0.0, -10.0), (0.0, 0.0, 1.0), sky_of(light), share, 0.0)
        return red, weight

    (left, much_left), (right, much_right) = at(3.0, 0.6), at(15.0, 0.6)
    middle = (left + right) / 2 * (much_left + much_right) / 2
    red = part(lane, RED, 17)
    assert (int(knots), int(knot)) == (5, 5)
    assert [red[k] for k in (0, 2)] == pytest.approx([np.prod(at(x, 0.2)) for x in (0.0, 2.0)], rel=1e-5)
    assert [red[k] for k in (3, 9, 15, 16)] == pytest.approx(
        [left * much_left, middle, right * much_right, np.prod(at(16.0, 0.6))], rel=1e-5
    )
