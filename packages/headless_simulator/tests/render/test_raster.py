import numpy as np
from headless_simulator.render.raster import fill
from hypothesis import example, given, settings
from hypothesis import strategies as st

WIDTH, HEIGHT = 48, 40


def covered(corners: np.ndarray, w: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> tuple[np.ndarray, np.ndarray]:
    keys = np.zeros(WIDTH * HEIGHT, np.int64)
    numbers = [float(v) for corner, depth in zip(corners, w, strict=True) for v in (*corner, depth)]
    ax, ay, az, bx, by, bz, cx, cy, cz = numbers
    fill(keys, WIDTH, HEIGHT, ax, ay, az, bx, by, bz, cx, cy, cz, 3)
    inverse = (keys >> 32).astype(np.int32).view(np.float32)
    return keys.reshape(HEIGHT, WIDTH) > 0, inverse.reshape(HEIGHT, WIDTH)


def test_right_triangle_covers_expected_pixels() -> None:
    """Corners (0,0), (4,0), (0,4): centres with x + y < 4, so rows of 4 - y - 0.5 -> 3, 2, 1, 0 and the half column."""
    mask, _ = covered(np.array([[0.0, 0], [4, 0], [0, 4]]))

    assert mask[:5].sum(axis=1).tolist() == [3, 2, 1, 0, 0]  # the slanted edge itself belongs to the other side
    other, _ = covered(np.array([[4.0, 0], [4, 4], [0, 4]]))
    assert other[:5].sum(axis=1).tolist() == [1, 2, 3, 4, 0]
    assert not (mask & other).any()


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-20, 70), st.floats(-20, 60)), min_size=4, max_size=9, unique=True),
    st.booleans(),
)
@example([(0.0, 0.0), (0.0, 1.0), (0.0, 21.0), (24.0, 20.0)], True)  # a corner in the middle
def test_a_fan_covers_each_pixel_once(rim: list[tuple[float, float]], snap: bool) -> None:
    """Triangles round a middle point share edges: together they cover what is inside, each pixel once."""
    corners = np.array(rim)
    if snap:  # put corners on pixel centres, where ties are
        corners = np.round(corners) + 0.5
    middle = np.array([24.5, 20.5]) if snap else np.array([24.3, 19.7])
    if (corners == middle).all(axis=1).any():  # no angle, and no fan
        return
    angle = np.arctan2(*(corners - middle).T[::-1])
    corners = corners[np.argsort(angle, kind="stable")]
    if len(np.unique(np.sort(angle))) < len(angle):
        return
    gaps = np.diff(np.r_[np.sort(angle), np.sort(angle)[0] + 2 * np.pi])
    if gaps.max() > np.pi - 1e-3 or gaps.min() < 1e-6:
        return
    count = np.zeros((HEIGHT, WIDTH), int)
    for i in range(len(corners)):
        mask, _ = covered(np.array([middle, corners[i], corners[(i + 1) % len(corners)]]))
        count += mask
    assert count.max() <= 1
    # Inside: to the same side of every rim edge (the polygon is star-shaped round the middle).
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    inside = np.zeros((HEIGHT, WIDTH), bool)
    for i in range(len(corners)):
        a, b = corners[i], corners[(i + 1) % len(corners)]
        signs = [(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) for p, q in ((middle, a), (a, b), (b, middle))]
        inside |= (np.array(signs) > 1e-6).all(axis=0)
    near_middle = np.hypot(x - middle[0], y - middle[1]) < 0
    for i in range(len(corners)):  # pixels on a spoke belong to one of its two triangles
        a = corners[i]
        cross = (a[0] - middle[0]) * (y - middle[1]) - (a[1] - middle[1]) * (x - middle[0])
        along = ((x - middle[0]) * (a[0] - middle[0]) + (y - middle[1]) * (a[1] - middle[1])) / (
            (a - middle) ** 2
        ).sum()
        near_middle |= (np.abs(cross) <= 1e-6) & (along > 1e-6) & (along < 1 - 1e-6)
    assert (count[inside | near_middle] == 1).all()


