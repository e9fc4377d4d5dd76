"""All cameras at one tick, or an error: the only place where images meet poses and truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uavsim.capture.masks import MaskBinder, MaskView, Spread
from uavsim.errors import MissedTick
from uavsim.images import mask_pixels
from uavsim.records.modalities import INSTANCE, RGB, modality
from uavsim.records.plan import CameraSpec, ScenePlan
from uavsim.records.recording import ActorStates
from uavsim.simulate.ports import CameraPose, Reading
from uavsim.typing import AnyArray, FloatArray

__all__ = ["CameraCapture", "assemble_capture", "intrinsics"]


@dataclass(frozen=True, slots=True, eq=False)
class CameraCapture:
    """What one camera saw.

    Attributes:
        size_px: width, height.
        data: modality -> what was taken, as ``Modality.encode`` wants it.
        owners: keep the simulator's buffers alive.
    """

    pose: CameraPose
    intrinsic: FloatArray
    size_px: tuple[int, int]
    data: dict[str, Any]
    owners: tuple[object, ...] = ()


def intrinsics(plan: ScenePlan) -> dict[str, FloatArray]:
    """Return the (3, 3) intrinsic matrix of every camera of the rig, by camera name."""
    return {spec.name: spec.intrinsic for spec in plan.rig}


def assemble_capture(
    plan: ScenePlan,
    *,
    poses: Sequence[CameraPose],
    readings: Sequence[Reading],
    states: ActorStates,
    binder: MaskBinder,
    first: bool = False,
    spread: Spread = map,
) -> list[CameraCapture]:
    """Put one tick's images together, camera by camera, and translate the masks.

    Args:
        plan: says which camera has which sensors.
        poses: of this tick, in the order of ``plan.channels``.
        readings: of this tick, each proven to be of it.
        states: the actors at this tick.
        binder: learns from the masks, or refuses them.
        first: the scene's first; what has changed since a measurement before is unknown.
        spread: ``map``, or one that works on several cameras at once.

    Raises:
        MissedTick: an image that the rig asks for is not there, or two cameras delivered the same image.
    """
    _refuse_twins([reading for reading in readings if reading.modality == RGB])
    by_channel: dict[str, dict[str, Reading]] = {pose.channel: {} for pose in poses}
    for reading in readings:
        by_channel[reading.channel][reading.modality] = reading
    specs = {spec.name: spec for spec in plan.rig}
    matrices = intrinsics(plan)
    for pose in poses:
        for sensor in specs[pose.camera].sensors:
            if sensor not in by_channel[pose.channel]:
                raise MissedTick(f"{pose.channel} has no {sensor} image")
    masked = [pose for pose in poses if INSTANCE in by_channel[pose.channel]]
    masks = spread(lambda pose: mask_pixels.split(by_channel[pose.channel][INSTANCE].data), masked)
    views = [MaskView(pose, matrices[pose.camera], *mask) for pose, mask in zip(masked, masks, strict=True)]
    binder.learn(views, states, spread=spread)
    bound = dict(zip((pose.channel for pose in masked), spread(binder.bound, views), strict=True))
    captures = []
    for pose in poses:
        taken = by_channel[pose.channel]
        data: dict[str, Any] = {
            name: _known(reading, specs[pose.camera], first=first) for name, reading in taken.items()
        }
        if pose.channel in bound:
            data[INSTANCE] = bound[pose.channel]
        captures.append(
            CameraCapture(
                pose=pose,
                intrinsic=matrices[pose.camera],
                size_px=(specs[pose.camera].width_px, specs[pose.camera].height_px),
                data=data,
                owners=tuple(reading.owner for name, reading in taken.items() if name != INSTANCE),
            )
        )
    return captures


def _known(reading: Reading, spec: CameraSpec, *, first: bool) -> AnyArray:
    unknown = modality(reading.modality).unknown
    return unknown(spec.width_px, spec.height_px) if first and unknown is not None else reading.data


def _refuse_twins(images: Sequence[Reading]) -> None:
    """Simulators are known to answer several cameras with one buffer; two equal images are never both right."""
    by_probe: dict[bytes, Reading] = {}
    for image in images:
        probe = np.ascontiguousarray(image.data[::8, ::8]).tobytes()
        twin = by_probe.setdefault(probe, image)
        if twin is not image and np.array_equal(twin.data, image.data):
            raise MissedTick(f"{twin.channel} and {image.channel} delivered the same image")
