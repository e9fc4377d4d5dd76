import math

import pytest
import torch
from uavsim_baselines.bev.boxes import Boxes, nms_by_distance
from uavsim_baselines.bev.grid import Grid
from uavsim_baselines.bev.losses import detection_losses, distillation_loss, gaussian_focal_loss
from uavsim_baselines.bev.maps import HeadMaps, decode, encode, gaussian_radius_cells

from tests.bev.test_grid import turned

GRID = Grid(cells=16, cell_m=1.0, heights_m=(0.0,))


def boxes(*rows: tuple[float, ...], labels: tuple[int, ...], velocity: float = 1.5) -> Boxes:
    table = torch.tensor(rows, dtype=torch.float64).reshape(-1, 7)
    known = torch.full((len(rows), 2), velocity, dtype=torch.float64)
    return Boxes(
        table[:, :3],
        table[:, 3:6],
        table[:, 6],
        known,
        torch.tensor(labels),
        torch.ones(len(rows), dtype=torch.float64),
    )


THREE = boxes((3.2, -4.7, 0.8, 4.6, 2.0, 1.6, 0.3), (-6.1, 2.4, 1.1, 8.0, 2.5, 3.0, -3.0), (0.0, 6.9, 0.5, 1.0, 0.8, 1.7, 1.6),
              labels=(0, 1, 0))  # fmt: skip


def certain(targets_heat: torch.Tensor) -> torch.Tensor:
    return torch.logit(targets_heat.clamp(1e-6, 1 - 1e-6))[None]


def test_decoding_what_was_encoded_returns_the_boxes() -> None:
    targets = encode(THREE, grid=GRID, classes=2)
    found = decode(HeadMaps(certain(targets.heat), targets.values[None]), grid=GRID, min_score=0.9, max_boxes=10)[0]
    order = [int((found.centre_m[:, :2] - c).square().sum(-1).argmin()) for c in THREE.centre_m[:, :2]]
    assert sorted(order) == [0, 1, 2]
    found = found.pick(torch.tensor(order))
    for name in ("centre_m", "size_lwh_m", "yaw_rad", "velocity_mps"):
        torch.testing.assert_close(getattr(found, name), getattr(THREE, name), atol=1e-5, rtol=1e-5)
    assert found.label.tolist() == [0, 1, 0]


def test_boxes_outside_are_left_out_and_the_cell_on_paper_is_lit() -> None:
    targets = encode(boxes((2.6, -3.4, 0, 4, 2, 2, 0), (8.5, 0, 0, 4, 2, 2, 0), labels=(0, 0)), grid=GRID, classes=1)
    # row of x = 2.6: (2.6 + 8) / 1 - 0.5 = 10.1, column of y = -3.4: 4.1
    assert (targets.heat == 1.0).nonzero().tolist() == [[0, 10, 4]]
    assert targets.weights[0].nonzero().tolist() == [[10, 4]]
    torch.testing.assert_close(targets.values[:2, 10, 4], torch.tensor([0.1, 0.1]))


def test_an_unknown_velocity_is_not_learned() -> None:
    targets = encode(boxes((0.5, 0.5, 0, 4, 2, 2, 0), labels=(0,), velocity=math.nan), grid=GRID, classes=1)
    assert targets.weights[:, 8, 8].tolist() == [1.0] * 8 + [0.0] * 2
    assert torch.isfinite(targets.values).all()


def test_no_boxes_make_empty_maps_and_no_loss_of_values() -> None:
    targets = encode(Boxes.none(), grid=GRID, classes=1)
    maps = HeadMaps(torch.zeros(1, 1, 16, 16), torch.ones(1, 10, 16, 16))
    losses = detection_losses(maps, heat=targets.heat[None], values=targets.values[None], weights=targets.weights[None])
    assert losses["values"] == 0.0
    assert torch.isfinite(losses["heat"])


def test_the_radius_grows_with_the_box_and_has_a_least() -> None:
    assert gaussian_radius_cells(1.0, 1.0) == 2
    assert gaussian_radius_cells(20.0, 10.0) > gaussian_radius_cells(12.0, 6.0) > 2


def test_the_focal_loss_on_paper() -> None:
    # one centre at p = 0.5: (1 - 0.5)^2 * ln 2; one cell far from it at p = 0.5: 0.5^2 * ln 2
    loss = gaussian_focal_loss(torch.zeros(1, 1, 1, 2), torch.tensor([[[[1.0, 0.0]]]]))
    assert float(loss) == pytest.approx(0.5 * math.log(2.0))


def test_gradients_of_the_losses() -> None:
    generator = torch.Generator().manual_seed(0)
    heat = torch.randn(1, 2, 4, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    values = torch.randn(1, 10, 4, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    targets = encode(boxes((0.5, -0.5, 0, 4, 2, 2, 0), labels=(1,)), grid=Grid(4, 1.0, (0.0,)), classes=2)

    def total(h: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        parts = detection_losses(HeadMaps(h, v), heat=targets.heat[None].double(), values=targets.values[None].double(),
                                 weights=targets.weights[None].double())  # fmt: skip
        return parts["heat"] + parts["values"]

    assert torch.autograd.gradcheck(total, (heat, values), fast_mode=True)
    other = torch.randn(1, 3, 2, 2, dtype=torch.float64, generator=generator)
    assert torch.autograd.gradcheck(
        lambda x: distillation_loss(x, other),
        (heat[:, :1].expand(1, 3, 4, 4)[..., :2, :2].detach().clone().requires_grad_(),),
    )
    assert distillation_loss(other, other) == pytest.approx(0.0, abs=1e-12)


def test_boxes_move_with_their_frame() -> None:
    moved = boxes((1.0, 0.0, 0.5, 4, 2, 2, 0.0), labels=(0,)).moved(turned(math.pi / 2, 10.0, 0.0))
    torch.testing.assert_close(moved.centre_m, torch.tensor([[10.0, 1.0, 0.5]], dtype=torch.float64))
    assert float(moved.yaw_rad[0]) == pytest.approx(math.pi / 2)
    torch.testing.assert_close(moved.velocity_mps, torch.tensor([[-1.5, 1.5]], dtype=torch.float64))


def test_of_near_boxes_of_a_class_the_best_is_kept_in_any_order() -> None:
    near = boxes((0, 0, 0, 4, 2, 2, 0), (1, 0, 0, 4, 2, 2, 0), (1.5, 0, 0, 4, 2, 2, 0), (9, 0, 0, 4, 2, 2, 0),
                 labels=(0, 0, 1, 0))  # fmt: skip
    near = Boxes(near.centre_m, near.size_lwh_m, near.yaw_rad, near.velocity_mps, near.label,
                 torch.tensor([0.5, 0.9, 0.3, 0.9], dtype=torch.float64))  # fmt: skip
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        best = nms_by_distance(near.pick(torch.tensor(order)), nearer_than_m=2.0)
        assert best.centre_m[:, 0].tolist() == [1.0, 9.0, 1.5]
