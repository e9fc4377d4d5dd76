"""Scans of towns: surface pixels by voxel and class, and free space by passing rays, summed over scenes and datasets.

Surfaces are stored in map voxels of 0.2 m, and rays never remove them, so that a pole in one image of ten remains. Moving
objects leave no surface, because their pixels have ids; their rays still mark free space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Dataset, Image, Sample
from uavsim.errors import DatasetError
from uavsim.files.names import check_part
from uavsim.files.whole import write_whole
from uavsim.images.regions import IS_ROAD_USER
from uavsim.occupancy import kernels, tables
from uavsim.occupancy.classes import class_of_tags
from uavsim.occupancy.npz import ArrayKind, npz_bytes, read_npz
from uavsim.typing import AnyArray, FloatArray, IntArray, UInt8Array

SURFACE_M: Final = 0.2
PASSED_M: Final = 0.8
_REACH_M: Final = 200.0
_INWARD_M: Final = 0.01
_SPARE_M: Final = 0.25  # margin of boxes in which pixels of moving objects without an id are skipped
_CODE: Final = 2  # version of the file's format and rules, part of the name
_PART: Final = 1 << 20  # keys processed together
_GROUND: Final = (11, 12, 13, 14)
_ARRAYS: Final = {
    "keys": ArrayKind("i", (None,), 8),
    "hits": ArrayKind("u", (None,), 4),
    "passed": ArrayKind("u", (None,) * 3, 1),
    "first": ArrayKind("i", (3,), 8),
}
_FARTHEST: Final = 1 << 19  # voxels from the map's origin
_MOST_AIR_BYTES: Final = 1 << 32


@dataclass(frozen=True, eq=False)
class Town:
    """Surfaces and air of a town; frame ``map``.

    Attributes:
        voxels: (N, 3) int32 voxels of ``SURFACE_M`` with a surface.
        hits: (N,) numbers of their pixels.
        classes: (N,) the class of most pixels.
        passed: (A, B, C) uint8 numbers of rays through voxels of ``PASSED_M``, at most 255.
        first: (3,) index of the first of these voxels.
    """

    voxels: AnyArray
    hits: AnyArray
    classes: UInt8Array
    passed: AnyArray
    first: IntArray

    @cached_property
    def ground_map_m(self) -> FloatArray:
        """(N, 3) points of the ground, metres: the tops of voxels of flat classes."""
        flat = np.isin(self.classes, _GROUND)
        return np.asarray((self.voxels[flat] + np.array([0.5, 0.5, 1.0])) * SURFACE_M)


@dataclass(frozen=True, eq=False)
class _Scan:
    """The cached scan of one scene; the sum of scans does not depend on their order.

    Attributes:
        keys: (N,) int64 ascending keys of a voxel and a class.
        hits: (N,) uint32 numbers of pixels.
        passed: (A, B, C) uint8 numbers of rays through voxels of ``PASSED_M``, at most 255.
        first: (3,) index of the first of these voxels.
    """

    keys: AnyArray
    hits: AnyArray
    passed: AnyArray
    first: IntArray

    @classmethod
    def load(cls, path: Path) -> _Scan:
        try:
            scan = cls(**read_npz(path, _ARRAYS))
        except DatasetError as error:
            raise DatasetError(f"invalid scan: {error}; move the file away to scan the scene again") from error
        rises = not len(scan.keys) or (scan.keys[0] >= 0 and (np.diff(scan.keys) > 0).all())
        if not (rises and len(scan.hits) == len(scan.keys) and (np.abs(scan.first) <= _FARTHEST).all()):
            raise DatasetError(f"{path}: invalid scan: values out of range; move the file away to scan the scene again")
        return scan

    def save(self, path: Path) -> None:
        write_whole(path, npz_bytes({name: getattr(self, name) for name in _ARRAYS}))


def _rays_of(image: Image) -> AnyArray:
    """Return (H, W, 3) float32 rays of an image's pixels in the optical frame, one metre deep."""
    width, height = image.size_px
    v, u = np.indices((height, width)) + 0.5
    return np.ascontiguousarray(image.rays(np.stack([u, v], axis=-1)), dtype=np.float32)