def test_one_over_depth_is_linear_on_the_screen() -> None:
    mask, inverse = covered(np.array([[2.0, 3], [44, 5], [10, 37]]), (0.1, 0.5, 0.02))
    y, x = np.nonzero(mask)
    plane = np.linalg.solve(np.array([[2.0, 3, 1], [44, 5, 1], [10, 37, 1]]), [0.1, 0.5, 0.02])

    np.testing.assert_allclose(
        inverse[y, x], np.stack([x + 0.5, y + 0.5, np.ones(len(x))], axis=1) @ plane, rtol=1e-5, atol=1e-7
    )


def test_the_nearer_triangle_wins_in_any_order() -> None:
    near, far = (1.0, 1.0, 1.0), (0.5, 0.5, 0.5)
    (ax, ay), (bx, by), (cx, cy) = (1.0, 1.0), (40.0, 1.0), (1.0, 35.0)
    for order in ((0, 1), (1, 0)):
        keys = np.zeros(WIDTH * HEIGHT, np.int64)
        for number in order:
            w = (near, far)[number]
            fill(keys, WIDTH, HEIGHT, ax, ay, w[0], bx, by, w[1], cx, cy, w[2], number)
        assert set(np.unique((keys[keys > 0] & 0xFFFFFFFF) >> 1)) == {0}


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-40, 90), st.floats(-30, 70)), min_size=3, max_size=3, unique=True),
    st.tuples(st.floats(1e-4, 20), st.floats(1e-4, 20), st.floats(1e-4, 20)),
    st.integers(0, 2**31),
)
def test_a_pixel_keeps_the_greater_key(
    corners: list[tuple[float, float]], w: tuple[float, float, float], seed: int
) -> None:
    """What is there stays unless the triangle's key is greater as an integer, and beyond the triangle always."""
    (ax, ay), (bx, by), (cx, cy) = corners
    alone = np.zeros(WIDTH * HEIGHT, np.int64)
    number = 2**30 - 1  # the lower half's highest bits count as well
    fill(alone, WIDTH, HEIGHT, ax, ay, w[0], bx, by, w[1], cx, cy, w[2], number)
    rng = np.random.default_rng(seed)
    inverse = rng.uniform(1e-4, 20, len(alone)).astype(np.float32).view(np.int32).astype(np.int64)
    before = (inverse << 32) | rng.integers(0, 2**31, len(alone))
    before[rng.random(len(alone)) < 0.2] = 0  # sky
    same = rng.random(len(alone)) < 0.2  # as near, by a triangle one before, or after, or by this one
    before[same] = np.where(alone[same] > 0, alone[same] + rng.integers(-1, 2, same.sum()), before[same])
    keys = before.copy()
    fill(keys, WIDTH, HEIGHT, ax, ay, w[0], bx, by, w[1], cx, cy, w[2], number)

    np.testing.assert_array_equal(keys, np.maximum(before, alone))


def test_depth_goes_along_a_span_in_single_precision() -> None:
    """1 / depth is that of the span's first pixel plus its slope times the columns since, each rounded to float32."""
    (x0, y0, w0), (x1, y1, w1), (x2, y2, w2) = (1.2, 1.1, 0.013), (46.3, 2.7, 0.31), (3.9, 38.6, 0.0712)
    keys = np.zeros(WIDTH * HEIGHT, np.int64)
    fill(keys, WIDTH, HEIGHT, x0, y0, w0, x1, y1, w1, x2, y2, w2, 3)
    per_area = 1.0 / ((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0))
    slope_x = ((w1 - w0) * (y2 - y0) - (w2 - w0) * (y1 - y0)) * per_area
    slope_y = ((x1 - x0) * (w2 - w0) - (x2 - x0) * (w1 - w0)) * per_area
    base = w0 - slope_x * (x0 - 0.5) - slope_y * y0
    lengths = set()
    for y, row in enumerate(keys.reshape(HEIGHT, WIDTH)):
        columns = np.flatnonzero(row)
        if len(columns):
            first = np.float32(base + slope_x * columns[0] + slope_y * (y + 0.5))
            expected = first + np.float32(slope_x) * (columns - columns[0]).astype(np.float32)
            np.testing.assert_array_equal((row[columns] >> 32).astype(np.int32).view(np.float32), expected)
            assert set(row[columns] & 0xFFFFFFFF) == {7}
            lengths.add(len(columns))
    assert {length % 8 for length in lengths} == set(range(8))
