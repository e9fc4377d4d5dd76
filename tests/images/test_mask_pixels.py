"""Runs of masks and their statistics, against numpy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from uavsim.images import codec, mask_pixels

SHAPE = (7, 11)
ID = st.sampled_from([0, 0, 1, 2, 300, 65535])
TAG = st.sampled_from([1, 14, 255])


@st.composite
def masks(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw (H, W) ids and tags: independent pixels, or runs."""
    if draw(st.booleans()):
        return draw(arrays.arrays(np.uint16, SHAPE, elements=ID)), draw(arrays.arrays(np.uint8, SHAPE, elements=TAG))
    ids, tags = np.zeros(SHAPE, np.uint16), np.ones(SHAPE, np.uint8)
    for pixels, value in ((ids, ID), (tags, TAG)):
        for _ in range(draw(st.integers(0, 8))):
            begin = draw(st.integers(0, pixels.size - 1))
            pixels.reshape(-1)[begin : begin + draw(st.integers(1, 40))] = draw(value)
    return ids, tags


ALL = np.ones(256, np.bool_)
VEHICLES = np.isin(np.arange(256), [14, 255])
COUNTED = st.sampled_from([VEHICLES, *(np.isin(np.arange(256), some) for some in ([14], [0, 13], [13, 127], []))])


def rows_of(numbers: list[int]) -> np.ndarray:
    """Return the (65536,) row of each id, in reverse order of the numbers; -1 for other ids."""
    row_of_id = np.full(65536, -1, np.int32)
    row_of_id[numbers] = np.arange(len(numbers))[::-1]
    return row_of_id


@given(masks())
def test_extents(mask: tuple[np.ndarray, np.ndarray]):
    ids, tags = mask
    numbers = [1, 300, 65535, 7]  # one that is never there, and 2 has no row
    measured = mask_pixels.extents_by_row(mask_pixels.runs_in(ids, tags, ALL), rows_of(numbers), len(numbers))
    for number, row in zip(numbers, measured[::-1].tolist(), strict=True):
        lines, columns = np.nonzero(ids == number)
        expected = (
            [len(lines), columns.min(), lines.min(), columns.max() + 1, lines.max() + 1] if len(lines) else [0] * 5
        )
        assert row == expected


@given(masks(), COUNTED)
def test_moments(mask: tuple[np.ndarray, np.ndarray], counts: np.ndarray):
    ids, tags = mask
    found, sums = mask_pixels.moments(mask_pixels.runs_in(ids, tags, counts))
    counted = counts[tags]
    assert found.tolist() == np.unique(ids[counted]).tolist()
    for number, row in zip(found.tolist(), sums.tolist(), strict=True):
        v, u = np.nonzero(counted & (ids == number))
        bounds = [u.min(), v.min(), u.max() + 1, v.max() + 1]
        assert row == [len(u), u.sum(), v.sum(), (u * u).sum(), (v * v).sum(), tags[v, u].astype(int).sum(), *bounds]


def test_mask_without_counted_pixels():
    runs = mask_pixels.runs_in(np.zeros(SHAPE, np.uint16), np.zeros(SHAPE, np.uint8), VEHICLES)
    assert not mask_pixels.extents_by_row(runs, rows_of([5]), 1).any()
    assert [len(found) for found in mask_pixels.moments(runs)] == [0, 0]


@given(masks(), COUNTED)
def test_runs_hold_counted_pixels_and_end_at_changes(mask: tuple[np.ndarray, np.ndarray], counted: np.ndarray):
    ids, tags = mask
    runs = mask_pixels.runs_in(ids, tags, counted)
    np.testing.assert_array_equal(mask_pixels.filled(runs, ids.shape), np.where(counted[tags], ids, 0))
    covered = np.zeros(ids.shape, int)
    for line, start, stop, number, tag in runs.tolist():
        covered[line, start:stop] += 1
        assert (ids[line, start:stop] == number).all()
        assert (tags[line, start:stop] == tag).all()
    np.testing.assert_array_equal(covered, counted[tags])
    changes = (ids[:, 1:] != ids[:, :-1]) | (tags[:, 1:] != tags[:, :-1]) | ~counted[tags[:, :-1]]
    assert len(runs) == counted[tags[:, 0]].sum() + (changes & counted[tags[:, 1:]]).sum()


def test_run_buffer_grows():
    ids = np.arange(1200, dtype=np.uint16).reshape(20, 60)
    found, sums = mask_pixels.moments(mask_pixels.runs_in(ids, np.full(ids.shape, 14, np.uint8), VEHICLES))
    assert found.tolist() == list(range(1200))
    assert sums[699].tolist() == [1, 39, 11, 39 * 39, 11 * 11, 14, 39, 11, 40, 12]


@given(arrays.arrays(np.uint16, (7, 9)), arrays.arrays(np.uint8, (7, 9)))
def test_encode_equals_codec(ids: np.ndarray, tags: np.ndarray):
    for level in (0, 1, 2):
        assert mask_pixels.encode(ids, tags, level=level) == codec.encode_mask_ids(ids, tags, level=level)


@given(arrays.arrays(np.uint8, (5, 6, 4)))
def test_split_decodes_carlas_instance_encoding(bgra: np.ndarray):
    """Contiguous pixels, three channels, and strided pixels are decoded."""
    blue, green, red, _ = np.moveaxis(bgra, 2, 0).astype(int)
    for pixels, part in ((bgra, np.s_[:]), (bgra[..., :3], np.s_[:]), (bgra[:, ::2], np.s_[:, ::2])):
        runs, tags = mask_pixels.split(pixels, ALL)
        np.testing.assert_array_equal(mask_pixels.filled(runs, tags.shape), (256 * blue + green)[part])
        np.testing.assert_array_equal(tags, red[part])


@given(arrays.arrays(np.uint16, (7, 9)), arrays.arrays(np.uint8, (7, 9)))
def test_decode_equals_codec(ids: np.ndarray, tags: np.ndarray):
    encoded = codec.encode_mask_ids(ids, tags)
    for data in (encoded, codec.encode_mask_ids(ids, tags, level=5)):
        found = mask_pixels.decode(data)
        np.testing.assert_array_equal(found[0], ids)
        np.testing.assert_array_equal(found[1], tags)


@given(masks(), st.integers(0, 2**32 - 1))
def test_without_nearer_removes_contradicted_pixels(mask: tuple[np.ndarray, np.ndarray], seed: int):
    ids, tags = mask
    depth_m = np.random.default_rng(seed).integers(0, 4, ids.shape).astype(np.float32)
    least_m = np.full(65536, -np.inf)
    least_m[[1, 300, 65535]] = [1.0, 2.0, 3.0]
    gone = np.isin(tags, [14, 255]) & (depth_m < least_m[ids])
    runs, left = mask_pixels.without_nearer(mask_pixels.runs_in(ids, tags, VEHICLES), tags, depth_m, least_m)
    np.testing.assert_array_equal(left, np.where(gone, 0, tags))
    counted = VEHICLES[tags] & ~gone
    np.testing.assert_array_equal(mask_pixels.filled(runs, ids.shape), np.where(counted, ids, 0))
    assert (left is tags) == (not gone.any())
