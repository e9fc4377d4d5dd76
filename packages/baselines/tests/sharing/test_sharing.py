"""Common and individual properties of sharing methods."""

import math
from dataclasses import replace

import pytest
import torch
from uavsim_baselines.bev.grid import Grid
from uavsim_baselines.config import SharingConfig
from uavsim_baselines.sharing import SHARING, Messages, make_sharing

from tests.bev.test_grid import turned

GRID = Grid(cells=8, cell_m=2.0, heights_m=(0.0,))
CHANNELS = 4
LEARNED = ["who2com", "when2com", "v2vnet", "disconet", "where2comm"]
FULL_MAP_BYTES = 4 * CHANNELS * 8 * 8 + 28


def messages(drones: int, *, order: list[int] | None = None, dtype: torch.dtype = torch.float32) -> Messages:
    generator = torch.Generator().manual_seed(3)
    features = torch.randn(2, drones, CHANNELS, 8, 8, generator=generator).to(dtype)
    confidence = torch.rand(2, drones, 8, 8, generator=generator).to(dtype)
    poses = torch.stack([turned(0.5 * d, 3.0 * d, -2.0 * d) for d in range(drones)]).expand(2, drones, 4, 4)
    rows = order or list(range(drones))
    return Messages(
        features[:, rows], poses[:, rows], torch.ones(2, drones, dtype=torch.bool), GRID, confidence[:, rows]
    )


def module(kind: str, **choices):
    torch.manual_seed(0)
    return make_sharing(CHANNELS, SharingConfig.model_validate({"kind": kind, **choices})).eval()


@pytest.mark.parametrize("kind", list(SHARING))
def test_with_one_drone_all_give_the_lower_bounds_features(kind: str) -> None:
    alone = messages(1)
    shared = module(kind)(alone)
    torch.testing.assert_close(shared.features, alone.features[:, 0])
    assert shared.sent_bytes.tolist() == [0, 0]


@pytest.mark.parametrize("kind", list(SHARING))
def test_drones_that_are_not_heard_change_nothing_and_send_nothing(kind: str) -> None:
    silent = messages(3)
    silent.present[:, 1:] = False
    shared = module(kind)(silent)
    torch.testing.assert_close(shared.features, silent.features[:, 0])
    assert shared.sent_bytes.tolist() == [0, 0]


@pytest.mark.parametrize("kind", LEARNED)
def test_the_order_of_the_other_drones_makes_no_difference(kind: str) -> None:
    first, second = module(kind)(messages(4)), module(kind)(messages(4, order=[0, 3, 1, 2]))
    torch.testing.assert_close(first.features, second.features)
    assert first.sent_bytes.tolist() == second.sent_bytes.tolist()
    assert not torch.allclose(first.features, messages(4).features[:, 0])


@pytest.mark.parametrize("kind", ["v2vnet", "disconet", "where2comm"])
def test_a_drone_far_away_reaches_no_cell(kind: str) -> None:
    two = messages(2)
    poses = torch.stack([turned(0), turned(0, 1e4, 0)]).expand(2, 2, 4, 4)
    far = module(kind)(Messages(two.features, poses, two.present, GRID, two.confidence)).features
    changed = two.features * torch.tensor([1.0, -9.0])[None, :, None, None, None]
    other = Messages(changed, poses, two.present, GRID, two.confidence)
    torch.testing.assert_close(module(kind)(other).features, far)


@pytest.mark.parametrize("kind", LEARNED)
def test_gradients_by_finite_differences(kind: str) -> None:
    pair = messages(2, dtype=torch.float64)
    share = module(kind, query_channels=3, key_channels=3).double()
    if kind in {"who2com", "when2com"}:
        share.train()  # in prediction the choice of senders has no gradient

    def shared(features: torch.Tensor) -> torch.Tensor:
        # random weights make a scalar of the map: one row of the Jacobian, which is what a loss asks for
        found = share(Messages(features, pair.map_T_grid, pair.present, GRID, pair.confidence)).features
        return (found * torch.linspace(-1, 1, found.numel(), dtype=torch.float64).reshape(found.shape)).sum()

    assert torch.autograd.gradcheck(shared, (pair.features.clone().requires_grad_(),), fast_mode=True)


