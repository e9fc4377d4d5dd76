"""Open every scene of an OpenAD folder with OpenAD's own loader: ``python openad_loader.py CHECKOUT FOLDER``.

The loader imports torch, torchvision, clip and open3d, but reading needs only tensors of points and images, and PCD files.
This script provides these in numpy, without clip and its models. It prints one JSON line with the opened scenes, and ends with
the loader's exception, if any.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np


class Dataset:
    """Stub of ``torch.utils.data.Dataset`` for a class that only indexes."""


def tensor(values: np.ndarray, dtype: object = None) -> np.ndarray:
    """Return the values with 32 bits each, as torch does."""
    assert dtype is not None
    return np.asarray(values, dtype=np.float32)


def to_tensor(image: np.ndarray) -> np.ndarray:
    """Return (3, H, W) from 0 to 1 of a (H, W, 3) image."""
    return np.moveaxis(image, -1, 0).astype(np.float32) / 255.0


def read_point_cloud(path: str) -> SimpleNamespace:
    """Return the points of a PCD file of float32 fields that begin with x, y, z."""
    data = Path(path).read_bytes()
    head, kind, body = data.partition(b"DATA ")
    words = {
        line.split()[0]: line.split()[1:] for line in head.decode().splitlines() if line and not line.startswith("#")
    }
    style, _, body = body.partition(b"\n")
    assert words["FIELDS"][:3] == ["x", "y", "z"]
    assert set(words["SIZE"]) == {"4"}
    assert set(words["TYPE"]) == {"F"}
    assert kind
    assert style == b"binary"
    cloud = np.frombuffer(body, dtype="<f4").reshape(int(words["POINTS"][0]), len(words["FIELDS"]))
    return SimpleNamespace(points=cloud[:, :3])


def main() -> None:
    """Install the stubs and open all scenes."""
    checkout, folder = sys.argv[1:]
    torch, torchvision, open3d = mock.MagicMock(), mock.MagicMock(), mock.MagicMock()
    torch.utils.data.Dataset, torch.tensor, torch.float32 = Dataset, tensor, np.float32
    torchvision.transforms.ToTensor = lambda: to_tensor
    open3d.io.read_point_cloud = read_point_cloud
    sys.modules |= {
        "torch": torch, "torch.utils": torch.utils, "torch.utils.data": torch.utils.data, "open3d": open3d,
        "torchvision": torchvision, "torchvision.transforms": torchvision.transforms, "clip": mock.MagicMock(),
    }  # fmt: skip
    sys.path.insert(0, checkout)
    loader = importlib.import_module("openad").OpenAD

    trained = {"av2": False, "kitti": False, "nuscenes": True, "once": False, "waymo": False}
    scenes = loader(folder, training_on=trained, frames=2)
    totals = {"scenes": 0, "objects": 0, "seen": 0, "points": 0}
    tags: set[str] = set()
    for path in sorted((Path(folder) / "infos").glob("*.json")):
        index = int(path.stem)
        scene = scenes._OpenAD__get_ann(scenes[index], index)
        assert scene["image"].shape == (3, scene["height"], scene["width"])
        assert len(scene["sweeps"]) == 1
        totals["scenes"] += 1
        totals["objects"] += len(scene["annotations"])
        totals["seen"] += sum(scene["seen"])
        totals["points"] += len(scene["points"])
        tags |= {row[0] for row in scene["annotations"]}
    json.dump(totals | {"tags": len(tags)}, sys.stdout)


if __name__ == "__main__":
    main()
