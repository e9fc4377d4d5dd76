"""Warnings about what a format will lack, given before anything is written."""

from collections.abc import Callable
from typing import Final

from uavsim.access import Dataset, Sample
from uavsim.dataset.layout import BEV_CHANNEL


def lacks(data: Dataset, kind: str) -> str | None:
    """Say what the files of a format will lack, by the first sample; None where nothing is missing."""
    if kind not in _NEEDS or not data.scene_names:
        return None
    has, text = _NEEDS[kind]
    samples = data.scene(data.scene_names[0]).samples
    return None if not samples or has(samples[0]) else text


def _has_lidar(sample: Sample) -> bool:
    return any(scan.channel != BEV_CHANNEL for scan in sample.lidars)


def _has_layer(sample: Sample, layer: str) -> bool:
    return any(layer in image.layers for image in sample.images)


_NEEDS: Final[dict[str, tuple[Callable[[Sample], bool], str]]] = {
    "opv2v": (
        lambda sample: _has_lidar(sample) or _has_layer(sample, "depth"),
        "no lidar and no depth images: every point cloud will be empty",
    ),
    "griffin": (_has_lidar, "no lidar: there will be no point clouds"),
    "v2xsim": (_has_lidar, "no lidar, which V2X-Sim's readers take: there will be no point clouds"),
    "mmdet3d": (_has_lidar, "no lidar: LIDAR_TOP has no points, which detectors on cameras alone do without"),
    "nerfstudio": (
        lambda sample: _has_layer(sample, "depth"),
        "no depth images: there will be no cloud of points to start from",
    ),
    "cosmos": (
        lambda sample: _has_layer(sample, "depth") and _has_layer(sample, "instance"),
        "no depth images or no instance masks: controls that need them will be missing",
    ),
    "coco": (lambda sample: _has_layer(sample, "instance"), "no instance masks: there will be boxes alone"),
}
