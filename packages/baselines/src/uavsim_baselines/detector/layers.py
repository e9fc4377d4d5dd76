"""Blocks of the network; group normalisation, because a batch may hold one sample."""

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional

from uavsim_baselines.bev.maps import VALUES, HeadMaps

_RARE = -2.19  # logit of 0.1: at the start few cells are centres


def _normed(into: int, out: int, *, kernel: int = 3, stride: int = 1) -> nn.Sequential:
    groups = 4 if out % 4 == 0 else 1
    convolution = nn.Conv2d(into, out, kernel, stride=stride, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(groups, out), nn.ReLU())


class _Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.steps = nn.Sequential(_normed(channels, channels), _normed(channels, channels))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.steps(x)
        return out


class ImageBackbone(nn.Module):
    """Stages that halve the image, joined from the coarsest up to the second one: features at a quarter of the size.

    A stem of stride 4 gives an eighth, which reduces the cost of large images.
    """

    def __init__(self, channels: Sequence[int], out: int, *, stem_stride: int = 2) -> None:
        super().__init__()
        stem = _normed(3, channels[0], kernel=stem_stride + 1, stride=stem_stride)
        later = (_normed(into, width, stride=2) for into, width in pairwise(channels))
        self.stages = nn.ModuleList(
            nn.Sequential(first, _Residual(width)) for first, width in zip((stem, *later), channels, strict=True)
        )
        self.sides = nn.ModuleList(nn.Conv2d(width, out, 1) for width in channels[1:])

    def forward(self, images: Tensor) -> Tensor:
        """Return (N, out, H / 4, W / 4) features of (N, 3, H, W) images, an eighth with a stem of stride 4."""
        found = []
        for stage in self.stages:
            images = stage(images)
            found.append(images)
        joined: Tensor = self.sides[-1](found[-1])
        for side, level in zip(list(self.sides)[-2::-1], found[-2:0:-1], strict=True):
            joined = side(level) + functional.interpolate(joined, size=level.shape[-2:], mode="bilinear")
        return joined


class BevLayers(nn.Sequential):
    """Convolutions in the bird's-eye view."""

    def __init__(self, into: int, out: int, *, blocks: int) -> None:
        super().__init__(_normed(into, out, kernel=1), *(_Residual(out) for _ in range(blocks)))


class Head(nn.Module):
    """CenterPoint's head: a heatmap for each class, and the values of ``bev.maps``."""

    def __init__(self, channels: int, classes: int) -> None:
        super().__init__()
        self.heat = nn.Sequential(_normed(channels, channels), nn.Conv2d(channels, classes, 1))
        self.values = nn.Sequential(_normed(channels, channels), nn.Conv2d(channels, VALUES, 1))
        nn.init.constant_(self.heat[-1].bias, _RARE)  # type: ignore[arg-type]

    def forward(self, features: Tensor) -> HeadMaps:
        """Return the maps of (B, C, cells, cells) features."""
        return HeadMaps(self.heat(features), self.values(features))
