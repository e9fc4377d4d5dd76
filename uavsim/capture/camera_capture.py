"""All cameras at one tick, or an error: the only place where images meet poses and truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uavsim.capture.masks import MaskBinder, MaskView, split_mask
from uavsim.errors import MissedTick
from uavsim.geometry import pinhole
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorStates
from uavsim.simulate.ports import CameraPose, RawImage
from uavsim.typing import AnyArray, FloatArray, UInt8Array, UInt16Array

__all__ = ["CameraCapture", "assemble_capture", "intrinsics"]


@dataclass(frozen=True, slots=True, eq=False)
class CameraCapture:
    """What one camera saw: rgb (H, W, 3) blue first; mask ids and tags (H, W); depth (H, W) metres; None if not taken."""

    pose: CameraPose
    intrinsic: FloatArray
    size_px: tuple[int, int]  # width, height
    rgb: AnyArray | None
    mask_ids: UInt16Array | None
    mask_tags: UInt8Array | None
    depth_m: AnyArray | None
    owner: object  # keeps the simulator's buffers alive


def intrinsics(plan: ScenePlan) -> dict[str, FloatArray]:
    """Return the (3, 3) intrinsic matrix of every camera of the rig, by camera name."""
    return {
        spec.name: pinhole.intrinsic(width_px=spec.width_px, height_px=spec.height_px, fov_deg=spec.fov_deg)
        for spec in plan.rig
    }


def assemble_capture(
    plan: ScenePlan,
    *,
    poses: Sequence[CameraPose],
    images: Sequence[RawImage],
    states: ActorStates,
    binder: MaskBinder,
) -> list[CameraCapture]:
    """Put one tick's images together, camera by camera, and translate the masks.

    Args:
        plan: says which camera has which sensors.
        poses: of this tick, in the order of ``plan.channels``.
        images: of this tick, each proven to be of it.
        states: the actors at this tick.
        binder: learns from the masks, or refuses them.

    Raises:
        MissedTick: an image that the rig asks for is not there, or two cameras delivered the same image.
    """
    _refuse_twins([image for image in images if image.sensor == "rgb"])
    by_key = {(image.channel, image.sensor): image for image in images}
    specs = {spec.name: spec for spec in plan.rig}
    matrices = intrinsics(plan)
    for pose in poses:
        for sensor in specs[pose.camera].sensors:
            if sensor != "lidar" and (pose.channel, sensor) not in by_key:
                raise MissedTick(f"{pose.channel} has no {sensor} image")
    views = []
    for pose in poses:
        mask = by_key.get((pose.channel, "instance"))
        if mask is not None:
            ids, tags = split_mask(mask.pixels)
            views.append(MaskView(pose, matrices[pose.camera], ids, tags))
    binder.learn(views, states)
    view_of = {view.pose.channel: view for view in views}
    captures = []
    for pose in poses:
        rgb, depth = by_key.get((pose.channel, "rgb")), by_key.get((pose.channel, "depth"))
        view = view_of.get(pose.channel)
        captures.append(
            CameraCapture(
                pose=pose,
                intrinsic=matrices[pose.camera],
                size_px=(specs[pose.camera].width_px, specs[pose.camera].height_px),
                rgb=None if rgb is None else rgb.pixels[..., :3],
                mask_ids=None if view is None else binder.translate(view.ids),
                mask_tags=None if view is None else np.ascontiguousarray(view.tags),
                depth_m=None if depth is None else depth.pixels,
                owner=(rgb, depth),
            )
        )
    return captures


def _refuse_twins(images: Sequence[RawImage]) -> None:
    """Simulators are known to answer several cameras with one buffer; two equal images are never both right."""
    by_probe: dict[bytes, RawImage] = {}
    for image in images:
        probe = np.ascontiguousarray(image.pixels[::8, ::8]).tobytes()
        twin = by_probe.setdefault(probe, image)
        if twin is not image and np.array_equal(twin.pixels, image.pixels):
            raise MissedTick(f"{twin.channel} and {image.channel} delivered the same image")