def test_bytes_on_paper() -> None:
    three = messages(3)
    assert module("disconet")(three).sent_bytes.tolist() == [2 * FULL_MAP_BYTES] * 2
    assert module("v2vnet", rounds=1)(three).sent_bytes.tolist() == [2 * FULL_MAP_BYTES] * 2
    assert module("v2vnet", rounds=2)(three).sent_bytes.tolist() == [5 * FULL_MAP_BYTES] * 2  # 3 broadcast, then 2
    # a query of 16 numbers, two answers, one map
    assert module("who2com")(three).sent_bytes.tolist() == [16 * 4 + 2 * 4 + FULL_MAP_BYTES] * 2


def test_when2com_sends_no_more_than_all_maps_and_asks() -> None:
    sent = module("when2com")(messages(4)).sent_bytes
    maps = (sent - (16 * 4 + 3 * 4)) / FULL_MAP_BYTES
    assert set(maps.tolist()) <= {0.0, 1.0, 2.0, 3.0}


def test_where2comms_bytes_fall_with_its_threshold() -> None:
    sent = [int(module("where2comm", threshold=t)(messages(3)).sent_bytes.sum()) for t in (0.0, 0.3, 0.6, 0.9, 1.0)]
    assert sent == sorted(sent, reverse=True)
    assert len(set(sent)) == 5
    assert sent[-1] == 0


def test_where2comm_counts_cells_on_paper() -> None:
    pair = messages(2)
    sparse = torch.zeros(2, 2, 8, 8)
    sparse[:, 1, 2, 3:6] = 0.9
    sent = module("where2comm", threshold=0.5)(Messages(pair.features, pair.map_T_grid, pair.present, GRID, sparse))
    assert sent.sent_bytes.tolist() == [3 * (4 * CHANNELS + 4) + 28] * 2


def test_where2comm_trained_sends_a_share_that_is_drawn() -> None:
    share = module("where2comm").train()
    torch.manual_seed(1)
    first = share(messages(3)).sent_bytes.tolist()
    second = share(messages(3)).sent_bytes.tolist()
    torch.manual_seed(1)
    assert share(messages(3)).sent_bytes.tolist() == first
    assert first != second


def test_disconets_weights_prefer_a_drone_by_cell() -> None:
    two = messages(2)
    same = Messages(two.features, torch.stack([turned(0), turned(0)]).expand(2, 2, 4, 4), two.present, GRID)
    shared = module("disconet")(same).features
    low, high = two.features.amin(1), two.features.amax(1)
    assert ((shared >= low - 1e-4) & (shared <= high + 1e-4)).all()  # a mean of the two, with one weight a cell
    assert not torch.allclose(shared, two.features.mean(1))


def test_a_turned_sender_is_understood_in_the_egos_grid() -> None:
    features = torch.zeros(1, 2, CHANNELS, 8, 8)
    features[0, 1, :, 6, 4] = 5.0  # 5 m ahead, 1 m to the left of the sender
    # The sender looks back: 5 m behind, 1 m to the right of the ego.
    poses = torch.stack([turned(0), turned(math.pi)])[None]
    confidence = features[:, :, 0] / 10
    pair = Messages(features, poses, torch.ones(1, 2, dtype=torch.bool), GRID, confidence)
    shared = module("where2comm", threshold=0.1)(pair).features
    assert shared[0, 0].nonzero().tolist() == [[1, 3]]


def test_a_message_that_says_its_age_counts_otherwise_when_it_is_old() -> None:
    model, now = module("v2vnet", time=True), messages(3)
    old = replace(now, age_s=torch.tensor([[0.0, 0.3, 0.1]]).expand(2, 3))
    new = replace(now, age_s=torch.zeros(2, 3))
    torch.testing.assert_close(model(new).features, model(now).features)
    assert not torch.allclose(model(old).features, model(new).features)
    assert torch.equal(module("v2vnet")(old).features, module("v2vnet")(now).features)  # who does not ask does not know
