"""All cameras at one tick, or an error: the only place where images meet poses and truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uavsim.capture.masks import MaskBinder, MaskView
from uavsim.errors import MissedTick
from uavsim.geometry import pinhole
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
    return {
        spec.name: pinhole.intrinsic(width_px=spec.width_px, height_px=spec.height_px, fov_deg=spec.fov_deg)
        for spec in plan.rig
    }


def assemble_capture(
    plan: ScenePlan,
    *,
    poses: Sequence[CameraPose],
    readings: Sequence[Reading],
    states: ActorStates,
    binder: MaskBinder,
    first: bool = False,
) -> list[CameraCapture]:
    """Put one tick's images together, camera by camera, and translate the masks.

    Args:
        plan: says which camera has which sensors.
        poses: of this tick, in the order of ``plan.channels``.
        readings: of this tick, each proven to be of it.
        states: the actors at this tick.
        binder: learns from the masks, or refuses them.
        first: the scene's first; what has changed since a measurement before is unknown.

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
    views = {}
    for pose in poses:
        mask = by_channel[pose.channel].get(INSTANCE)
        if mask is not None:
            views[pose.channel] = MaskView(pose, matrices[pose.camera], *mask_pixels.split(mask.data))
    binder.learn(list(views.values()), states)
    captures = []
    for pose in poses:
        taken = by_channel[pose.channel]
        data: dict[str, Any] = {
            name: _known(reading, specs[pose.camera], first=first) for name, reading in taken.items()
        }
        view = views.get(pose.channel)
        if view is not None:
            data[INSTANCE] = (binder.translate(view.ids), view.tags)
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
