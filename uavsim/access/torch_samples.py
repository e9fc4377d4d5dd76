"""A map-style ``torch.utils.data.Dataset`` of samples; torch is an optional dependency, imported on use."""

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from uavsim.access.folder import Dataset
from uavsim.access.scenes import Sample
from uavsim.environment import pip_install
from uavsim.errors import InputError
from uavsim.geometry import quaternion
from uavsim.registry import pick


def torch_dataset(
    data: Dataset,
    *,
    split: str | None = None,
    channels: Sequence[str] | None = None,
    transform: Callable[[dict[str, Any]], Any] | None = None,
) -> Any:
    """Return a ``torch.utils.data.Dataset`` of samples.

    Args:
        data: dataset of ``uavsim.open``.
        split: name in ``splits.json``; default: all scenes.
        channels: cameras in this order; default: all, in table order.
        transform: applied to each item; default: items are dictionaries of tensors (see ``sample_arrays``).

    Raises:
        InputError: torch is not installed.
        UnknownNameError: the split does not exist.
    """
    try:
        torch = importlib.import_module("torch")
        base = importlib.import_module("torch.utils.data").Dataset
    except ImportError as error:
        raise InputError(
            f"torch is not installed; run {pip_install()} torch (https://pytorch.org has a build for CPUs)"
        ) from error
    scenes = set(pick(data.splits, split, what="split")) if split is not None else set(data.scene_names)
    index = [(name, n) for name, length in data.scene_lengths if name in scenes for n in range(length)]

    class Samples(base):  # type: ignore[misc, valid-type]  # torch is no dependency: its types are not here
        """Samples of a dataset, as tensors."""

        def __len__(self) -> int:
            return len(index)

        def __getitem__(self, number: int) -> Any:
            name, sample = index[number]
            arrays = sample_arrays(data.scene(name).samples[sample], channels=channels, categories=data.categories)
            item = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in arrays.items()}
            return item if transform is None else transform(item)

    return Samples()


def sample_arrays(
    sample: Sample, *, channels: Sequence[str] | None = None, categories: Sequence[str] = ()
) -> dict[str, Any]:
    """Return a sample as plain arrays: C cameras of one size, N boxes.

    ``images`` (C, 3, H, W) uint8 of pinholes, ``intrinsics`` (C, 3, 3), ``map_T_optical`` (C, 4, 4), ``drone_ids`` (C,),
    ``boxes`` (N, 7) float32 centre, length, width, height, yaw in the map frame, metres and radians, ``labels`` (N,) index in
    ``categories``, ``instance_ids`` (N,); and text: ``scene``, ``token``, ``channels``.

    Raises:
        UnknownNameError: a channel does not exist.
        InputError: the images have several sizes; select cameras with ``channels``.
    """
    by_channel = {image.channel: image for image in sample.images}
    chosen = [pick(by_channel, name, what="channel") for name in (channels or by_channel)]
    if len({image.size_px for image in chosen}) > 1:
        raise InputError(f"{sample}: images of several sizes do not stack; select one size with channels=")
    boxes = sample.boxes
    number = {name: k for k, name in enumerate(categories)}
    yaw_rad = quaternion.yaw(boxes.map_SE3_box.quat_wxyz)[:, None]
    columns = (boxes.map_SE3_box.translation_m, boxes.size_lwh_m, yaw_rad)
    return {
        "scene": sample.scene_name,
        "token": sample.token,
        "channels": [image.channel for image in chosen],
        "timestamp_us": sample.timestamp_us,
        "images": np.stack([np.ascontiguousarray(image.undistorted().transpose(2, 0, 1)) for image in chosen]),
        "intrinsics": np.stack([image.intrinsic for image in chosen]),
        "map_T_optical": np.stack([image.map_SE3_optical.matrix for image in chosen]),
        "drone_ids": np.array([image.drone_id for image in chosen], dtype=np.int64),
        "boxes": np.concatenate(columns, axis=1).astype(np.float32),
        "labels": np.array([number.get(name, -1) for name in boxes.categories], dtype=np.int64),
        "instance_ids": boxes.instance_id.copy(),
    }
