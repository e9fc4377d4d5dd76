"""Drawing of predicted and true boxes of one sample, in all camera images and in a bird's-eye view."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import cv2
import numpy as np
import numpy.typing as npt

import uavsim
from uavsim_baselines.bev.grid import Grid, map_T_grid
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.results import read_results
from uavsim_baselines.detector.network import grid_of
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.scores import DETECTIONS

__all__ = ["draw_run", "draw_sample", "frame_named"]

Pixels: TypeAlias = npt.NDArray[np.uint8]
FloatArray: TypeAlias = npt.NDArray[np.float64]

TRUE_RGB: Final = (70, 255, 120)
FOUND_RGB: Final = (255, 120, 30)
_TEXT_RGB: Final = (255, 255, 255)
_TILE_WIDTH_PX: Final = 560
_DIM: Final = 0.75  # brightness of the ground, for contrast with the lines
_EDGES: Final = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
_SUBPIXEL_BITS: Final = 4


def draw_run(
    run: Path, config: Config, *, scene: str | None, sample: int, min_score: float, split: str, to: Path
) -> Path:
    """Draw a run's predictions in one sample of a split and write the image; returns its path.

    Raises:
        BaselineError: no such scene or sample, or the run has no predictions of it.
    """
    frame = frame_named(read_frames(config.data, split), scene=scene, sample=sample)
    rows, about = read_results(run / DETECTIONS)
    if frame.token not in rows:
        raise BaselineError(
            f"{run / DETECTIONS}: has no predictions of {frame.scene}, sample {frame.number}; predict its split"
        )
    title = f"{frame.scene}, sample {frame.number}, sharing {about.get('sharing', config.sharing.kind)}"
    pixels = draw_sample(frame, rows[frame.token], grid=grid_of(config), min_score=min_score, title=title)
    to.parent.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(to), pixels[:, :, ::-1]):
        raise BaselineError(f"{to}: cannot be written; name a .png or .jpg file")
    return to


def frame_named(frames: Sequence[Frame], *, scene: str | None, sample: int) -> Frame:
    """Return a sample of a scene by number; default: the first scene.

    Raises:
        BaselineError: there is none.
    """
    names = list(dict.fromkeys(frame.scene for frame in frames))
    chosen = names[0] if scene is None else scene
    if chosen not in names:
        raise BaselineError(f"--scene {chosen}: not in this split (scenes: {', '.join(names)})")
    of_scene = {frame.number: frame for frame in frames if frame.scene == chosen}
    if sample not in of_scene:
        raise BaselineError(f"--sample {sample}: {chosen} has samples {min(of_scene)} to {max(of_scene)}")
    return of_scene[sample]


def draw_sample(
    frame: Frame, found: Sequence[Mapping[str, Any]], *, grid: Grid, min_score: float, title: str
) -> Pixels:
    """Return an (H, W, 3) RGB image: all cameras on the left, the ego's grid on the right.

    Args:
        frame: sample with the visible true boxes.
        found: rows of nuScenes' results.
        grid: grid of the ego, the first drone.
        min_score: lowest score of drawn boxes.
        title: title of the image.
    """
    true = _corners_of_truth(frame)
    rows = [row for row in found if row["detection_score"] >= min_score]
    guessed = np.array([_corners_of_row(row) for row in rows]).reshape(-1, 8, 3)
    tiles = [_tile(camera, true, guessed) for row in frame.cameras for camera in row]
    columns = math.ceil(math.sqrt(len(tiles)))
    while len(tiles) % columns:
        tiles.append(np.zeros_like(tiles[0]))
    left = np.concatenate([np.concatenate(tiles[k : k + columns], 1) for k in range(0, len(tiles), columns)])
    right = _from_above(frame, true, guessed, grid=grid, size_px=len(left))
    image = np.concatenate([left, right], axis=1)
    head = np.zeros((34, image.shape[1], 3), np.uint8)
    _write(head, title, (10, 24), _TEXT_RGB)
    right_of = image.shape[1] - len(left)
    _write(head, f"true: {len(true)}", (right_of, 24), TRUE_RGB)
    _write(head, f"found with a score of {min_score:g} or more: {len(guessed)}", (right_of + 120, 24), FOUND_RGB)
    return np.concatenate([head, image])


def _tile(camera: uavsim.Image, true: FloatArray, guessed: FloatArray) -> Pixels:
    if camera.exists:
        pixels = np.ascontiguousarray(camera.pixels())
    else:
        pixels = np.zeros((camera.size_px[1], camera.size_px[0], 3), np.uint8)
    scale = _TILE_WIDTH_PX / pixels.shape[1]
    pixels = np.asarray(cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    for corners, colour in ((true, TRUE_RGB), (guessed, FOUND_RGB)):
        for box in camera.project(corners) * scale:
            _wireframe(pixels, box, colour)
    _write(pixels, camera.channel, (8, 20), _TEXT_RGB)
    return pixels


def _wireframe(pixels: Pixels, corners_px: FloatArray, colour: tuple[int, int, int]) -> None:
    height, width = pixels.shape[:2]
    in_front = np.isfinite(corners_px).all()
    if not in_front or (corners_px.max(0) < 0).any() or (corners_px.min(0) > (width, height)).any():
        return
    for a, b in _EDGES:
        _line(pixels, corners_px[a], corners_px[b], colour)


def _from_above(frame: Frame, true: FloatArray, guessed: FloatArray, *, grid: Grid, size_px: int) -> Pixels:
    """Return the ego's grid as an image with the heading upwards."""
    map_T_ego = map_T_grid(frame.map_T_flu[0]).numpy()
    pixels = _ground(frame, map_T_ego, grid=grid, size_px=size_px)
    scale = size_px / (2.0 * grid.half_m)

    def to_pixels(points_m: FloatArray) -> FloatArray:
        inside = (points_m - map_T_ego[:3, 3]) @ map_T_ego[:3, :3]
        across: FloatArray = np.stack([grid.half_m - inside[..., 1], grid.half_m - inside[..., 0]], axis=-1) * scale
        return across

    for corners, colour in ((true, TRUE_RGB), (guessed, FOUND_RGB)):
        for box in corners:
            outline = to_pixels(box[4:])
            for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
                _line(pixels, outline[a], outline[b], colour)
            _line(pixels, outline.mean(0), outline[:2].mean(0), colour)
    for number, pose in zip(frame.drones, frame.map_T_flu.numpy(), strict=True):
        u, v = to_pixels(pose[:3, 3])
        cv2.drawMarker(pixels, (round(u), round(v)), _TEXT_RGB, cv2.MARKER_TILTED_CROSS, 12, 2)
        name = number if isinstance(number, str) else f"drone {number}"
        _write(pixels, name, (round(u) + 8, round(v) - 8), _TEXT_RGB)
    return pixels


