"""The validator's own rotations, calculated by hand."""

import numpy as np

from uavsim.validate.frames import rotations


def test_quarter_turns_on_paper() -> None:
    half = np.sqrt(0.5)
    about_z, about_x, about_y = rotations(np.array([[half, 0, 0, half], [half, half, 0, 0], [half, 0, half, 0]]))
    np.testing.assert_allclose(about_z @ [1, 0, 0], [0, 1, 0], atol=1e-15)  # forward turns to the left
    np.testing.assert_allclose(about_x @ [0, 1, 0], [0, 0, 1], atol=1e-15)  # left turns up
    np.testing.assert_allclose(about_y @ [0, 0, 1], [1, 0, 0], atol=1e-15)  # up turns forward: nose down


def test_any_rotation_is_proper() -> None:
    wxyz = np.random.default_rng(5).normal(size=(100, 4))
    turned = rotations(wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True))
    np.testing.assert_allclose(np.linalg.det(turned), 1.0, atol=1e-12)
    np.testing.assert_allclose(turned @ turned.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (100, 3, 3)), atol=1e-12)


def test_invalid_quaternion_gives_nan() -> None:
    assert np.isnan(rotations(np.array([[1.0, 0, 0, 0.1], [np.nan, 0, 0, 0], [0.0, 0, 0, 0]]))).all()
