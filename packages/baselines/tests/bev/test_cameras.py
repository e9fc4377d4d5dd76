import math

import pytest
import torch
from uavsim_baselines.bev.cameras import project, sample_cameras
from uavsim_baselines.bev.grid import Grid, inverse, map_T_grid

from tests.bev.test_grid import turned

SIZE_PX = (64, 64)
INTRINSIC = torch.tensor([[32.0, 0, 32.0], [0, 32.0, 32.0], [0, 0, 1.0]])  # 90 degrees
DOWN = torch.tensor([[0, -1.0, 0], [-1.0, 0, 0], [0, 0, -1.0]], dtype=torch.float64)  # the image's top is ahead


def camera(map_T_flu: torch.Tensor) -> torch.Tensor:
    flu_T_optical = torch.eye(4, dtype=torch.float64)
    flu_T_optical[:3, :3] = DOWN
    return inverse(map_T_grid(map_T_flu)) @ map_T_flu @ flu_T_optical


def test_a_point_ahead_of_a_drone_is_above_the_middle_of_its_image() -> None:
    # 16 m up, 90 degrees: 16 m on the ground are 32 px
    pixels, depth_m = project(torch.tensor([[8.0, 0.0, 0.0]], dtype=torch.float64), camera(turned(0, z_m=16.0))[None],
                              INTRINSIC[None].double())  # fmt: skip
    assert pixels[0, 0].tolist() == [32.0, 16.0]
    assert depth_m[0, 0] == 16.0


@pytest.mark.parametrize(("x_m", "y_m", "yaw_rad"), [(0, 0, 0.0), (6, -4, 0.0), (-5, 3, math.pi / 2), (2, 2, 2.5)])
def test_a_box_at_a_known_place_lights_the_right_cell_from_every_drone(x_m: float, y_m: float, yaw_rad: float) -> None:
    grid = Grid(cells=32, cell_m=1.0, heights_m=(0.0,))
    thing_map_m = torch.tensor([3.0, 1.0, 0.0, 1.0], dtype=torch.float64)
    drone = turned(yaw_rad, x_m, y_m, 16.0)
    pixels, _ = project(
        (inverse(map_T_grid(drone)) @ thing_map_m)[None, :3], camera(drone)[None], INTRINSIC[None].double()
    )
    u, v = pixels[0, 0].floor().long().tolist()
    image = torch.zeros(1, 1, 1, 64, 64)
    image[0, 0, 0, max(v - 1, 0) : v + 2, max(u - 1, 0) : u + 2] = 1.0
    found = sample_cameras(image, intrinsics=INTRINSIC[None, None], grid_T_optical=camera(drone)[None, None],
                           has_image=torch.ones(1, 1, dtype=torch.bool), size_px=SIZE_PX, grid=grid)  # fmt: skip
    expected = grid.to_cells((inverse(map_T_grid(drone)) @ thing_map_m)[:2])
    lit = torch.stack(torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij"), -1)
    centre = (lit * found[0, 0, ..., None]).sum((0, 1)) / found.sum()
    assert found.max() > 0.4
    assert (centre - expected).abs().max() < 0.75  # of a cell


def test_a_point_is_the_mean_of_the_cameras_that_see_it_and_0_where_none_does() -> None:
    grid = Grid(cells=4, cell_m=16.0, heights_m=(0.0, 30.0))  # the upper height is above the drone
    pose = camera(turned(0.0, z_m=16.0))
    images = torch.stack([torch.full((1, 8, 8), 2.0), torch.full((1, 8, 8), 4.0)])[None]

    def sampled(*has_image: bool) -> torch.Tensor:
        return sample_cameras(images, intrinsics=INTRINSIC.expand(1, 2, 3, 3), grid_T_optical=pose.expand(1, 2, 4, 4),
                              has_image=torch.tensor([has_image]), size_px=SIZE_PX, grid=grid)  # fmt: skip

    both, one = sampled(True, True), sampled(True, False)
    # 16 m up, the image reaches 16 m: of centres at -24, -8, 8, 24 m the inner ones are in it
    torch.testing.assert_close(both[0, 0, 1:3, 1:3], torch.full((2, 2), 3.0))
    torch.testing.assert_close(one[0, 0, 1:3, 1:3], torch.full((2, 2), 2.0))
    assert torch.count_nonzero(both[0, 0]) == 4
    assert torch.count_nonzero(both[0, 1]) == 0


def test_gradients_go_to_the_images() -> None:
    grid = Grid(cells=2, cell_m=8.0, heights_m=(0.0,))
    features = torch.randn(1, 1, 2, 4, 4, dtype=torch.float64, requires_grad=True)

    def sampled(x: torch.Tensor) -> torch.Tensor:
        return sample_cameras(x, intrinsics=INTRINSIC[None, None], grid_T_optical=camera(turned(0.4, z_m=16.0))[None, None],
                              has_image=torch.ones(1, 1, dtype=torch.bool), size_px=SIZE_PX, grid=grid)  # fmt: skip

    assert torch.autograd.gradcheck(sampled, (features,))
