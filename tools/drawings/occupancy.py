"""Draw a street in voxels, from above and at eye level: ``python -m tools.drawings.occupancy VOXELS TOKEN DRAWING.png``.

``VOXELS`` is an output folder of ``uavsim occupancy`` for the swarm's grid, ``TOKEN`` a sample. The left column shows the
first agent's voxels, the right one those of all agents. Rays are cast in numpy; shading depends on a face's direction. The
drawing in docs/occupancy.md is of ``scripts/demo``: the first token by name in ``scene_0000``.
"""

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.files.whole import write_whole
from uavsim.images.codec import encode_png
from uavsim.occupancy.classes import FREE
from uavsim.occupancy.files import read_voxels

_SKY: Final = (224, 233, 245)
_COLOURS: Final = np.array([
    (214, 178, 140), (112, 128, 144), (220, 20, 60), (255, 127, 80), (255, 140, 0), (233, 150, 70),
    (255, 61, 99), (0, 60, 230), (47, 79, 79), (255, 140, 0), (255, 99, 71), (112, 112, 122),
    (175, 0, 75), (170, 130, 170), (120, 180, 50), (214, 178, 130), (0, 150, 20), _SKY,
])  # fmt: skip
"""nuScenes-lidarseg's own, with paler streets and houses."""
_FACES: Final = np.array([[0.72, 0.72], [0.85, 0.85], [0.6, 1.0]])  # brightness of faces towards -axis, +axis
_SIZE_PX: Final = (480, 270)
_VIEWS: Final = {  # of the swarm's middle: eye and target, metres from the grid's first corner, focal length
    "above": ((30.0, 45.0, 75.0), (108.0, 108.0, 0.0), 300.0),
    "eye level": ((84.0, 101.0, 4.0), (130.0, 105.0, 10.0), 330.0),
}


def draw_street(path: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return an (H, W, 3) uint8 drawing of a voxel file; rows are views, columns are the first agent and all agents."""
    arrays, about = read_voxels(path)
    matter = np.where(arrays["semantics"] < FREE, arrays["semantics"], FREE)
    alone = np.where(arrays["seen"] & 1 != 0, matter, FREE)
    together = np.where(arrays["seen"] != 0, matter, FREE)
    voxel_m = about["grid"]["voxel_m"]
    rows = [
        np.concatenate(
            [_drawn(grid, np.array(eye), np.array(at), focal, voxel_m) for grid in (alone, together)], axis=1
        )
        for eye, at, focal in _VIEWS.values()
    ]
    return np.concatenate(rows)


def _drawn(grid: Any, eye_m: Any, at_m: Any, focal_px: float, voxel_m: float) -> Any:
    ahead = (at_m - eye_m) / np.linalg.norm(at_m - eye_m)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    down = np.cross(ahead, right)
    u, v = np.meshgrid(np.arange(_SIZE_PX[0]) + 0.5, np.arange(_SIZE_PX[1]) + 0.5)
    x, y = (u - _SIZE_PX[0] / 2) / focal_px, (v - _SIZE_PX[1] / 2) / focal_px
    rays = (ahead + x[..., None] * right + y[..., None] * down).reshape(-1, 3)
    kind, axis = _met(grid, eye_m / voxel_m, rays)
    faces = _FACES[axis, (rays[np.arange(len(rays)), axis] < 0).astype(int)]
    drawn = np.where((kind < FREE)[:, None], _COLOURS[kind] * faces[:, None], _SKY)
    return drawn.reshape(*u.shape, 3).round().astype(np.uint8)


def _met(grid: Any, eye: Any, rays: Any) -> tuple[Any, Any]:
    """Return (N,) classes of the first occupied voxels of (N, 3) rays from an eye in voxels, and (N,) axes of the faces."""
    rays = np.where(rays == 0.0, 1e-12, rays)
    near = np.minimum(-eye / rays, (np.array(grid.shape) - eye) / rays).max(axis=1).clip(0.0)
    at = np.clip(np.floor(eye + near[:, None] * rays).astype(int), 0, np.array(grid.shape) - 1)
    step = np.sign(rays).astype(int)
    beyond, per = (at + (step > 0) - eye) / rays, np.abs(1.0 / rays)
    kind, axis = np.full(len(rays), FREE), np.zeros(len(rays), int)
    left = np.arange(len(rays))
    while len(left):
        axis[left] = nearest = beyond[left].argmin(axis=1)
        at[left, nearest] += step[left, nearest]
        beyond[left, nearest] += per[left, nearest]
        left = left[((at[left] >= 0) & (at[left] < grid.shape)).all(axis=1)]
        kind[left] = grid[tuple(at[left].T)]
        left = left[kind[left] == FREE]
    return kind, axis


if __name__ == "__main__":
    folder, token, drawing = sys.argv[1:]
    found = next(Path(folder).glob(f"*/swarm/{token}.parquet"))
    write_whole(Path(drawing), encode_png(draw_street(found)))
