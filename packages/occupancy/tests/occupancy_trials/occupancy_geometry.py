"""Hold what stands against the headless simulator's own triangles, of which the scan knows nothing.

``scripts/trial occupancy-geometry --kept FOLDER DATASET [DATASET ...]`` prints precision and recall by class at 0.8 and 0.4 m.

``--scan FOLDER`` names a dataset that scans the town, as ``uavsim occupancy`` does.

Points are drawn on every triangle in reach. Precision: of occupied voxels without an object, those that hold a point, or have
one beside them. Recall: of voxels that hold points and that some ray reached, those that are occupied, or have one beside
them that is; ``unreached`` is the share that none did, below roofs and behind walls. ``shown``: recall of voxels in which an
image of the dataset shows a point, within 10 cm of what its pixel measured: what is lost there was seen and forgotten, the
rest of what is missed was never seen.
"""

import argparse
import dataclasses
from pathlib import Path
from typing import Final

import numpy as np
from headless_simulator.scene import Mesh
from headless_simulator.towns.load import load_town

import uavsim
from uavsim.access import Dataset
from uavsim_occupancy.classes import FREE, NAMES, UNKNOWN, class_of_tags
from uavsim_occupancy.grids import GRIDS, Grid
from uavsim_occupancy.run import Labeller

__all__ = ["shown_voxels", "true_voxels"]

_POINTS_A_FACE: Final = 20  # of a voxel's size
_NEAR_M: Final = 0.1
_LARGE_M: Final = 60.0  # a face that is no wall: such ground reaches out of sight


