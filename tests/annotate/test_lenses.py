"""Boxes in images with lens distortion, against every pixel's own ray and against densely projected edges."""

from dataclasses import replace

import numpy as np
import pytest

from uavsim.annotate.kernels import most_in_front
from uavsim.annotate.reach import reach_of_rows, reaches
from uavsim.annotate.solids import CameraImages, PlacedCamera, Solids
from uavsim.annotate.visibility import measure_view
from uavsim.geometry import cuboid
from uavsim.geometry.lens import Lens
from uavsim.geometry.se3 import SE3
from uavsim.records.sensors import CameraParams
from uavsim.typing import BoolArray, FloatArray

SIZE = (120, 80)
BROWN = Lens("brown_conrady", (-0.28, 0.07, 0.002, -0.001, 0.0), (60.0, 60.0), (60.0, 40.0), SIZE)
FISHEYE = Lens("equidistant", (-0.01, 0.002, -0.001, 0.0002), (60.0, 60.0), (60.0, 40.0), SIZE)
both = pytest.mark.parametrize("lens", [BROWN, FISHEYE], ids=["brown", "fisheye"])
DOWN = np.array([0.0, 1.0, 0.0, 0.0])
COUNT = 40


def camera(lens: Lens) -> PlacedCamera:
    return PlacedCamera.of(SE3(DOWN, np.array([0.0, 0.0, 10.0])), CameraParams(*SIZE, 90.0, lens))


def boxes(seed: int) -> Solids:
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(COUNT, 4))
    poses = SE3(
        turns / np.linalg.norm(turns, axis=1, keepdims=True), rng.uniform([-14, -10, -3], [14, 10, 4], (COUNT, 3))
    )
    return Solids.of(poses, rng.uniform(0.2, 2.0, (COUNT, 3)))


@both
def test_no_box_reaches_into_the_image(lens: Lens) -> None:
    """All boxes are above the camera, which looks down."""
    above = boxes(1)
    above = Solids.of(
        SE3(above.map_SE3_box.quat_wxyz, above.map_SE3_box.translation_m + [0.0, 0.0, 50.0]), above.half_m
    )
    (reach,) = reaches(above, [camera(lens)])
    assert reach.bounds_px.shape == (0, 4)


def enters_m(solids: Solids, eye: PlacedCamera, rays: FloatArray) -> FloatArray:
    """Return (N, H, W) depths at which (H, W, 3) rays enter the boxes, infinity where they do not."""
    away = eye.map_SE3_optical.rotate(rays)
    start = solids.map_SE3_box.apply_inverse(eye.map_SE3_optical.translation_m)[:, None, None]
    way = np.einsum("nij,hwj->nhwi", solids.box_R_map, away)
    half = solids.half_m[:, None, None]
    one, other = (-half - start) / way, (half - start) / way
    near, far = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
    return np.where((near <= far) & (far > 0), near, np.inf)


def pixel_rays(lens: Lens) -> FloatArray:
    v, u = np.indices(SIZE[::-1]) + 0.5
    return lens.rays(np.stack([u, v], axis=-1))


def sure(solids: Solids, eye: PlacedCamera, rays: FloatArray) -> tuple[BoolArray, BoolArray]:
    """Return (N, H, W) bool, whether rays meet the boxes, and whether they meet boxes reduced by float32 rounding."""
    less = Solids.of(solids.map_SE3_box, solids.half_m - 1e-4)
    return np.isfinite(enters_m(solids, eye, rays)), np.isfinite(enters_m(less, eye, rays))


@both
@pytest.mark.parametrize("seed", range(4))
def test_silhouette_pixels_are_those_whose_bent_rays_hit(lens: Lens, seed: int) -> None:
    solids, eye = boxes(seed), camera(lens)
    view = measure_view(
        solids,
        np.arange(1, COUNT + 1),
        eye,
        CameraImages(np.zeros(SIZE[::-1], np.uint16), np.ones(SIZE[::-1], np.uint8)),
    )
    most, least = (met.sum(axis=(1, 2)) for met in sure(solids, eye, pixel_rays(lens)))
    counted = np.zeros(COUNT, np.int64)
    counted[view.row] = view.silhouette_px
    assert (counted <= most).all()
    assert (counted >= least).all()
    assert (counted > 0).sum() > 10


