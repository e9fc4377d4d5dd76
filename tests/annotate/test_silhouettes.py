from dataclasses import replace

import numpy as np
import pytest

from uavsim.annotate.kernels import share_outside
from uavsim.annotate.silhouettes import outline_px, rays_in_boxes, rays_of_cameras
from uavsim.annotate.solids import CameraImages, PlacedCamera, Solids
from uavsim.annotate.visibility import measure_view
from uavsim.geometry.se3 import SE3

LOOKING_DOWN = np.array([0.0, 1.0, 0.0, 0.0])  # half a turn about x: optical z points down, y to minus y
UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


def camera(at=(0.0, 0.0, 10.0), q=LOOKING_DOWN) -> PlacedCamera:
    return PlacedCamera(
        SE3(np.array(q), np.array(at)), np.array([[100.0, 0, 50], [0, 100.0, 40], [0, 0, 1.0]]), 100, 80
    )


def box(at, half) -> Solids:
    return Solids.of(SE3(UNTURNED, np.array([at], float)), np.array([half], float))


def outline(solids: Solids, eye: PlacedCamera) -> tuple[np.ndarray, np.ndarray]:
    return outline_px(solids, eye.map_SE3_optical, eye.intrinsic)


def outside(solids: Solids, window: list[int], stride: int) -> float:
    rays = rays_in_boxes(solids, camera())
    return share_outside(rays, np.array([window]), np.array([stride]), np.array([[100, 80]]))[0]


def test_silhouette_of_a_plate_below_the_camera() -> None:
    plate = box((1.0, 0.5, 0.0), (1.0, 0.5, 1e-9))  # 10 m below: 10 px a metre; x 0..2 -> u 50..70, y 0..1 -> v 30..40
    bounds, in_front = outline(plate, camera())
    np.testing.assert_allclose(bounds, [[50, 30, 70, 40]], atol=1e-6)
    assert in_front.all()
    nothing = CameraImages(np.zeros((80, 100), np.uint16), np.ones((80, 100), np.uint8))
    assert measure_view(plate, np.array([1]), camera(), nothing).silhouette_px.tolist() == [20 * 10]


def test_share_outside_equals_the_pixel_count() -> None:
    plate = box((4.0, 0.0, 0.0), (2.0, 2.0, 1e-9))  # u 70..110, of which 100..110 are outside
    for stride in (1, 2, 5):
        assert outside(plate, [60, 10, 120, 70], stride) == pytest.approx(0.25)
    assert outside(plate, [60, 10, 100, 70], 1) == 0.0
    assert outside(plate, [0, 0, 20, 20], 1) == 1.0  # no ray meets it there


