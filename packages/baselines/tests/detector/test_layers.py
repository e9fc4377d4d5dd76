import pytest
import torch
from uavsim_baselines.detector.layers import ImageBackbone


@pytest.mark.parametrize(("stem_stride", "share"), [(2, 4), (4, 8)])
def test_features_have_a_quarter_of_the_size_or_an_eighth_and_lie_where_their_pixels_do(
    stem_stride: int, share: int
) -> None:
    torch.manual_seed(0)
    backbone = ImageBackbone([8, 8, 8], 4, stem_stride=stem_stride)
    images = torch.rand(1, 3, 32, 64, requires_grad=True)
    found = backbone(images)
    assert found.shape == (1, 4, 32 // share, 64 // share)
    row, column = found.shape[2] // 2, found.shape[3] // 4
    found[0, :, row, column].sum().backward()
    assert images.grad is not None
    influence = images.grad[0].abs().sum(0)
    middle = (influence.sum(1) @ (torch.arange(32) + 0.5), influence.sum(0) @ (torch.arange(64) + 0.5))
    centre = [float(m / influence.sum()) / share for m in middle]
    # a feature's receptive field is centred on its cell; normalisation adds a small share of all cells
    assert centre == pytest.approx([row + 0.5, column + 0.5], abs=1.0)
