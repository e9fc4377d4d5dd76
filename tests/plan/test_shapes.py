import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uavsim.config.formation import Shape
from uavsim.plan.shapes import SHAPES, offsets
from uavsim.typing import FloatArray

NAMED = sorted(set(SHAPES) - {"free"})


def places(shape, drones, **more) -> FloatArray:
    return offsets(Shape(shape=shape, spacing_m=20.0, **more), drones=drones)


def pairwise(points):
    first, second = np.triu_indices(len(points), k=1)
    return np.linalg.norm(points[first] - points[second], axis=1)


def test_uav3ds_cross():
    front, left = [20, 0, 0], [0, 20, 0]
    np.testing.assert_array_equal(places("cross", 5), [[0, 0, 0], front, [-20, 0, 0], left, [0, -20, 0]])
    np.testing.assert_array_equal(places("cross", 6)[5], [40, 0, 0])


def test_vee_falls_back_on_both_sides():
    vee = places("vee", 3, angle_deg=30.0)
    np.testing.assert_allclose(vee, [[0.0, 0, 0], [-17.32050808, 10, 0], [-17.32050808, -10, 0]])


def test_line_column_grid_and_free():
    np.testing.assert_array_equal(places("line", 3), [[0, 0, 0], [0, 20, 0], [0, -20, 0]])
    np.testing.assert_array_equal(places("column", 3), [[0, 0, 0], [-20, 0, 0], [-40, 0, 0]])
    grid = places("grid", 9)
    np.testing.assert_array_equal(grid[0], [0, 0, 0])
    assert {tuple(p) for p in grid.tolist()} == {(x, y, 0) for x in (-20, 0, 20) for y in (-20, 0, 20)}
    np.testing.assert_allclose(np.ptp(places("grid", 6, columns=3), axis=0), [20, 40, 0])
    free = offsets(Shape(shape="free", offsets_m=((1, 2, 3), (4, 5, 6))), drones=2)
    np.testing.assert_array_equal(free, [[1, 2, 3], [4, 5, 6]])


def test_circle_and_diamond_worked_on_paper():
    square = places("circle", 4)  # neighbours 20 m apart: radius 10 sqrt 2
    np.testing.assert_allclose(
        square, np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]) * 14.14213562, atol=1e-8
    )
    diamond = places("diamond", 8)  # sides of 40 m, a drone in each middle
    np.testing.assert_allclose(diamond[0], [28.28427125, 0, 0])
    np.testing.assert_allclose(diamond[1], [14.14213562, 14.14213562, 0])


@pytest.mark.parametrize("shape", NAMED)
@given(drones=st.integers(1, 32), spacing=st.floats(1, 100))
def test_laws_of_every_shape(shape, drones, spacing):
    small = offsets(Shape(shape=shape, spacing_m=spacing), drones=drones)
    large = offsets(Shape(shape=shape, spacing_m=2 * spacing), drones=drones)
    assert small.shape == (drones, 3)
    np.testing.assert_allclose(large, 2 * small, atol=1e-9)
    assert (small[:, 2] == 0).all()
    if drones > 1:
        nearest = pairwise(small).min()
        assert nearest <= spacing * 2**0.5 + 1e-6
        assert nearest >= spacing * (0.7 if shape == "diamond" else 1.0) - 1e-6
    else:
        np.testing.assert_array_equal(small, np.zeros((1, 3)))