def scan_name(samples: Iterable[Sample]) -> str:
    """Return a digest of the images, poses and rules of a scan."""
    content = blake2b(f"{_CODE} {SURFACE_M} {PASSED_M}".encode(), digest_size=8)
    for sample in samples:
        for image in sample.images:
            pose = image.map_SE3_optical
            content.update(f"{image.token} {image.size_px}".encode())
            content.update(pose.quat_wxyz.tobytes() + pose.translation_m.tobytes() + image.intrinsic.tobytes())
    return content.hexdigest()


def scan_town(datasets: Iterable[Dataset], town: str, scan_folder: Path) -> Town:
    """Scan a town with all images of datasets.

    Args:
        datasets: the datasets.
        town: name of the town.
        scan_folder: folder of cached scans of scenes.

    Raises:
        DatasetError: the town has no images, or an image has no depth or mask.
    """
    scans = []
    for scene in (scene for data in datasets for scene in data if scene.town == town):
        if not any(sample.images for sample in scene):
            continue
        path = scan_folder / f"{check_part(town, what='town')}-{scan_name(scene)}.npz"
        if not path.exists():
            _scanned(scene).save(path)
        scans.append(path)
    if not scans:
        raise DatasetError(f"the datasets have no images of {town}")
    return join_scans(scans)


def _scanned(samples: Iterable[Sample]) -> _Scan:
    samples = list(samples)
    surfaces, air = _Surfaces(), _Air(samples)
    for sample in samples:
        boxes = _box_rows(sample)
        for image, rays in images_with_rays(sample):
            depth_m = image.depth_m()
            surfaces.add(image, depth_m, rays, boxes)
            air.add(image, depth_m, rays)
    return _Scan(*surfaces.rows(), *air.cropped())


def join_scans(paths: Sequence[Path]) -> Town:
    """Return the sum of scans, of which one is in memory at a time."""
    low: AnyArray = np.full(3, 2**31)
    high: AnyArray = -low
    keys: AnyArray = np.zeros(0, dtype=np.int64)
    hits: AnyArray = np.zeros(0, dtype=np.uint32)
    for path in paths:
        scan = _Scan.load(path)
        low, high = np.minimum(low, scan.first), np.maximum(high, scan.first + scan.passed.shape)
        slot = np.searchsorted(keys, scan.keys)
        known = np.append(keys, -1)[slot] == scan.keys
        hits[slot[known]] += scan.hits[known]
        keys = np.insert(keys, slot[~known], scan.keys[~known])
        hits = np.insert(hits, slot[~known], scan.hits[~known])
    if np.prod((high - low).astype(float)) > _MOST_AIR_BYTES:
        raise DatasetError(
            f"{paths[0].parent}: the scans are kilometres apart; move them away to scan the scenes again"
        )
    passed: AnyArray = np.zeros(high - low, dtype=np.uint8)
    for path in paths:
        scan = _Scan.load(path)
        part = passed[tuple(slice(n, n + size) for n, size in zip(scan.first - low, scan.passed.shape, strict=True))]
        part += np.minimum(scan.passed, 255 - part)
    return Town(*_of_most(keys, hits), passed, low.astype(np.int64))


def images_with_rays(sample: Sample) -> Iterator[tuple[Image, AnyArray]]:
    """Yield a sample's images with (H, W, 3) rays of their pixels, which equal cameras share."""
    cache: dict[tuple[object, ...], AnyArray] = {}
    for image in sample.images:
        camera = (image.size_px, image.intrinsic.tobytes(), image.lens)
        if camera not in cache:
            cache[camera] = _rays_of(image)
        yield image, cache[camera]


class _Surfaces:
    """The table of (voxel, class) -> pixels."""

    def __init__(self) -> None:
        self._keys: AnyArray = np.full(1 << 20, -1, dtype=np.int64)
        self._counts: AnyArray = np.zeros(1 << 20, dtype=np.uint32)
        self._used = 0
        self._class_of_tag = class_of_tags()

    def add(self, image: Image, depth_m: AnyArray, rays: AnyArray, boxes: FloatArray) -> None:
        ids, tags = image.mask()
        pose, pixel = image.map_SE3_optical, 0
        while pixel < ids.size:
            if 2 * self._used >= len(self._keys):
                self._grow()
            pixel, self._used = tables.add_surfaces(
                depth_m, ids, self._class_of_tag[tags], IS_ROAD_USER[tags], rays, pose.rotation, pose.translation_m,
                boxes, SURFACE_M, _INWARD_M, _REACH_M, self._keys, self._counts, pixel, self._used,
            )  # fmt: skip

    def _grow(self) -> None:
        keys, counts = self._keys, self._counts
        self._keys = np.full(2 * len(keys), -1, dtype=np.int64)
        self._counts = np.zeros(2 * len(keys), dtype=np.uint32)
        tables.copy_table(keys, counts, self._keys, self._counts)

    def rows(self) -> tuple[AnyArray, AnyArray]:
        """Return (N,) ascending keys and (N,) numbers of pixels."""
        full = self._keys != -1
        order = np.argsort(self._keys[full], kind="stable")
        return self._keys[full][order], self._counts[full][order]


