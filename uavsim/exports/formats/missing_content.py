"""Warnings about missing content before an export."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from uavsim.access import Dataset, Sample
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.exports.formats.agents import agent_of, folder_name, plain
from uavsim.exports.formats.scene_names import LISTED, parts_of

_STEP_US: Final = 500_000
_CAMERAS: Final = {f"CAM_{way}" for way in ("FRONT", "FRONT_RIGHT", "FRONT_LEFT", "BACK", "BACK_LEFT", "BACK_RIGHT")}


def missing_content(data: Dataset, kind: str) -> str | None:
    """Return a warning about missing content of a format, by the dataset's first samples; None without one."""
    samples = data.scene(data.scene_names[0]).samples if kind in (*_REQUIREMENTS, "agents") and data.scene_names else ()
    if not samples:
        return None
    if kind == "agents":
        found = [*_unfit_rigs(samples[0]), *_unfit_steps(samples), *_unfit_splits(data)]
        return f"converters of nuScenes (docs/converters.md) will fail on: {'; '.join(found)}" if found else None
    has, text = _REQUIREMENTS[kind]
    return None if has(samples[0]) else text


def _unfit_rigs(sample: Sample) -> list[str]:
    cameras: dict[str, set[str]] = {}
    for image in sample.images:
        cameras.setdefault(agent_of(image.channel), set()).add(plain(image.channel))
    unfit = [folder_name(agent) for agent, names in cameras.items() if agent and not names >= _CAMERAS]
    return [f"{', '.join(unfit)} without the six cameras of a nuScenes car"] if unfit else []


def _unfit_steps(samples: Sequence[Sample]) -> list[str]:
    steps_us = {later.timestamp_us - earlier.timestamp_us for earlier, later in pairwise(samples)}
    unfit = sorted(step / 1e6 for step in steps_us if abs(step - _STEP_US) > _STEP_US // 10)
    return [f"keyframes {unfit[-1]:g} s apart instead of 0.5 s"] if unfit else []


def _unfit_splits(data: Dataset) -> list[str]:
    counts = {part: len(scenes) for part, scenes in parts_of(data.scene_names, data.splits).items()}
    unfit = [part for part, count in counts.items() if count > len(LISTED[part])]
    return [f"{counts[part]} scenes for {part}, of which nuScenes lists {len(LISTED[part])}" for part in unfit]


def _has_lidar(sample: Sample) -> bool:
    return any(scan.channel != BEV_CHANNEL for scan in sample.lidars)


def _has_points(sample: Sample) -> bool:
    return any(scan.channel == BEV_CHANNEL and len(scan.points()) for scan in sample.lidars)


def _has_layer(sample: Sample, layer: str) -> bool:
    return any(layer in image.layers for image in sample.images)


_REQUIREMENTS: Final[dict[str, tuple[Callable[[Sample], bool], str]]] = {
    "opv2v": (
        lambda sample: _has_lidar(sample) or _has_layer(sample, "depth"),
        "no lidar and no depth images: every point cloud will be empty",
    ),
    "griffin": (_has_lidar, "no lidar: there will be no point clouds"),
    "v2xsim": (_has_lidar, "no lidar, which V2X-Sim's readers require: there will be no point clouds"),
    "mmdet3d": (_has_points, "LIDAR_TOP has no points; only camera detectors can train"),
    "nerfstudio": (
        lambda sample: _has_layer(sample, "depth"),
        "no depth images: there will be no initial point cloud",
    ),
    "cosmos": (
        lambda sample: _has_layer(sample, "depth") and _has_layer(sample, "instance"),
        "no depth images or no instance masks: controls from them will be missing",
    ),
    "coco": (lambda sample: _has_layer(sample, "instance"), "no instance masks: there will be only boxes"),
}
