"""Optical flow: the image motion of each pixel's surface point since the camera's previous image.

Units are those of Unreal's velocity buffer, which CARLA's camera sends: the clip-space position (-1 to 1 from left to right
and from bottom to top) minus the previous one, clipped to -2..2. So ``(x * width / 2, -y * height / 2)`` is the motion in
pixels, right and down, and the pixel minus that motion is the point's previous position.
"""

# ruff: noqa: PLR0917 (kernels take their buffers by place)
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from headless_simulator.jit import kernel
from headless_simulator.render.camera import NEAR_M, pack
from headless_simulator.render.raster import model_frames
from headless_simulator.scene import Float32, Float64, Movers, RenderedImage, UInt32, View

LONGEST: Final = 2.0  # limit of Unreal's velocity texture


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """Poses of a camera and of all movers at the camera's previous image."""

    pose: tuple[float, float, float, float, float, float]
    movers: Movers


def optical_flow(image: RenderedImage, view: View, movers: Movers, before: Before) -> Float32:
    """Compute the optical flow of each pixel; the sky is infinitely far and only rotates.

    Args:
        image: depth and ids of ``view``.
        view: the current camera.
        movers: the image's movers; new movers count as at rest.
        before: camera and movers of the previous image.

    Returns:
        (H, W, 2) float32 clip-space motion, right and up. A point behind the previous camera counts as at its near plane.
    """
    camera = pack(view)
    flow = np.empty((*image.depth_m.shape, 2), np.float32)
    motion = _motion(camera, pack(replace(view, pose=before.pose)), movers, before.movers)
    flow_kernel(image.depth_m, image.ids, movers.actor_id, motion, camera, flow)
    return flow


def _motion(camera: Float64, camera_then: Float64, movers: Movers, movers_then: Movers) -> Float64:
    """Return (N + 1, 3, 4) matrices from current to previous camera coordinates (right, down, forward).

    There is one per mover and a last one for the town. A body at rest before a camera at rest has the exact identity, so
    that its flow is exactly zero.
    """
    count = len(movers.model)
    now = np.zeros((count + 1, 3, 4))
    now[count, :, :3] = np.eye(3)
    then = now.copy()
    known, pose_then = _poses_then(movers, movers_then)
    model_frames(movers.pose, now[:count])
    model_frames(pose_then, then[:count])
    still = np.append((movers.pose == pose_then).all(axis=1) | ~known, True)
    turn = then[:, :, :3] @ now[:, :, :3].transpose(0, 2, 1)
    turn[still] = np.eye(3)
    shift_m = then[:, :, 3] - (turn @ now[:, :, 3, None])[:, :, 0]
    shift_m[still] = 0.0
    to_world, to_camera = camera[3:12].reshape(3, 3).T, camera_then[3:12].reshape(3, 3)
    motion = np.empty_like(now)
    motion[:, :, :3] = to_camera @ turn @ to_world
    motion[:, :, 3] = (turn @ camera[:3] + shift_m - camera_then[:3]) @ to_camera.T
    if np.array_equal(camera, camera_then):
        motion[still] = np.eye(3, 4)
    return motion


def _poses_then(movers: Movers, movers_then: Movers) -> tuple[npt.NDArray[np.bool_], Float64]:
    """Return (N,) whether each mover existed in the previous image, and its previous (N, 6) pose; ids ascend in both."""
    if not len(movers_then.model):
        return np.zeros(len(movers.model), bool), movers.pose
    row = np.searchsorted(movers_then.actor_id, movers.actor_id).clip(max=len(movers_then.model) - 1)
    return movers_then.actor_id[row] == movers.actor_id, movers_then.pose[row]


@kernel()
def flow_kernel(
    depth_m: Float32, ids: UInt32, actor_id: UInt32, motion: Float64, camera: Float64, out: Float32
) -> None:
    """Write the (H, W, 2) flow of each pixel to ``out``; see ``optical_flow``."""
    focal, cx, cy = camera[12], camera[13], camera[14]
    town = actor_id.shape[0]
    last = np.uint32(0)
    m = motion[town]
    for v in range(depth_m.shape[0]):
        down = (v + 0.5 - cy) / focal
        for u in range(depth_m.shape[1]):
            number = ids[v, u]
            if number != last:
                last = number
                row = np.searchsorted(actor_id, number)
                m = motion[row if row < town and actor_id[row] == number else town]
            right = (u + 0.5 - cx) / focal
            per_m = 1.0 / np.float64(
                depth_m[v, u]
            )  # lengths relative to the pixel's depth: translation vanishes at infinity
            x = m[0, 0] * right + m[0, 1] * down + m[0, 2] + m[0, 3] * per_m
            y = m[1, 0] * right + m[1, 1] * down + m[1, 2] + m[1, 3] * per_m
            z = m[2, 0] * right + m[2, 1] * down + m[2, 2] + m[2, 3] * per_m
            z = max(z, NEAR_M * per_m, 1e-6)
            out[v, u, 0] = max(-LONGEST, min(LONGEST, (right - x / z) * focal / cx))
            out[v, u, 1] = max(-LONGEST, min(LONGEST, (y / z - down) * focal / cy))