def _of_most(keys: AnyArray, counts: AnyArray) -> tuple[AnyArray, AnyArray, UInt8Array]:
    """Return (N, 3) voxels, (N,) numbers of pixels and (N,) classes of most pixels, from ascending keys."""
    edges = [0]
    while edges[-1] < len(keys):  # in parts, since all at once takes ten times the keys' memory
        last = keys[min(edges[-1] + _PART, len(keys)) - 1]
        edges.append(int(np.searchsorted(keys, last | 31, side="right")))
    count = sum(len(np.unique(keys[low:high] >> 5)) for low, high in pairwise(edges))
    voxels: AnyArray = np.zeros((count, 3), dtype=np.int32)
    hits: AnyArray = np.zeros(count, dtype=np.int32)
    kinds: UInt8Array = np.zeros(count, dtype=np.uint8)
    start = 0
    for low, high in pairwise(edges):
        part = _most_of_part(keys[low:high], counts[low:high].astype(np.int64))
        rows = slice(start, start := start + len(part[1]))
        voxels[rows], hits[rows], kinds[rows] = part
    return voxels, hits, kinds


def _most_of_part(keys: AnyArray, counts: AnyArray) -> tuple[AnyArray, AnyArray, UInt8Array]:
    voxel = keys >> 5
    begins = np.flatnonzero(np.diff(voxel, prepend=-1))
    voxel = voxel[begins]
    best = np.maximum.reduceat((counts << 5) + 31 - (keys & 31), begins)  # the lower of equal classes
    hits = np.minimum(np.add.reduceat(counts, begins), 2**31 - 1).astype(np.int32)
    indices = [(voxel >> 32) - 524288, ((voxel >> 12) & 0xFFFFF) - 524288, (voxel & 0xFFF) - 2048]
    return np.stack(indices, axis=1).astype(np.int32), hits, (31 - (best & 31)).astype(np.uint8)


class _Air:
    """Numbers of rays through the map's voxels around cameras."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        eyes = np.array([image.map_SE3_optical.translation_m for sample in samples for image in sample.images])
        low, high = eyes.min(axis=0) - 150.0, eyes.max(axis=0) + 150.0
        high[2] = eyes[:, 2].max() + 20.0
        self.first = np.floor(low / PASSED_M).astype(np.int64)
        self.passed: AnyArray = np.zeros(np.ceil(high / PASSED_M).astype(np.int64) - self.first, dtype=np.uint8)

    def add(self, image: Image, depth_m: AnyArray, rays: AnyArray) -> None:
        pose = image.map_SE3_optical
        eye = pose.translation_m / PASSED_M - self.first
        focal_px = float(image.intrinsic[0, 0])
        kernels.trace(depth_m, rays, pose.rotation, eye, PASSED_M, focal_px, self.passed, np.uint8(0), True)

    def cropped(self) -> tuple[AnyArray, IntArray]:
        """Return (A, B, C) numbers of rays without empty borders, and (3,) the index of the first voxel."""
        spans = [np.flatnonzero(self.passed.any(axis=tuple({0, 1, 2} - {axis}))) for axis in range(3)]
        lows = [int(span[0]) if len(span) else 0 for span in spans]
        ends = [int(span[-1]) + 1 if len(span) else 0 for span in spans]
        box = tuple(slice(low, end) for low, end in zip(lows, ends, strict=True))
        return np.ascontiguousarray(self.passed[box]), self.first + np.array(lows)


def _box_rows(sample: Sample) -> FloatArray:
    """Return (N, 15) rows of boxes for ``tables.add_surfaces``, enlarged by the margin."""
    boxes = sample.boxes
    if not len(boxes):
        return np.zeros((0, 15))
    half = boxes.size_lwh_m / 2 + _SPARE_M
    turns = boxes.map_SE3_box.rotation
    return np.concatenate([boxes.map_SE3_box.translation_m, turns.reshape(-1, 9), half], axis=1)
