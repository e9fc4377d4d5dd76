import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from tests.geometry.strategies import quaternions, vectors_m
from uavsim.geometry import cuboid, quaternion
from uavsim.geometry.se3 import SE3

sizes_m = npst.arrays(np.float64, (3,), elements=st.floats(0.1, 20))


def areas(polygons):
    """Return the signed areas of (..., K, 2) polygons, positive counter-clockwise."""
    x, y = polygons[..., 0], polygons[..., 1]
    return 0.5 * np.sum(x * np.roll(y, -1, axis=-1) - np.roll(x, -1, axis=-1) * y, axis=-1)


def test_corners_of_a_turned_box_worked_on_paper():
    # 4 long, 2 wide, 1 high, nose to +y: length lies along y
    corners = cuboid.corners(
        SE3(quaternion.from_yaw(np.pi / 2), np.array([10.0, 20.0, 0.5])), size_lwh_m=np.array([4.0, 2.0, 1.0])
    )
    np.testing.assert_allclose(corners[0], [9, 22, 1], atol=1e-12)  # front left top
    np.testing.assert_allclose(corners[1], [11, 22, 1], atol=1e-12)  # front right top
    np.testing.assert_allclose(corners[2], [11, 22, 0], atol=1e-12)  # front right bottom
    np.testing.assert_allclose(corners[7], [9, 18, 0], atol=1e-12)  # back left bottom


def test_corners_are_in_the_devkits_order():
    # Box.corners of nuscenes-devkit 1.2.0, written out
    length, w, h = 4.0, 2.0, 1.0
    x = length / 2 * np.array([1, 1, 1, 1, -1, -1, -1, -1])
    y = w / 2 * np.array([1, -1, -1, 1, 1, -1, -1, 1])
    z = h / 2 * np.array([1, 1, -1, -1, 1, 1, -1, -1])
    corners = cuboid.corners(SE3.identity(), size_lwh_m=np.array([length, w, h]))
    np.testing.assert_array_equal(corners, np.stack([x, y, z], axis=1))


@given(vectors_m, quaternions, sizes_m)
def test_corner_distances(centre, q, size):
    corners = cuboid.corners(SE3.from_quat_wxyz(q, centre), size_lwh_m=size)
    np.testing.assert_allclose(corners.mean(axis=0), centre, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(corners - centre, axis=1), np.linalg.norm(size) / 2, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(corners[0] - corners[4]), size[0], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(corners[0] - corners[1]), size[1], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(corners[0] - corners[3]), size[2], atol=1e-9)


def test_many_boxes_at_once():
    q = quaternion.from_yaw(np.linspace(0, 3, 6))
    centres = np.arange(18.0).reshape(6, 3)
    sizes = np.tile([4.0, 2.0, 1.0], (6, 1))
    together = cuboid.corners(SE3(q, centres), size_lwh_m=sizes)
    one = cuboid.corners(SE3(q[4], centres[4]), size_lwh_m=sizes[4])
    assert together.shape == (6, 8, 3)
    np.testing.assert_allclose(together[4], one, rtol=1e-14)  # some ten roundings


def test_width_length_height_to_length_width_height():
    np.testing.assert_array_equal(cuboid.lwh_from_wlh(np.array([[2.0, 4.0, 1.0]])), [[4, 2, 1]])


def test_visibility_by_the_devkits_rule():
    px = np.full((5, 8, 2), 100.0)
    deep = np.full((5, 8, 3), 5.0)
    px[1, :7] = -50.0  # one corner inside is enough
    px[2] = -50.0
    deep[3, 0, 2] = 0.05  # a corner at the lens
    deep[4, :, 2] = 0.9  # all nearer than 1 m
    visible = cuboid.boxes_in_image(deep, px, width_px=800, height_px=450)
    assert visible.tolist() == [True, True, False, False, False]


def test_hull_worked_on_paper():
    square_and_inside = np.array([[0.0, 0], [2, 0], [1, 1], [2, 2], [0, 2], [1, 0], [0.5, 1.5], [2, 2]])
    hull = cuboid.convex_hulls(square_and_inside)
    np.testing.assert_array_equal(hull[:4], [[0, 0], [2, 0], [2, 2], [0, 2]])
    np.testing.assert_array_equal(hull[4:], np.tile([0.0, 2.0], (4, 1)))
    assert areas(hull) == 4.0


@given(npst.arrays(np.float64, (5, 8, 2), elements=st.floats(-1000, 1000)))
def test_hull_laws(points):
    hulls = cuboid.convex_hulls(points)
    edge = np.roll(hulls, -1, axis=1) - hulls
    to_point = points[:, None] - hulls[:, :, None]
    side = edge[:, :, None, 0] * to_point[..., 1] - edge[:, :, None, 1] * to_point[..., 0]
    assert (side >= -1e-4).all()  # every point is left of every edge
    assert (areas(hulls) >= -1e-6).all()


def test_hull_keeps_a_corner_close_to_the_first():
    points = np.zeros((8, 2))
    points[:2] = [[0.0, 1e-7], [839.0, 0.0]]
    hull = cuboid.convex_hulls(points)
    np.testing.assert_array_equal(hull[:3], [[0, 0], [839, 0], [0, 1e-7]])
    np.testing.assert_array_equal(hull[3:], np.tile([0.0, 1e-7], (5, 1)))


def test_hull_whose_first_corner_rounds_onto_an_edge_closes_once():
    points = np.zeros((8, 2))
    points[:3] = [[1e-308, -1.0], [1.0, 0.0], [0.0, 1.0]]  # and (0, 0), the least x and y
    hull = cuboid.convex_hulls(points)
    np.testing.assert_allclose(hull[:4], [[0, 0], [0, -1], [1, 0], [0, 1]], atol=1e-300)
    np.testing.assert_array_equal(hull[4:], np.tile([0.0, 1.0], (4, 1)))
    assert areas(hull) == 1.0


def test_hull_of_nan_and_of_one_point():
    sets = np.ones((2, 8, 2))
    sets[1, 3, 0] = np.nan
    hulls = cuboid.convex_hulls(sets)
    np.testing.assert_array_equal(hulls[0], np.ones((8, 2)))
    assert np.isnan(hulls[1]).all()


def test_footprint_of_a_flat_and_of_a_tilted_box():
    size = np.array([[4.0, 2.0, 1.0], [4.0, 2.0, 1.0]])
    on_its_nose = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 2)
    q = np.stack([quaternion.from_yaw(0.3), on_its_nose])
    footprints = cuboid.footprints(SE3(q, np.zeros(3)), size_lwh_m=size)
    np.testing.assert_allclose(areas(footprints), [8.0, 2.0])