@both
def test_nearer_objects_and_depth_are_blockers(lens: Lens) -> None:
    """The left half shows a nearer object, by its box or by depth; exactly its pixels are hidden."""
    solids, eye = boxes(5), camera(lens)
    ids, depth_m = np.zeros(SIZE[::-1], np.uint16), np.full(SIZE[::-1], 100.0, np.float32)
    away_m = np.linalg.norm(solids.map_SE3_box.translation_m - [0, 0, 10.0], axis=1)
    nearest = int(away_m.argmin())
    ids[:, :60], depth_m[:, :60] = nearest + 1, 0.5
    met = np.isfinite(enters_m(solids, eye, pixel_rays(lens)))
    left = met[:, :, :60].sum(axis=(1, 2))
    for depth in (None, depth_m):
        view = measure_view(solids, np.arange(1, COUNT + 1), eye, CameraImages(ids, np.ones_like(ids, np.uint8), depth))
        others = view.row != nearest
        assert np.abs(view.blockers_px - left[view.row])[others].max() <= 1
        assert view.blockers_px[others].max() > 20
    rows = np.flatnonzero(np.arange(COUNT) != nearest)
    by_id = np.full(65536, -1.0)
    by_id[1 : COUNT + 1] = away_m
    bounds, rays = reach_of_rows(solids, rows, eye)
    window = np.clip(np.concatenate([np.floor(bounds[:, :2]), np.ceil(bounds[:, 2:])], axis=1), 0, [*SIZE, *SIZE])
    who, pixels = most_in_front(rays, window.astype(np.int64), ids, rows + 1, by_id, eye.pinhole_px)
    assert np.abs(pixels - left[rows]).max() <= 1
    assert (who[pixels > 0] == nearest + 1).all()


@both
def test_bounds_hold_bent_edges(lens: Lens) -> None:
    """Long beams across the image bulge by several pixels between their ends."""
    ends = [((0.0, 5.5, 0.0), (11.0, 0.1, 0.1)), ((9.0, 0.0, 0.0), (0.1, 7.0, 0.1)), ((0.0, 0.0, 2.0), (6.0, 6.0, 0.5))]
    eye = camera(lens)
    solids = Solids.of(
        SE3(np.tile([1.0, 0, 0, 0], (3, 1)), np.array([at for at, _ in ends])), np.array([h for _, h in ends])
    )
    found = reaches(solids, [eye])[0]
    corners = eye.map_SE3_optical.apply_inverse(cuboid.corners(solids.map_SE3_box, size_lwh_m=2 * solids.half_m))
    along = np.linspace(0.0, 1.0, 2001)[:, None, None, None]
    dense = [lens.project((c[:, None] * along + c * (1 - along)).reshape(-1, 3), beyond=True) for c in corners]
    expected_px = np.array([[*pixels.min(axis=0), *pixels.max(axis=0)] for pixels in dense])
    np.testing.assert_allclose(found.bounds_px, expected_px, atol=0.05)
    straight = np.array([[*p.min(axis=0), *p.max(axis=0)] for p in (lens.project(c, beyond=True) for c in corners)])
    assert np.abs(straight - expected_px).max() > 1.5


@pytest.mark.parametrize("lens", [BROWN, replace(FISHEYE, focal_px=(75.0, 75.0))], ids=["brown", "fisheye"])
def test_truncation_counts_the_pixels_of_the_lens(lens: Lens) -> None:
    """A plate extends beyond the image's right side; its pixels are counted in a wider image of the same lens."""
    more = replace(lens, size_px=(140, 80))
    plate = Solids.of(SE3(np.array([[1.0, 0, 0, 0]]), np.array([[11.5, 0.0, 0.0]])), np.array([[4.0, 3.0, 0.01]]))
    nothing = [CameraImages(np.zeros((80, width), np.uint16), np.ones((80, width), np.uint8)) for width in (120, 140)]
    eye = camera(lens)
    wide = PlacedCamera.of(eye.map_SE3_optical, CameraParams(140, 80, 90.0, more))
    cut_view, full_view = (
        measure_view(plate, np.array([1]), c, image) for c, image in zip((eye, wide), nothing, strict=True)
    )
    assert full_view.truncation[0] == 0.0
    share = 1 - int(cut_view.silhouette_px[0]) / int(full_view.silhouette_px[0])
    assert 0.2 < share < 0.8
    assert cut_view.truncation[0] == pytest.approx(share, abs=0.03)


def test_cameras_with_and_without_lenses_together() -> None:
    solids = boxes(7)
    eyes = [
        camera(BROWN),
        PlacedCamera.of(SE3(DOWN, np.array([0.0, 0.0, 10.0])), CameraParams(*SIZE, 90.0)),
        camera(FISHEYE),
    ]
    for alone, among in zip([reaches(solids, [eye])[0] for eye in eyes], reaches(solids, eyes), strict=True):
        np.testing.assert_array_equal(alone.row, among.row)
        np.testing.assert_allclose(alone.bounds_px, among.bounds_px, atol=1e-3)  # of float32 rays, some 100 pixels
        np.testing.assert_allclose(alone.rays, among.rays, atol=1e-5)  # float32, of numbers up to 80
