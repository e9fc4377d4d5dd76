"""The detector: images, bird's-eye features of each drone, sharing, head."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from uavsim_baselines.bev.cameras import sample_cameras
from uavsim_baselines.bev.grid import Grid, inverse
from uavsim_baselines.bev.maps import HeadMaps
from uavsim_baselines.config import Config
from uavsim_baselines.detector.layers import BevLayers, Head, ImageBackbone
from uavsim_baselines.sharing import Messages, make_sharing
from uavsim_baselines.sharing.messages import POSE_BYTES


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The views of B samples: D drones, the ego first, with K cameras each.

    Attributes:
        images: (B, D, K, 3, H, W) uint8, RGB.
        intrinsics: (B, D, K, 3, 3), pixels of these images.
        grid_T_optical: (B, D, K, 4, 4) float64, cameras in their own drone's grid.
        map_T_grid: (B, D, 4, 4) float64.
        has_image: (B, D, K) whether the camera has an image.
        present: (B, D) whether the drone's message arrived; True for the ego.
        age_s: (B, D) age of the drone's images.
    """

    images: Tensor
    intrinsics: Tensor
    grid_T_optical: Tensor
    map_T_grid: Tensor
    has_image: Tensor
    present: Tensor
    age_s: Tensor

    def to(self, device: torch.device) -> Views:
        """Return the views on another device."""
        return Views(*(getattr(self, f.name).to(device, non_blocking=True) for f in fields(self)))

    @property
    def size_px(self) -> tuple[int, int]:
        """Width, height."""
        return int(self.images.shape[-1]), int(self.images.shape[-2])


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """Output of the detector in the ego's grid.

    Attributes:
        maps: maps of B samples.
        features: (B, C, cells, cells) after sharing, compared with a teacher's features.
        sent_bytes: (B,) transmitted bytes.
    """

    maps: HeadMaps
    features: Tensor
    sent_bytes: Tensor


def grid_of(config: Config) -> Grid:
    """Return the grid of a configuration."""
    return Grid(config.grid.cells, config.grid.cell_m, config.grid.heights_m)


class Detector(nn.Module):
    """The network of a configuration; ``forward`` detects in the ego's grid with shared features."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        channels = config.model.bev_channels
        self.grid = grid_of(config)
        self.pools_images = config.sharing.kind == "early"
        self.images = ImageBackbone(config.model.image_channels, channels, stem_stride=config.model.stem_stride)
        self.lift = BevLayers(channels * len(self.grid.heights_m), channels, blocks=config.model.lift_blocks)
        self.sharing = make_sharing(channels, config.sharing)
        self.refine = BevLayers(channels, channels, blocks=config.model.bev_blocks)
        self.head = Head(channels, len(config.data.classes))

    def forward(self, views: Views) -> Detection:
        """Detect in the grid of the ego."""
        features, sent_bytes = self.shared(views)
        return Detection(self.head(self.refine(features)), features, sent_bytes)

    def shared(self, views: Views) -> tuple[Tensor, Tensor]:
        """Return (B, C, cells, cells) features in the ego's grid after sharing, and (B,) transmitted bytes."""
        if self.pools_images:
            return self._pooled(views), _image_bytes(views)
        features = self.features(views)
        confidence = None
        if self.sharing.needs_confidence:
            with torch.no_grad():
                confidence = self.head(self.refine(features.flatten(0, 1))).heat.sigmoid().amax(1)
            confidence = confidence.unflatten(0, features.shape[:2])
        shared = self.sharing(Messages(features, views.map_T_grid, views.present, self.grid, confidence, views.age_s))
        return shared.features, shared.sent_bytes

    def each(self, views: Views) -> HeadMaps:
        """Return the maps of all B * D drones, each alone in its own grid."""
        maps: HeadMaps = self.head(self.refine(self.features(views).flatten(0, 1)))
        return maps

    def features(self, views: Views) -> Tensor:
        """Return (B, D, C, cells, cells) bird's-eye features, each in its drone's own grid."""
        batch, drones, cameras = views.has_image.shape
        lifted = sample_cameras(
            self._image_features(views).unflatten(0, (batch * drones, cameras)),
            intrinsics=views.intrinsics.flatten(0, 1),
            grid_T_optical=views.grid_T_optical.flatten(0, 1),
            has_image=views.has_image.flatten(0, 1),
            size_px=views.size_px,
            grid=self.grid,
        )
        features: Tensor = self.lift(lifted).unflatten(0, (batch, drones))
        return features

    def _pooled(self, views: Views) -> Tensor:
        """Return (B, C, cells, cells) features of all drones' images in the ego's grid."""
        batch, drones, cameras = views.has_image.shape
        ego_T_drone = inverse(views.map_T_grid[:, :1]) @ views.map_T_grid
        ego_T_optical = ego_T_drone[:, :, None] @ views.grid_T_optical
        lifted = sample_cameras(
            self._image_features(views).unflatten(0, (batch, drones * cameras)),
            intrinsics=views.intrinsics.flatten(1, 2),
            grid_T_optical=ego_T_optical.flatten(1, 2),
            has_image=(views.has_image & views.present[:, :, None]).flatten(1, 2),
            size_px=views.size_px,
            grid=self.grid,
        )
        features: Tensor = self.lift(lifted)
        return features

    def _image_features(self, views: Views) -> Tensor:
        """Return features of all images, 0 for missing ones, which are not computed."""
        pixels, has_image = views.images.flatten(0, 2), views.has_image.flatten()
        if has_image.all() or not has_image.any():
            features: Tensor = self.images(pixels.to(self._dtype) / 255.0 - 0.5)
            return features
        found: Tensor = self.images(pixels[has_image].to(self._dtype) / 255.0 - 0.5)
        features_of_all = found.new_zeros(len(has_image), *found.shape[1:])
        return features_of_all.index_copy(0, has_image.nonzero()[:, 0], found)

    @property
    def _dtype(self) -> torch.dtype:
        return next(self.parameters()).dtype


def _image_bytes(views: Views) -> Tensor:
    """Return (B,) bytes of the other drones' uncompressed images with their poses."""
    width, height = views.size_px
    images = (views.has_image & views.present[:, :, None])[:, 1:].flatten(1).sum(1)
    return images * (3 * width * height + POSE_BYTES)
