"""Hold voxels against every pixel: where rays end, what they pass, classes, and movers' masks.

``scripts/trial occupancy-pixels --kept FOLDER DATASET [DATASET ...]`` prints a line for each town and the bars that fail.

Nothing here uses the package's own rays: points along a ray are sampled every half a voxel. ``ends`` and ``masks``: a
pixel's end has an occupied voxel, or one of its object, within one voxel. ``air``: a place more than one voxel before the end
is free; ``air_near``: it, or a voxel beside it, is. ``air_best``: the most that any labels could have of ``air`` in which
each pixel of the sample ends in an occupied voxel. ``air_costs``: of how many pixels the end must at least be called free
for ``air`` to hold, were voxels chosen that many rays pass and few end in. ``classes``: the pixel's class is within one
voxel. ``classes_best``: the most that any labels of one class a voxel could have of ``classes_strictly``: each voxel has the
class of most pixels in it. ``clean``: an image sees a mover's voxel, or something nearer, where that voxel is. Shares that
end in ``strictly`` are of the very voxel.
"""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

import uavsim
from uavsim.access import Boxes, Dataset, Image
from uavsim_occupancy.classes import FREE, class_of_tags
from uavsim_occupancy.grids import GRIDS, Grid
from uavsim_occupancy.run import Labeller
from uavsim_occupancy.sample import Occupancy

__all__ = ["compare_pixels"]