def true_voxels(mesh: Mesh, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Return (X, Y, Z) classes of voxels that hold a point of a triangle, of two the rarer, else ``FREE``; and the points."""
    corners = (mesh.vertices_m.astype(np.float64) * [1, -1, 1])[mesh.triangles]  # the simulator's y is minus the map's
    kinds = class_of_tags()[mesh.tag]
    middle = grid.map_SE3_grid.apply(np.asarray(grid.size, dtype=np.float64) / 2 * grid.voxel_m)
    reach = np.linalg.norm(np.array(grid.size)) * grid.voxel_m / 2
    spread = np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    near = (np.linalg.norm(corners.mean(axis=1) - middle, axis=1) < reach + spread) & (kinds < FREE)
    corners, kinds = corners[near], kinds[near]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    found = np.full(grid.size, FREE, dtype=np.uint8)
    rng = np.random.default_rng(1)
    order = np.argsort(-np.bincount(kinds, areas, minlength=FREE)[kinds], kind="stable")
    kept = []
    sides = np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=2).max(axis=1)
    for row in order:
        face = corners[row]
        points = _points_of(face, grid) if sides[row] > _LARGE_M else _drawn(face, float(areas[row]), grid.voxel_m, rng)
        cells = grid.voxels_of(points)
        inside = grid.holds(cells)
        found[tuple(cells[inside].T)] = kinds[row]
        kept.append(points[inside])
    return found, np.concatenate(kept)


def shown_voxels(points_map_m: np.ndarray, grid: Grid, data: Dataset) -> np.ndarray:
    """Return (X, Y, Z) whether an image of a dataset shows one of (N, 3) points of a voxel, by its depth and nothing else."""
    shown = np.zeros(grid.size, dtype=bool)
    left = points_map_m
    for image in (image for scene in data for sample in scene for image in sample.images):
        deep = image.map_SE3_optical.apply_inverse(left)[:, 2]
        with np.errstate(invalid="ignore"):
            px = np.where((deep > 0.5)[:, None], image.project(left), -1.0)
            there = (px >= 0).all(axis=1) & (px < image.size_px).all(axis=1)
        u, v = px[there].astype(int).T
        there[there] = np.abs(image.depth_m()[v, u] - deep[there]) < _NEAR_M
        shown[tuple(grid.voxels_of(left[there]).T)] = True
        left = left[~shown[tuple(grid.voxels_of(left).T)]]
    return shown


def _drawn(face: np.ndarray, area_m2: float, voxel_m: float, rng: np.random.Generator) -> np.ndarray:
    a, b = rng.random((2, int(area_m2 / voxel_m**2 * _POINTS_A_FACE) + 2))
    a, b = np.where(a + b > 1, 1 - a, a), np.where(a + b > 1, 1 - b, b)
    return face[0] + a[:, None] * (face[1] - face[0]) + b[:, None] * (face[2] - face[0])


def _points_of(face: np.ndarray, grid: Grid) -> np.ndarray:
    """Return the points of a large face above the grid's columns, four to a voxel's side; none of an upright one."""
    low = grid.map_SE3_grid.translation_m[:2]
    sides = [np.arange(0.125, n, 0.25) * grid.voxel_m + first for n, first in zip(grid.size, low, strict=False)]
    at = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    edges = np.stack([face[1, :2] - face[0, :2], face[2, :2] - face[0, :2]], axis=1)
    if abs(np.linalg.det(edges)) < 1e-6:
        return np.zeros((0, 3))
    a, b = np.linalg.solve(edges, (at - face[0, :2]).T)
    inside = (a >= 0) & (b >= 0) & (a + b <= 1)
    return face[0] + a[inside, None] * (face[1] - face[0]) + b[inside, None] * (face[2] - face[0])


def main() -> None:
    """Compare the named datasets' first samples."""
    parser = argparse.ArgumentParser(prog="scripts/trial occupancy-geometry")
    parser.add_argument("datasets", type=Path, nargs="+")
    parser.add_argument("--scan", type=Path, action="append", default=[], help="a dataset that scans the town, too")
    parser.add_argument("--kept", type=Path, required=True, help="folder for scans")
    options = parser.parse_args()
    scans = [uavsim.open(folder) for folder in options.scan]
    for folder in options.datasets:
        data = uavsim.open(folder)
        scene = next(iter(data))
        labeller = Labeller.of(data, scene.town, GRIDS["swarm"], scans=scans, kept=options.kept)
        mesh = load_town(scene.town).mesh
        for voxel_m in (0.8, 0.4):
            shape = dataclasses.replace(
                GRIDS["swarm"],
                size=(200, 200, 52),
                voxel_m=voxel_m,
                low_m=(-100 * voxel_m, -100 * voxel_m, -2.5 * voxel_m),
            )
            voxels = dataclasses.replace(labeller, shape=shape).label(scene, 0, "swarm").voxels
            print(f"{scene.town}, {voxel_m} m:", flush=True)
            truth, points = true_voxels(mesh, voxels.grid)
            missed = voxels.semantics[tuple(voxels.grid.voxels_of(points).T)] == FREE
            lost = shown_voxels(points[missed], voxels.grid, data)
            _show(truth, voxels.semantics, voxels.instance, lost)


def _grown(mask: np.ndarray) -> np.ndarray:
    """Return (X, Y, Z) whether a voxel or one beside it is marked."""
    grown, padded = np.zeros(mask.shape, dtype=bool), np.pad(mask, 1)
    for shift in np.ndindex(3, 3, 3):
        grown |= padded[tuple(slice(s, s + n) for s, n in zip(shift, mask.shape, strict=True))]
    return grown


def _share(values: np.ndarray) -> str:
    return f"{values.mean():.4f}" if values.size else "-"


def _shown(semantics: np.ndarray, lost: np.ndarray) -> str:
    """Return the recall of what was shown: what is occupied, of that and what is lost."""
    found = int((semantics < FREE).sum())
    return f"{found / max(found + int(lost.sum()), 1):.4f}"


def _show(truth: np.ndarray, semantics: np.ndarray, instance: np.ndarray, lost: np.ndarray) -> None:
    still, matter = instance == 0, truth < FREE
    near_matter, near_label = _grown(matter), _grown(semantics < FREE)
    for kind in [*np.unique(truth[matter]).tolist(), None]:
        labelled = still & ((semantics < FREE) if kind is None else (semantics == kind))
        there = still & (matter if kind is None else truth == kind)
        reached = there & (semantics != UNKNOWN)
        same = near_label if kind is None else _grown(semantics == kind)
        print(
            f"  {'all' if kind is None else NAMES[kind]}: precision {_share(matter[labelled])}, beside"
            f" {_share(near_matter[labelled])} of {labelled.sum()}; recall {_share(semantics[reached] < FREE)}, beside"
            f" {_share(near_label[reached])}, with its class {_share(same[reached])} of {reached.sum()};"
            f" lost though shown {(lost & reached).sum()}, shown {_shown(semantics[reached], lost[reached])};"
            f" unreached {1 - reached.sum() / max(there.sum(), 1):.3f}",
            flush=True,
        )
