import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from uavsim_baselines.detector.network import Detector, Views

from tests.bev.test_grid import turned
from tests.conftest import small

DOWN = torch.tensor([[0, -1.0, 0], [-1.0, 0, 0], [0, 0, -1.0]], dtype=torch.float64)


def views(*poses: torch.Tensor, seed: int = 0) -> Views:
    """Return views of drones with one camera each that looks down."""
    drones = len(poses)
    images = torch.randint(
        0, 255, (1, drones, 1, 3, 18, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed)
    )
    mounted = torch.eye(4, dtype=torch.float64)
    mounted[:3, :3] = DOWN
    mounted[2, 3] = 16.0
    intrinsic = torch.tensor([[16.0, 0, 16.0], [0, 16.0, 9.0], [0, 0, 1.0]])
    return Views(
        images,
        intrinsic.expand(1, drones, 1, 3, 3),
        mounted.expand(1, drones, 1, 4, 4),
        torch.stack(poses)[None],
        torch.ones(1, drones, 1, dtype=torch.bool),
        torch.ones(1, drones, dtype=torch.bool),
        torch.zeros(1, drones),
    )


def detector(kind: str) -> Detector:
    torch.manual_seed(0)
    return Detector(small(Path("unused"), kind=kind)).eval()


@pytest.mark.parametrize("kind", ["none", "early", "who2com", "when2com", "v2vnet", "disconet", "where2comm"])
def test_with_one_drone_all_give_the_lower_bounds_input(kind: str) -> None:
    alone = views(turned(0.3, 5.0, 2.0))
    lower, found = detector("none"), detector(kind)
    shared = {k: v for k, v in found.state_dict().items() if not k.startswith("sharing.")}
    lower.load_state_dict(shared)
    with torch.no_grad():
        torch.testing.assert_close(found(alone).features, lower(alone).features)
        assert found(alone).sent_bytes.tolist() == [0]


def test_all_images_are_pooled_in_any_order_of_the_others() -> None:
    early, poses = detector("early"), [turned(0.0), turned(0.7, 6.0, 1.0), turned(-2.0, -4.0, 3.0)]
    first = views(*poses)
    order = [0, 2, 1]
    second = Views(*(getattr(first, name)[:, order] for name in Views.__dataclass_fields__))
    with torch.no_grad():
        torch.testing.assert_close(early(first).features, early(second).features, atol=1e-5, rtol=1e-4)
    assert early(first).sent_bytes.tolist() == [2 * (3 * 32 * 18 + 28)]


def test_an_image_that_is_not_there_is_neither_seen_nor_counted() -> None:
    early = detector("early")
    both = views(turned(0.0), turned(0.5, 3.0, 0.0))
    lost = replace(both, has_image=torch.tensor([[[True], [False]]]))
    with torch.no_grad():
        alone = early(views(turned(0.0)))
        black = replace(lost, images=lost.images.clone().index_fill_(1, torch.tensor([1]), 0))
        torch.testing.assert_close(early(lost).features, early(black).features)
        assert early(lost).sent_bytes.tolist() == alone.sent_bytes.tolist() == [0]


def test_a_turned_and_moved_swarm_sees_the_same() -> None:
    """The map's origin and rotation do not change an ego's detections."""
    poses = [turned(0.0), turned(0.5, 3.0, -1.0)]
    world = turned(math.pi / 3, 100.0, -40.0)
    for kind in ("early", "disconet", "v2vnet"):
        model = detector(kind)
        with torch.no_grad():
            original, moved = model(views(*poses)), model(views(*(world @ pose for pose in poses)))
        torch.testing.assert_close(original.maps.heat, moved.maps.heat, atol=1e-4, rtol=1e-4)


def test_every_weight_that_can_learn_gets_a_gradient() -> None:
    for kind in ("none", "early", "when2com", "who2com", "v2vnet", "disconet", "where2comm"):
        model = detector(kind).train()
        found = model(views(turned(0.0), turned(0.2, 2.0, 0.0), turned(1.0, 0.0, 2.0)))
        (found.maps.heat.square().sum() + found.maps.values.square().sum()).backward()
        without = [name for name, weight in model.named_parameters() if weight.grad is None]
        assert without == []