def _ground(frame: Frame, map_T_ego: FloatArray, *, grid: Grid, size_px: int) -> Pixels:
    """Project the camera images onto the plane at map height 0; the ego's cameras take precedence, unseen parts are black."""
    line = grid.half_m - (np.arange(size_px) + 0.5) * (2.0 * grid.half_m / size_px)
    x, y = np.meshgrid(line, line, indexing="ij")
    points_m = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3) @ map_T_ego[:3, :3].T + map_T_ego[:3, 3]
    ground, known = np.zeros((len(points_m), 3), np.uint8), np.zeros(len(points_m), bool)
    for camera in (camera for row in frame.cameras for camera in row if camera.exists):
        width, height = camera.size_px
        u, v = camera.project(points_m).T
        with np.errstate(invalid="ignore"):
            visible = ~known & (u >= 0) & (v >= 0) & (u < width) & (v < height)
        ground[visible] = camera.pixels()[v[visible].astype(int), u[visible].astype(int)]
        known |= visible
    return np.ascontiguousarray((ground * _DIM).astype(np.uint8).reshape(size_px, size_px, 3))


def _corners_of_truth(frame: Frame) -> FloatArray:
    boxes = frame.boxes
    parts = zip(boxes.centre_m.numpy(), boxes.size_lwh_m.numpy(), boxes.yaw_rad.tolist(), strict=True)
    return np.array([_corners(*part) for part in parts]).reshape(-1, 8, 3)


def _corners_of_row(row: Mapping[str, Any]) -> FloatArray:
    width, length, height = row["size"]
    w, _, _, z = row["rotation"]
    return _corners(np.array(row["translation"]), np.array([length, width, height]), 2.0 * math.atan2(z, w))


def _corners(centre_m: FloatArray, size_lwh_m: FloatArray, yaw_rad: float) -> FloatArray:
    """Return (8, 3) corners, metres: bottom front left, front right, rear right, rear left, then top."""
    signs = np.array([[x, y, z] for z in (-1, 1) for x, y in ((1, 1), (1, -1), (-1, -1), (-1, 1))])
    c, s = math.cos(yaw_rad), math.sin(yaw_rad)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    corners: FloatArray = centre_m + (signs * size_lwh_m / 2.0) @ turn.T
    return corners


def _line(pixels: Pixels, a: FloatArray, b: FloatArray, colour: tuple[int, int, int]) -> None:
    ends = [tuple(round(float(v) * 2**_SUBPIXEL_BITS) for v in end) for end in (a, b)]
    cv2.line(pixels, ends[0], ends[1], colour, 1, cv2.LINE_AA, _SUBPIXEL_BITS)


def _write(pixels: Pixels, text: str, at_px: tuple[int, int], colour: tuple[int, int, int]) -> None:
    x, y = at_px
    for origin_px, text_rgb in (((x + 1, y + 1), (0, 0, 0)), (at_px, colour)):
        cv2.putText(pixels, text, origin_px, cv2.FONT_HERSHEY_SIMPLEX, 0.5, text_rgb, 1, cv2.LINE_AA)
