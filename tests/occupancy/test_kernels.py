"""Kernels on hand-made inputs: a ray's voxels, majority classes, a carved box."""

import numpy as np

from uavsim.occupancy import kernels

ONE = np.eye(3)


def ray(eye, way, deep: float, *, counts=False):
    out = np.zeros((6, 6, 6), np.uint16 if counts else np.uint64)
    rays = np.array(way, np.float32).reshape(1, 1, 3)
    kernels.trace(
        np.full((1, 1), deep, np.float32), rays, ONE, np.array(eye, float), 1.0, 0.0, out, out.dtype.type(4), counts
    )
    return out


def test_ray_marks_passed_voxels_and_the_last_one():
    out = ray((-2.0, 1.5, 1.5), (1.0, 0.0, 0.0), 4.5)
    assert np.argwhere(out).tolist() == [[0, 1, 1], [1, 1, 1], [2, 1, 1]]
    assert set(np.unique(out)) == {0, 4}


def test_counted_ray_excludes_the_last_voxel():
    assert np.argwhere(ray((-2.0, 1.5, 1.5), (1.0, 0.0, 0.0), 4.5, counts=True)).tolist() == [
        [0, 1, 1],
        [1, 1, 1],
    ]


def test_slanted_ray_marks_the_voxels_of_dense_samples():
    eye, way = np.array([5.9, 0.3, 0.2]), np.array([-1.0, 0.71, 0.53])
    out = ray(eye, way, np.inf)
    steps = eye + np.linspace(0, 8, 100_000)[:, None] * way.astype(np.float32)
    cells = np.floor(steps).astype(int)
    cells = np.unique(cells[((cells >= 0) & (cells < 6)).all(axis=1)], axis=0)
    assert {tuple(c) for c in np.argwhere(out).tolist()} == {tuple(c) for c in cells.tolist()}


def test_ray_outside_the_grid_marks_nothing():
    assert not ray((-2.0, 7.5, 1.5), (1.0, 0.0, 0.0), 9.0).any()
    assert not ray((-2.0, 1.5, 1.5), (-1.0, 0.0, 0.0), 9.0).any()


def test_class_of_most_pixels_wins():
    out, lead = np.full((1, 1, 1), 255, np.uint8), np.zeros((1, 1, 1), np.int32)
    voxels = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], np.int32)
    classes, weights = np.array([3, 5, 5, 3], np.uint8), np.array([4, 3, 3, 1], np.int32)
    kernels.vote(voxels, classes, weights, 0.2, ONE, np.zeros(3), 0.8, out, lead)
    assert out.ravel().tolist() == [5]


def test_cells_that_images_see_through_are_carved():
    """A camera 10 m above a box of 2 m sees its left half, and the ground in place of its right half."""
    depth, ids = np.full((40, 40), 12.0, np.float32), np.zeros((40, 40), np.uint16)
    depth[:, :20], ids[:, :20] = 9.0, 7
    through, surface = np.zeros((2, 2, 2), np.uint32), np.zeros((2, 2, 2), np.uint32)
    down = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]])  # optical x is the box's x, optical z its minus z
    pinhole = np.array([100.0, 100.0, 20.0, 20.0])
    kernels.carve(depth, ids, 7, down, np.array([0.0, 0, 10]), pinhole, np.array([1.0, 1, 0.5]), through, surface)
    assert (through[0] == 0).all()
    assert (through[1] == 1).all()


def test_object_pixels_outside_the_box_mark_only_unknown_voxels():
    depth, ids = np.full((1, 3), 2.5, np.float32), np.array([[9, 9, 4]], np.uint16)
    rays = np.array([[[0, 0, 1], [0.4, 0, 1], [0.8, 0, 1]]], np.float32)  # end in x 0, 1 and 2
    semantics, instance = np.full((4, 1, 4), 255, np.uint8), np.zeros((4, 1, 4), np.uint16)
    semantics[1, 0, 2] = 13  # pavement, known from another image
    numbers = np.zeros(10, np.uint16)
    numbers[9] = 1  # id 4 has no box
    kinds = np.array([255, 4], np.uint8)
    kernels.mark(depth, ids, rays, ONE, np.zeros(3), 1.0, numbers, kinds, semantics, instance)
    assert (semantics[:, 0, 2].tolist(), instance[:, 0, 2].tolist()) == ([4, 13, 255, 255], [1, 0, 0, 0])
