import math

import pytest
import torch
from uavsim_baselines.bev.grid import Grid, inverse, map_T_grid, warp

GRID = Grid(cells=8, cell_m=2.0, heights_m=(0.0,))


def turned(yaw_rad: float, x_m: float = 0.0, y_m: float = 0.0, z_m: float = 0.0) -> torch.Tensor:
    c, s = math.cos(yaw_rad), math.sin(yaw_rad)
    return torch.tensor([[c, -s, 0, x_m], [s, c, 0, y_m], [0, 0, 1, z_m], [0, 0, 0, 1]], dtype=torch.float64)


def test_cells_on_paper() -> None:
    # 8 cells of 2 m reach from -8 to 8 m; the first centre is at -7 m
    assert GRID.centres_m()[0, 0].tolist() == [-7.0, -7.0]
    assert GRID.centres_m()[7, 3].tolist() == [7.0, -1.0]
    assert GRID.to_cells(torch.tensor([7.0, -1.0])).tolist() == [7.0, 3.0]
    assert GRID.to_metres(torch.tensor([7.0, 3.0])).tolist() == [7.0, -1.0]
    assert GRID.holds(torch.tensor([[7.9, -7.9], [8.1, 0.0]])).tolist() == [True, False]


def test_the_grid_follows_place_and_heading_and_nothing_else() -> None:
    tilt = torch.eye(4, dtype=torch.float64)
    c, s = math.cos(0.2), math.sin(0.2)
    tilt[1:3, 1:3] = torch.tensor([[c, -s], [s, c]])
    drone = turned(math.pi / 2, 5.0, -3.0, 60.0) @ tilt
    torch.testing.assert_close(map_T_grid(drone), turned(math.pi / 2, 5.0, -3.0, 0.0))


def test_the_inverse_undoes_a_transform() -> None:
    pose = turned(0.7, 3.0, 4.0, 5.0)
    torch.testing.assert_close(inverse(pose) @ pose, torch.eye(4, dtype=torch.float64))


def test_a_shift_by_whole_cells_moves_features() -> None:
    features = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    # the receiver stands 4 m (two cells) ahead of the sender: what the sender has in row 5 is the receiver's row 3
    warped = warp(features, turned(0.0, 4.0, 0.0)[None], GRID)
    torch.testing.assert_close(warped[:, :, :6], features[:, :, 2:], atol=1e-5, rtol=1e-5)
    assert torch.count_nonzero(warped[:, :, 6:]) == 0


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_turns_by_90_degrees_move_features(quarters: int) -> None:
    features = torch.randn(1, 2, 8, 8, generator=torch.Generator().manual_seed(2))
    sender_T_receiver = turned(quarters * math.pi / 2)
    warped = warp(features, sender_T_receiver[None], GRID)
    # a receiver turned left by 90 degrees: what lies at its (x, y) lies at the sender's (-y, x)
    expected = features
    for _ in range(quarters):
        expected = expected.flip(2).transpose(2, 3)
    torch.testing.assert_close(warped, expected, atol=1e-5, rtol=1e-5)


def test_one_lit_cell_after_a_turn_and_a_shift_on_paper() -> None:
    features = torch.zeros(1, 1, 8, 8)
    features[0, 0, 6, 4] = 1.0  # the sender sees something at x = 5, y = 1
    # the receiver is at (2, 0) of the sender and heads along the sender's y: the thing is 3 m to its right, 1 m ahead
    warped = warp(features, turned(math.pi / 2, 2.0, 0.0)[None], GRID)
    row, column = (int(k) for k in GRID.to_cells(torch.tensor([1.0, -3.0])))
    assert warped[0, 0, row, column] == pytest.approx(1.0, abs=1e-5)
    assert warped.sum() == pytest.approx(1.0, abs=1e-4)


def test_gradients_of_a_warp() -> None:
    grid = Grid(cells=4, cell_m=1.0, heights_m=(0.0,))
    features = torch.randn(1, 2, 4, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: warp(x, turned(0.3, 0.4, -0.2)[None], grid), (features,))
