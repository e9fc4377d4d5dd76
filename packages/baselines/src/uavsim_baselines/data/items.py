"""Training items, a sample from one ego as tensors, and the sampling of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.data import Dataset, Sampler

import uavsim
from uavsim_baselines.bev.boxes import Boxes
from uavsim_baselines.bev.grid import inverse, map_T_grid
from uavsim_baselines.bev.maps import encode
from uavsim_baselines.config import AgentId, Config
from uavsim_baselines.data.frames import SIDES, Frame, side_of
from uavsim_baselines.detector.network import Views, grid_of
from uavsim_baselines.errors import BaselineError

_PAINTED: Final = 127
"""Value of all colours in regions with a road user without a box."""


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One sample from one ego: views without the batch axis, and targets (see ``bev.maps.Targets``)."""

    views: Views
    heat: Tensor
    values: Tensor
    weights: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Items, stacked."""

    views: Views
    heat: Tensor
    values: Tensor
    weights: Tensor

    def to(self, device: torch.device) -> Batch:
        """Return the batch on another device."""
        return Batch(self.views.to(device), *(part.to(device) for part in (self.heat, self.values, self.weights)))


def drones_heard(drones: Sequence[AgentId], ego: int, hears: Sequence[str] = SIDES) -> list[int]:
    """Return the positions of the ego, first, and of the other agents on some sides."""
    return [ego, *(index for index, drone in enumerate(drones) if index != ego and side_of(drone) in hears)]


def drones_used(config: Config, drones: Sequence[AgentId], ego: int, hears: Sequence[str] = SIDES) -> list[int]:
    """Return the positions of the drones of a training item, the ego first.

    Models that share nothing or boxes are trained on one drone.
    """
    return [ego] if config.sharing.kind in {"none", "late"} else drones_heard(drones, ego, hears)


class Items(Dataset[Item]):
    """Items by (frame number, index of the ego, number of the frame with the labels)."""

    def __init__(self, frames: Sequence[Frame], config: Config, *, sights: Sights | None = None) -> None:
        self.sights = sights or sights_of
        self.frames, self.config, self.grid = frames, config, grid_of(config)
        self.images = Images(config)

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, key: tuple[int, int, int]) -> Item:
        """Read one item's images and make its targets."""
        number, ego, labelled = key
        frame, of_labels = self.frames[number], self.frames[labelled]
        used = drones_used(self.config, frame.drones, ego)
        heard = drones_used(self.config, frame.drones, ego, self._sides(number, ego))
        pairs = zip(used, self.sights(frame, used), strict=True)
        sights = [replace(sight, present=sight.present and k in heard) for k, sight in pairs]
        views = views_of(sights, self.images, cameras=max(map(len, frame.cameras)))
        all_heard = len(heard) == len(frame.drones) > 1
        known = None if all_heard else [frame.drones[k] for k in heard]
        targets = encode(
            self._in_grid(of_labels, of_labels.boxes_for(known), ego),
            grid=self.grid,
            classes=len(self.config.data.classes),
        )
        return Item(views, targets.heat, targets.values, targets.weights)

    def _sides(self, number: int, ego: int) -> Sequence[str]:
        """Draw the received agents, the same for a frame and an ego in every epoch."""
        if self.config.training.hears == "all":
            return SIDES
        drawn = int(np.random.default_rng([self.config.seed, 3, number, ego]).integers(3))
        return (SIDES[:1], SIDES[1:], SIDES)[drawn]

    def _in_grid(self, frame: Frame, boxes: Boxes, ego: int) -> Boxes:
        return boxes.moved(inverse(map_T_grid(frame.map_T_flu[ego])))


class Images:
    """Camera images at one size, optionally cached in memory."""

    def __init__(self, config: Config) -> None:
        self.size_px = config.data.size_px
        self._cache: dict[str, Tensor] | None = {} if config.data.keep_images else None

    def pixels(self, camera: uavsim.Image, size_px: tuple[int, int]) -> Tensor:
        """Return (3, height, width) uint8 pixels of a camera with a file."""
        found = None if self._cache is None else self._cache.get(camera.filename)
        if found is None:
            found = _resized(camera, size_px)
            if self._cache is not None:
                self._cache[camera.filename] = found
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """The views of one drone and its reported pose.

    Attributes:
        cameras: images of the drone.
        map_T_flu: (4, 4) float64 reported pose, metres.
        lost: for each camera, whether its image counts as lost.
        present: whether the drone's message arrived.
        age_s: age by the clocks of sender and receiver.
    """

    cameras: tuple[uavsim.Image, ...]
    map_T_flu: Tensor
    lost: tuple[bool, ...]
    present: bool = True
    age_s: float = 0.0


Sights: TypeAlias = Callable[[Frame, Sequence[int]], list[Sight]]
"""Function that returns the views of drones at given positions in a frame."""


def sights_of(frame: Frame, used: Sequence[int]) -> list[Sight]:
    """Return the undegraded views of drones at the given positions."""
    return [Sight(frame.cameras[p], frame.map_T_flu[p], (False,) * len(frame.cameras[p])) for p in used]


