"""Occupancy around a drone, alone and with the swarm: a model for each sharing method, and their scores.

The network is the detector's with another head: images are lifted into the bird's-eye grid, drones share, and each cell gives
the classes of the voxels above it. Ground truth is the output of ``uavsim occupancy --grid GRID --of 0`` around the first
drone; voxels that no drone sees are ignored in training and scores.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from uavsim.occupancy.classes import FREE, UNKNOWN
from uavsim.occupancy.files import read_voxels
from uavsim_baselines.config import Config, SharingKind
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.items import BatchPlan, Images, drones_used, sights_of, stack_views, views_of
from uavsim_baselines.data.results import write_json
from uavsim_baselines.detector.network import Detector, Views
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.tables import interval_in_words, table_in_markdown
from uavsim_baselines.training.train import device_of, learning_rate
from uavsim_benchmarks.evaluate.occupancy import confusion, iou_of_matter, mean_iou

__all__ = ["KINDS", "VoxelNet", "compare_voxels", "read_truth"]

KINDS: Final[tuple[SharingKind, ...]] = ("none", "v2vnet", "early")
"""No sharing, shared features, shared images."""
_CLASSES: Final = FREE + 1
_DRAWINGS: Final = 1000
_PARTS: Final = {"all": "all that the swarm sees", "own": "drone 0 sees it", "others": "only others see it"}

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """One sample's voxels around the first drone.

    Attributes:
        semantics: (X, Y, Z) uint8 classes; ``UNKNOWN`` for voxels that no drone sees.
        ego_sees: (X, Y, Z) whether the first drone sees a voxel itself.
    """

    semantics: np.ndarray[Any, np.dtype[np.uint8]]
    ego_sees: np.ndarray[Any, np.dtype[np.bool_]]


def read_truth(folder: Path, frame: Frame, config: Config) -> Truth:
    """Read the voxels of a sample.

    Raises:
        BaselineError: their grid is not the configuration's.
        DatasetError: the voxels are missing or damaged.
    """
    agent = str(frame.drones[0])
    path = folder / frame.scene / agent / f"{frame.token}.parquet"
    arrays, about = read_voxels(path)
    stored, grid = about["grid"], config.grid
    half_m = grid.cells * grid.cell_m / 2
    fits = stored["frame"] == "agent" and stored["size"][:2] == [grid.cells] * 2 and stored["voxel_m"] == grid.cell_m
    if not (fits and np.allclose(stored["low_m"][:2], -half_m)):
        raise BaselineError(
            f"{path}: its grid is not the model's: an agent's {grid.cells} x {grid.cells} cells of {grid.cell_m} m"
        )
    viewers, semantics = arrays["seen"], arrays["semantics"].copy()
    semantics[viewers == 0] = UNKNOWN
    return Truth(semantics, (viewers >> about["seers"].index(agent) & 1) != 0)


class VoxelNet(nn.Module):
    """The detector's backbone with a head of 18 classes for each layer of voxels."""

    def __init__(self, config: Config, layers: int) -> None:
        """Make a network of ``layers`` voxels above each cell."""
        super().__init__()
        channels = config.model.bev_channels
        self.body = Detector(config)
        self.head = nn.Sequential(
            nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), nn.Conv2d(2 * channels, _CLASSES * layers, 1)
        )

    def forward(self, views: Views) -> tuple[Tensor, Tensor]:
        """Return (B, 18, X, Y, Z) logits in the ego's grid, and (B,) transmitted bytes."""
        features, sent_bytes = self.body.shared(views)
        found: Tensor = self.head(self.body.refine(features)).unflatten(1, (_CLASSES, -1))
        return found.permute(0, 1, 3, 4, 2), sent_bytes


def compare_voxels(config: Config, truth: Path, kinds: Sequence[SharingKind], out: Path, *, progress: Progress) -> str:
    """Train and score a model for each sharing method; returns the table of ``voxels.md`` and ``.json``.

    Existing models are reused.

    Raises:
        BaselineError: the dataset or the voxels do not fit the configuration.
        UavsimError: a file cannot be read.
    """
    config = config.model_copy(update={"training": config.training.model_copy(update={"ego": "first"})})
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    frames = {split: read_frames(config.data, split) for split in (config.data.train_split, config.data.test_split)}
    learned, held_out = frames.values()
    images, found = Images(config), {}
    for kind in kinds:
        kind_config = config.model_copy(update={"sharing": config.sharing.model_copy(update={"kind": kind})})
        job = _Job(kind_config, truth, images, out / kind)
        with progress(f"train {kind}", kind_config.training.steps) as report:
            net = _trained(job, learned, report)
        with progress(f"predict {kind}", len(held_out)) as report:
            found[kind] = _scored(net, job, held_out, report)
    rows: dict[str, Any] = {kind: _figures(counts, found.get("none")) for kind, counts in found.items()}
    write_json(out / "voxels.json", {"name": config.name, "seed": config.seed, "rows": rows})
    table = _table(rows)
    (out / "voxels.md").write_text(table, "utf-8")
    return table


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """One sharing method: configuration, folder of the ground truth, shared image cache, and output folder."""

    config: Config
    truth: Path
    images: Images
    out: Path