@pytest.mark.parametrize("seed", range(20))
def test_silhouette_pixels_are_those_whose_rays_hit(seed: int) -> None:
    """Each pixel is checked separately in double precision."""
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(30, 4))
    poses = SE3(turns / np.linalg.norm(turns, axis=1, keepdims=True), rng.uniform(-6, 6, (30, 3)))
    solids = Solids.of(poses, rng.uniform(0.05, 3.0, (30, 3)))
    nothing = CameraImages(np.zeros((80, 100), np.uint16), np.ones((80, 100), np.uint8))
    view = measure_view(solids, np.arange(1, 31), camera(), nothing)

    u, v = np.meshgrid(np.arange(100) + 0.5, np.arange(80) + 0.5)
    rays = rays_in_boxes(solids, camera())[:, :, None, None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / (rays[:, 3] + rays[:, 1] * u[..., None] + rays[:, 2] * v[..., None])
    middle, half = -rays[:, 0] * inverse, rays[:, 4] * np.abs(inverse)
    near, far = (middle - half).max(axis=-1), (middle + half).min(axis=-1)
    through = ((near <= far) & (far > 0)).sum(axis=(1, 2))
    assert view.row.tolist() == np.flatnonzero(through).tolist()
    assert view.silhouette_px.tolist() == through[through > 0].tolist()


def test_box_through_the_camera_plane_is_clipped() -> None:
    level = camera(at=(0.0, 0.0, 2.0), q=(0.5, -0.5, 0.5, -0.5))  # looks along +x
    long_road = box((0.0, 0.0, 0.0), (50.0, 3.0, 0.5))  # from behind to 50 m ahead, below
    bounds, in_front = outline(long_road, level)
    assert in_front.all()
    assert np.isfinite(bounds).all()
    assert bounds[0, 1] == pytest.approx(40 + 100 * 1.5 / 50)  # its far upper edge, 1.5 m below the eye at 50 m
    assert bounds[0, 3] > 1000
    behind = outline(box((-50.0, 0.0, 0.0), (10.0, 3.0, 0.5)), level)[1]
    assert not behind.any()


def test_truncation_is_the_share_outside() -> None:
    ids, tags = np.zeros((80, 100), np.uint16), np.ones((80, 100), np.uint8)
    half_out = box((5.0, 0.0, 0.0), (1.0, 1.0, 1e-9))  # x 4..6 m -> u 90..110, of 100
    view = measure_view(half_out, np.array([7]), camera(), CameraImages(ids, tags))
    assert view.truncation[0] == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(view.amodal_box_px, [[90, 30, 100, 50]], atol=1e-6)
    assert view.silhouette_px[0] == 10 * 20
    assert view.blockers_px[0] == 0  # road does not hide


def test_blockers_by_distance_tag_and_depth() -> None:
    ids, tags = np.zeros((80, 100), np.uint16), np.ones((80, 100), np.uint8)
    low, high = box((0, 0, 0.0), (1, 1, 0.1)), box((0, 0, 5.0), (0.2, 0.2, 0.1))
    both = Solids.of(SE3.concatenate([low.map_SE3_box, high.map_SE3_box]), np.concatenate([low.half_m, high.half_m]))
    ids[30:50, 40:60], tags[30:50, 40:60] = 1, 14
    ids[36:44, 46:54] = 2
    view = measure_view(both, np.array([1, 2]), camera(), CameraImages(ids, tags))
    assert view.visible_px.tolist() == [400 - 64, 64]
    assert view.blockers_px.tolist() == [64, 0]  # the lower is no blocker of the higher
    tags[30:50, 40:45], ids[30:50, 40:45] = 9, 0  # a tree's crown may hang over it
    assert measure_view(both, np.array([1, 2]), camera(), CameraImages(ids, tags)).blockers_px[0] == 64 + 100
    tags[30:50, 40:45] = 3  # a wall behind the object: seen from below the camera, the object comes first
    shadow = 3 * 8  # but for the columns in which the higher box hides it
    assert measure_view(both, np.array([1, 2]), camera(), CameraImages(ids, tags)).blockers_px[0] == 64 + shadow
    depth_m = np.full((80, 100), 20.0, np.float32)  # by the depth image, the wall is behind
    assert measure_view(both, np.array([1, 2]), camera(), CameraImages(ids, tags, depth_m)).blockers_px[0] == 0


@pytest.mark.parametrize("seed", range(10))
def test_blockers_of_all_boxes_equal_each_box_alone(seed: int) -> None:
    """A level camera sees boxes in a mask with patches of the boxes, of actors without a box, and of the town."""
    rng, level = np.random.default_rng(seed), camera(at=(0.0, 0.0, 2.0), q=(0.5, -0.5, 0.5, -0.5))
    turns = rng.normal(size=(30, 4))
    poses = SE3(turns / np.linalg.norm(turns, axis=1, keepdims=True), rng.uniform([4, -6, -4], [20, 6, 6], (30, 3)))
    solids, numbers = Solids.of(poses, rng.uniform(0.3, 2.0, (30, 3))), np.arange(11, 41)
    ids, tags = np.zeros((80, 100), np.uint16), rng.choice([1, 3, 9, 24], (80, 100)).astype(np.uint8)
    for number in rng.integers(5, 41, 60):
        at = np.s_[(v := rng.integers(0, 80)) : v + 12, (u := rng.integers(0, 100)) : u + 15]
        ids[at], tags[at] = number, rng.choice([9, 14, 24])

    view = measure_view(solids, numbers, level, CameraImages(ids, tags))

    away_m = np.linalg.norm(poses.translation_m - level.map_SE3_optical.translation_m, axis=1)
    away_of_id = np.full(65536, -np.inf)
    away_of_id[numbers] = away_m
    for row, silhouette, blockers in zip(view.row, view.silhouette_px, view.blockers_px, strict=True):
        nothing = CameraImages(np.zeros_like(ids), np.ones_like(tags))
        nearer = np.where(ids > 0, away_of_id[ids] < away_m[row], np.isin(tags, [3, 9])) & (ids != numbers[row])
        others = np.where(nearer, 3, 1).astype(np.uint8)  # the same without ids
        alone = measure_view(solids.take(np.array([row])), numbers[[row]], level, replace(nothing, tags=others))
        assert silhouette == alone.silhouette_px.sum()
        assert blockers == alone.blockers_px.sum()
    assert view.blockers_px.any()


def test_rays_of_a_batch_equal_each_camera_alone() -> None:
    boxes = Solids.of(
        SE3.stack([SE3(UNTURNED, np.array([x, 0.3, 0.0])) for x in (0.0, 2.0)]), np.array([[1.0, 2, 3]] * 2)
    )
    cameras = [camera(), camera((3.0, -2.0, 25.0)), camera(q=UNTURNED)]
    rays = rays_of_cameras(
        boxes, SE3.stack([c.map_SE3_optical for c in cameras]), np.array([c.intrinsic for c in cameras])
    )
    assert rays.shape == (3, 2, 5, 3)
    for found, one in zip(rays, cameras, strict=True):
        np.testing.assert_allclose(found, rays_in_boxes(boxes, one), atol=4e-6)  # float32, of numbers up to 32
    on_paper = np.array([[0, -0.3, 10], [0.01, 0, 0], [0, -0.01, 0], [-0.5, 0.4, -1], [1, 2, 3]])
    np.testing.assert_allclose(rays[0, 0], on_paper, atol=1e-6)