def views_of(sights: Sequence[Sight], images: Images, *, cameras: int = 0) -> Views:
    """Read the views of drones, the ego first. Missing images are black and not set in ``has_image``.

    Args:
        sights: views of the drones.
        images: reader and cache of pixels.
        cameras: smallest number of cameras per drone; missing ones are padded.

    Raises:
        BaselineError: images differ in size, and the configuration has none.
    """
    sizes = {camera.size_px for sight in sights for camera in sight.cameras}
    if images.size_px is None and len(sizes) > 1:
        name = sights[0].cameras[0].filename
        raise BaselineError(f"{name}: its sample has images of several sizes ({sorted(sizes)}); set data.size_px")
    size = images.size_px or next(iter(sizes))
    poses = torch.stack([sight.map_T_flu for sight in sights])
    grids = map_T_grid(poses)
    grid_T_flu = inverse(grids) @ poses
    most = max(cameras, *(len(sight.cameras) for sight in sights))
    pixels, intrinsics, mounted, has_image = list[Tensor](), list[Tensor](), list[Tensor](), list[bool]()
    black = torch.zeros(3, size[1], size[0], dtype=torch.uint8)
    for sight, placed in zip(sights, grid_T_flu, strict=True):
        for camera, lost in zip(sight.cameras, sight.lost, strict=True):
            available = sight.present and not lost and camera.exists
            pixels.append(images.pixels(camera, size) if available else black)
            intrinsics.append(_scaled(camera, size))
            mounted.append(placed @ torch.from_numpy(camera.flu_SE3_optical.matrix))
            has_image.append(available)
        for _ in range(most - len(sight.cameras)):
            pixels.append(black)
            intrinsics.append(torch.eye(3))
            mounted.append(placed)
            has_image.append(False)
    shape = (len(sights), most)
    return Views(
        images=torch.stack(pixels).unflatten(0, shape),
        intrinsics=torch.stack(intrinsics).unflatten(0, shape),
        grid_T_optical=torch.stack(mounted).unflatten(0, shape),
        map_T_grid=grids,
        has_image=torch.tensor(has_image).unflatten(0, shape),
        present=torch.tensor([sight.present for sight in sights]),
        age_s=torch.tensor([sight.age_s for sight in sights], dtype=torch.float32),
    )


def _resized(camera: uavsim.Image, size_px: tuple[int, int]) -> Tensor:
    width, height = size_px
    pixels = torch.from_numpy(np.ascontiguousarray(camera.pixels().transpose(2, 0, 1)))
    for x0, y0, x1, y1 in camera.ignored_px.tolist():  # a road user without a box is masked in training and prediction
        pixels[:, y0:y1, x0:x1] = _PAINTED
    if camera.size_px == size_px:
        return pixels
    resized = functional.interpolate(pixels[None].float(), size=(height, width), mode="area")[0]
    return resized.round().to(torch.uint8)


def _scaled(camera: uavsim.Image, size_px: tuple[int, int]) -> Tensor:
    intrinsic = torch.from_numpy(camera.pinhole.copy())
    intrinsic[0] *= size_px[0] / camera.size_px[0]
    intrinsic[1] *= size_px[1] / camera.size_px[1]
    return intrinsic.float()


def stack_views(views: Sequence[Views]) -> Views:
    """Stack the views of samples, which get a batch axis."""
    return Views(*(torch.stack([getattr(each, f.name) for each in views]) for f in fields(Views)))


def collate(items: Sequence[Item]) -> Batch:
    """Stack items."""
    views = stack_views([item.views for item in items])
    return Batch(views, *(torch.stack([getattr(i, name) for i in items]) for name in ("heat", "values", "weights")))


class BatchPlan(Sampler[list[tuple[int, int, int]]]):
    """Sampling of each step's items by seed and step only, so that a resumed training continues the sequence.

    Every frame is drawn once before the first repetition.

    Raises:
        BaselineError: shuffled labels require more than one scene.
    """

    def __init__(self, frames: Sequence[Frame], config: Config, *, first_step: int) -> None:
        self.count, self.drones = len(frames), len(frames[0].drones)
        self.config, self.first_step = config, first_step
        self.scenes = [frame.scene for frame in frames]
        if config.training.shuffled_labels and len(set(self.scenes)) < 2:
            raise BaselineError(
                "training.shuffled_labels needs two scenes: samples of one scene have nearly the same boxes"
            )

    def __iter__(self) -> Iterator[list[tuple[int, int, int]]]:
        """Yield the batches from the first step to the last."""
        batch = self.config.training.batch
        for step in range(self.first_step, self.config.training.steps):
            yield [self._drawn(position) for position in range(step * batch, (step + 1) * batch)]

    def __len__(self) -> int:
        return max(self.config.training.steps - self.first_step, 0)

    def _drawn(self, position: int) -> tuple[int, int, int]:
        epoch, within = divmod(position, self.count)
        seed = self.config.seed
        number = int(np.random.default_rng([seed, 0, epoch]).permutation(self.count)[within])
        any_ego = self.config.training.ego == "any"
        ego = int(np.random.default_rng([seed, 1, position]).integers(self.drones)) if any_ego else 0
        labelled = number
        if self.config.training.shuffled_labels:  # one wrong frame each, the same in every epoch
            others = [k for k, scene in enumerate(self.scenes) if scene != self.scenes[number]]
            labelled = int(np.random.default_rng([seed, 2, number]).choice(others))
        return number, ego, labelled