def _trained(job: _Job, frames: Sequence[Frame], report: Callable[[int], None]) -> VoxelNet:
    config = job.config
    torch.manual_seed(config.seed)
    labels = [read_truth(job.truth, frame, config) for frame in frames]
    net, path = VoxelNet(config, labels[0].semantics.shape[2]).to(device_of(config)), job.out / "voxels.pt"
    about = config.model_dump_json(exclude={"data": {"folder"}})
    if path.exists():
        stored = torch.load(path, map_location="cpu", weights_only=True)
        if stored["config"] != about:
            raise BaselineError(f"{path}: belongs to another configuration; choose another --out")
        net.load_state_dict(stored["model"])
        report(config.training.steps)
        return net
    weights = _weights(labels)
    optimiser = torch.optim.AdamW(
        net.parameters(), config.training.learning_rate, weight_decay=config.training.weight_decay
    )
    began = time.monotonic()
    for step, batch in enumerate(BatchPlan(frames, config, first_step=0)):
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(config, step)
        target = torch.stack([torch.from_numpy(labels[number].semantics).long() for number, _, _ in batch])
        loss = functional.cross_entropy(
            net(_views([frames[number] for number, _, _ in batch], config, job.images))[0],
            target,
            weights,
            ignore_index=UNKNOWN,
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), config.training.clip_norm)
        optimiser.step()
        report(step + 1)
    job.out.mkdir(parents=True, exist_ok=True)
    torch.save({"config": about, "model": net.state_dict(), "seconds": time.monotonic() - began}, path)
    return net


def _weights(labels: Sequence[Truth]) -> Tensor:
    """Return (18,) class weights, proportional to the inverse square root of the frequency."""
    counts = sum(np.bincount(one.semantics[one.semantics < _CLASSES], minlength=_CLASSES) for one in labels)
    share = torch.from_numpy(np.asarray(counts / np.sum(counts))).float()
    return 1.0 / (share + 1e-4).sqrt() / 10.0


def _views(frames: Sequence[Frame], config: Config, images: Images) -> Views:
    used = [drones_used(config, frame.drones, 0) for frame in frames]
    return stack_views(
        [
            views_of(sights_of(frame, drones), images, cameras=max(map(len, frame.cameras)))
            for frame, drones in zip(frames, used, strict=True)
        ]
    )


def _scored(net: VoxelNet, job: _Job, frames: Sequence[Frame], report: Callable[[int], None]) -> dict[str, Any]:
    """Predict frames, write ``<sample token>.npz`` as ``uavsim evaluate occupancy`` reads them; return counts by scene."""
    counts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS}
    sent = 0.0
    net.eval()
    folder = job.out / "predicted"
    folder.mkdir(parents=True, exist_ok=True)
    for done, frame in enumerate(frames, 1):
        with torch.no_grad():
            logits, sent_bytes = net(_views([frame], job.config, job.images))
        semantics = logits[0].argmax(0).numpy().astype(np.uint8)
        np.savez_compressed(folder / f"{frame.token}.npz", semantics=semantics)
        label, sent = read_truth(job.truth, frame, job.config), sent + float(sent_bytes[0])
        for part, mask in {"all": label.ego_sees | True, "own": label.ego_sees, "others": ~label.ego_sees}.items():
            part_counts = confusion(semantics[mask].ravel(), label.semantics[mask].ravel())
            counts[part][frame.scene] = counts[part].get(frame.scene, 0) + part_counts
        report(done)
    stacked = {part: np.stack([by_scene[name] for name in sorted(by_scene)]) for part, by_scene in counts.items()}
    return {"counts": stacked, "bytes_per_frame": sent / len(frames)}


def _figures(found: Mapping[str, Any], alone: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a model's scores with 95 % intervals over scenes, and the difference to the single drone."""
    figures: dict[str, Any] = {"bytes_per_frame": found["bytes_per_frame"]}
    for part, counts in found["counts"].items():
        figures[part] = {"miou": _interval(counts, None), "iou": iou_of_matter(counts.sum(axis=0))}
        if alone is not None and alone is not found:
            figures[part]["more"] = _interval(counts, alone["counts"][part])
    return figures


def _interval(counts: Any, other: Any) -> dict[str, float]:
    def value(drawn: Any) -> float:
        total = mean_iou(counts[drawn].sum(axis=0), corrected=True)
        return total if other is None else total - mean_iou(other[drawn].sum(axis=0), corrected=True)

    rng = np.random.default_rng(0)
    drawn = [value(rng.integers(len(counts), size=len(counts))) for _ in range(_DRAWINGS)]
    low, high = np.nanpercentile(drawn, [2.5, 97.5]).tolist()
    return {"value": value(np.arange(len(counts))), "low": low, "high": high}


def _table(rows: Mapping[str, Any]) -> str:
    heading = [
        "sharing",
        *(f"mIoU, {words}" for words in _PARTS.values()),
        "IoU of matter",
        "more than alone",
        "bytes a frame",
    ]
    lines = [
        [
            kind,
            *(interval_in_words(figures[part]["miou"]) for part in _PARTS),
            f"{figures['all']['iou']:.3f}",
            interval_in_words(figures["all"].get("more")),
            f"{figures['bytes_per_frame']:.0f}",
        ]
        for kind, figures in rows.items()
    ]
    return table_in_markdown(heading, lines) + "\n"
