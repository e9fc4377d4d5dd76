import carla
import numpy as np
from headless_simulator.world.pose import angles, apply, compose, rotation, undo
from hypothesis import given
from hypothesis import strategies as st

degrees = st.floats(-180, 180)
metres = st.floats(-1000, 1000)
poses = st.tuples(metres, metres, metres, st.floats(-89, 89), degrees, degrees).map(np.array)


@given(poses)
def test_matrix_equals_that_of_the_client(pose):
    theirs = carla.Transform(carla.Location(*pose[:3]), carla.Rotation(*pose[3:])).get_matrix()

    np.testing.assert_allclose(rotation(*pose[3:]), np.array(theirs)[:3, :3], atol=2e-6)


@given(st.floats(-89, 89), st.floats(-179, 179), st.floats(-179, 179))
def test_angles_undo_rotation(pitch, yaw, roll):
    np.testing.assert_allclose(angles(rotation(pitch, yaw, roll)), (pitch, yaw, roll), atol=1e-6)


@given(poses, poses, st.tuples(metres, metres, metres))
def test_compose_equals_two_transforms(parent, child, point):
    points = np.array([point])

    np.testing.assert_allclose(apply(compose(parent, child), points), apply(parent, apply(child, points)), atol=1e-4)
    np.testing.assert_allclose(undo(parent, apply(parent, points)), points, atol=1e-6)


def test_pose_of_a_roof_camera_on_a_car_that_faces_right():
    car = np.array([10.0, 5.0, 0.0, 0.0, 90.0, 0.0])  # nose along +y
    camera = np.array([1.5, 0.0, 2.4, -15.0, 0.0, 0.0])

    np.testing.assert_allclose(compose(car, camera), [10.0, 6.5, 2.4, -15.0, 90.0, 0.0], atol=1e-9)


def test_straight_down_has_no_roll():
    np.testing.assert_allclose(angles(rotation(-90.0, 30.0, 0.0)), (-90.0, 30.0, 0.0), atol=1e-4)