BARS: Final = {"ends": 0.995, "air": 0.999, "classes_strictly": 0.99, "masks": 0.995, "clean": 0.995}
_AROUND = np.stack(np.meshgrid([-1, 0, 1], [-1, 0, 1], [-1, 0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
_EVERY_PX = 5
_MOVER: Final = 31
_BODY_M: Final = 0.5  # a camera is below its drone or in it


def compare_pixels(data: Dataset, labeller: Labeller) -> dict[str, Any]:
    """Return shares over all images of a dataset, and what they are shares of."""
    sums: dict[str, np.ndarray] = {}
    held = []
    for scene in data:
        for sample in scene:
            voxels = labeller.label(scene, sample.number, "swarm").voxels
            places = []
            for image in sample.images:
                of_image = _image(image, voxels, sample.boxes)
                places.append(of_image.pop("places"))
                for name, found in of_image.items():
                    sums[name] = sums.get(name, np.zeros(2, np.int64)) + [int(found.sum()), found.size]
            ended = np.concatenate([_ended(image, voxels.grid) for image in sample.images])
            sums["classes_best"] = sums.get("classes_best", np.zeros(2, np.int64)) + _best(ended)
            held.append(_held(ended >> 5, np.concatenate(places)))
            sums["ended"] = sums.get("ended", np.zeros(2, np.int64)) + len(ended)
    shares = {name: (float(good / max(of, 1)), int(of)) for name, (good, of) in sums.items()}
    blocked, ends = np.concatenate(held, axis=1)
    (_, every), (_, pixels) = shares["air"], shares.pop("ended")
    shares["air_best"] = (1 - float(blocked.sum() / every), every)
    cheapest = np.argsort(-blocked / ends)
    excess = blocked.sum() - (1 - BARS["air"]) * every
    lost = np.interp(excess, np.cumsum(blocked[cheapest]), np.cumsum(ends[cheapest]), left=0.0)
    return shares | {"air_costs": (float(lost / pixels), pixels)}


def _held(ended: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return (2, N) for voxels that rays pass and others end in how many places of rays, and how many ends, each has."""
    voxels, blocked = np.unique(places, return_counts=True)
    ends, count = np.unique(ended, return_counts=True)
    _, of_places, of_ends = np.intersect1d(voxels, ends, assume_unique=True, return_indices=True)
    return np.stack([blocked[of_places], count[of_ends]])


def _ended(image: Image, grid: Grid) -> np.ndarray:
    """Return the voxels in which an image's pixels end, with their classes, as one number each; movers as one class."""
    depth_m, (ids, tags) = image.depth_m(), image.mask()
    v, u = np.nonzero(np.isfinite(depth_m) & (class_of_tags()[tags] < FREE))
    rays = image.rays(np.stack([u + 0.5, v + 0.5], axis=1))
    ends = grid.voxels_of(image.map_SE3_optical.apply(rays * depth_m[v, u].astype(float)[:, None]))
    inside = grid.holds(ends)
    kinds = np.where(ids[v, u] > 0, _MOVER, class_of_tags()[tags[v, u]])[inside]
    return np.ravel_multi_index(ends[inside].T, grid.size) * 32 + kinds


def _best(ended: np.ndarray) -> list[int]:
    """Return of pixels of what stands how many have their voxel's most frequent class, and how many there are."""
    pairs, count = np.unique(ended, return_counts=True)
    voxel, kind = pairs >> 5, pairs & 31
    most = np.maximum.reduceat(count, first := np.flatnonzero(np.diff(voxel, prepend=-1)))
    best = count == np.repeat(most, np.diff(first, append=len(voxel)))
    still = kind != _MOVER
    return [int(count[best & still].sum()), int(count[still].sum())]


def _image(image: Image, voxels: Occupancy, boxes: Boxes) -> dict[str, np.ndarray]:
    depth_m, (ids, tags), ids_of_boxes = image.depth_m(), image.mask(), boxes.instance_id
    v, u = (axis.ravel() for axis in np.mgrid[0 : ids.shape[0] : _EVERY_PX, 0 : ids.shape[1] : _EVERY_PX])
    deep, own, tag = depth_m[v, u].astype(float), ids[v, u], tags[v, u]
    grid, pose = voxels.grid, image.map_SE3_optical
    rays = image.rays(np.stack([u + 0.5, v + 0.5], axis=1))
    hit = np.isfinite(deep)
    ends = grid.voxels_of(pose.apply(rays * np.where(hit, deep, 0.0)[:, None]))
    inside = hit & (ends > 0).all(axis=1) & (ends < np.array(grid.size) - 1).all(axis=1)
    near = ends[inside][:, None] + _AROUND
    kinds, owners = voxels.semantics[tuple(near.T)].T, voxels.instance[tuple(near.T)].T
    strict = voxels.semantics[tuple(ends[inside].T)]
    wanted = class_of_tags()[tag[inside]]
    found = {"ends": (kinds < FREE).any(axis=1), "ends_strictly": strict < FREE}
    standing = own[inside] == 0
    found["classes"] = (kinds == wanted[:, None]).any(axis=1)[standing]
    found["classes_strictly"] = (strict == wanted)[standing & (strict < FREE)]
    number = np.zeros(int(max(ids_of_boxes.max(initial=0), ids.max(initial=0))) + 1, np.int64)
    number[ids_of_boxes] = np.arange(1, len(ids_of_boxes) + 1)
    moving = (own[inside] > 0) & (number[own[inside]] > 0)
    found["masks"] = (owners[moving] == number[own[inside][moving]][:, None]).any(axis=1)
    found |= _air(image, voxels, boxes, rays, deep, ends)
    found["clean"] = _clean(image, voxels, depth_m, ids, number)
    return found


def _air(image: Image, voxels: Occupancy, boxes: Boxes, rays: Any, deep: Any, ends: Any) -> dict[str, np.ndarray]:
    """Return for places on rays, over a voxel before the end and outside of the drone that looks, whether they are free."""
    grid, pose = voxels.grid, image.map_SE3_optical
    eye = [box.apply_inverse(pose.translation_m) for box in boxes.map_SE3_box]
    own = [n + 1 for n, at in enumerate(eye) if (np.abs(at) <= boxes.size_lwh_m[n] / 2 + _BODY_M).all()]
    reach = np.where(np.isfinite(deep), deep, 300.0)
    steps = np.arange(0.0, 300.0, grid.voxel_m / 2)
    rows = np.arange(0, len(rays), 25)
    found, all_of_it, near, where = [], [], [], []
    for part in np.array_split(rows, max(len(rows) // 400, 1)):
        length = np.linalg.norm(rays[part], axis=1)
        along = steps[None] / length[:, None]
        places = pose.apply((rays[part][:, None] * along[..., None]).reshape(-1, 3))
        cells = grid.voxels_of(places)
        before = (along < reach[part][:, None]).ravel() & grid.holds(cells)
        before[before] = ~np.isin(voxels.instance[tuple(cells[before].T)], own)
        far = np.abs(cells - np.repeat(ends[part], len(steps), axis=0)).max(axis=1) > 1
        free = voxels.semantics[tuple(cells[before].T)] == FREE
        all_of_it.append(free)
        found.append(free[far[before]])
        where.append(np.ravel_multi_index(cells[before & far].T, grid.size))
        inner = np.clip(cells[before][far[before]], 1, np.array(grid.size) - 2)
        blocked = inner[~found[-1]]
        beside = (voxels.semantics[tuple((blocked[:, None] + _AROUND).T)] == FREE).any(axis=0)
        near.append(np.concatenate([np.ones(int(found[-1].sum()), bool), beside]))
    shares = {"air": found, "air_near": near, "air_strictly": all_of_it, "places": where}
    return {name: np.concatenate(parts) for name, parts in shares.items()}


def _clean(image: Image, voxels: Occupancy, depth_m: Any, ids: Any, number: Any) -> np.ndarray:
    """Return for movers' voxels in an image whether their place shows their object, or what is nearer."""
    grid = voxels.grid
    cells = np.argwhere(voxels.instance > 0)[::5]
    at = image.map_SE3_optical.apply_inverse(grid.centres_map_m(cells))
    spread = 0.87 * grid.voxel_m
    with np.errstate(invalid="ignore", divide="ignore"):
        px = image.project(grid.centres_map_m(cells))
        half = image.intrinsic[0, 0] * spread / at[:, 2]
    height, width = ids.shape
    seen = (
        (at[:, 2] > 1.0)
        & (px > half[:, None]).all(axis=1)
        & (px < np.array([width, height]) - half[:, None]).all(axis=1)
    )
    good = []
    for cell, (x, y), h, deep in zip(cells[seen], px[seen], half[seen], at[seen, 2], strict=True):
        window = np.s_[int(y - h) : int(y + h) + 1, int(x - h) : int(x + h) + 1]
        own = number[np.minimum(ids[window], len(number) - 1)] == voxels.instance[tuple(cell)]
        good.append(bool(own.any() or (depth_m[window] < deep + spread).any()))
    return np.array(good, dtype=bool)


def main() -> None:
    """Compare the named datasets, each with a scan of its own images."""
    parser = argparse.ArgumentParser(prog="scripts/trial occupancy-pixels")
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--kept", type=Path, required=True, help="folder for scans")
    parser.add_argument("--voxel-m", type=float, default=0.8)
    options = parser.parse_args()
    bad = 0
    times = 0.8 / options.voxel_m
    whole = GRIDS["swarm"]
    low_m = (
        whole.low_m[0] / times,
        whole.low_m[1] / times,
        whole.low_m[2] / times,
    )  # the ground stays in the middle of a voxel
    size = (whole.size[0], whole.size[1], round(whole.size[2] * times))
    shape = dataclasses.replace(whole, size=size, voxel_m=options.voxel_m, low_m=low_m)
    for folder in options.datasets:
        data = uavsim.open(folder)
        for town in sorted({scene.town for scene in data}):
            labeller = Labeller.of(data, town, shape, scans=(), kept=options.kept)
            found = compare_pixels(data, labeller)
            below = [name for name, bar in BARS.items() if found[name][0] < bar]
            bad += bool(below)
            said = ", ".join(f"{name} {share:.5f} of {of}" for name, (share, of) in sorted(found.items()))
            failed = f"; below the bar: {', '.join(below)}" if below else ""
            print(f"{town}, {options.voxel_m} m: {said}{failed}", flush=True)
    sys.exit(1 if bad else 0)
