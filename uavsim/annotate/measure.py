"""Measurement of a keyframe's boxes where its images are: in the client's memory, before they are files.

The recording keeps the counts together with the hash of what was measured. Labels take them when their boxes and cameras have
that hash, and otherwise (other options, another version, no counts at all) read the masks again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from uavsim.annotate.actors import chosen_actors
from uavsim.annotate.boxes import rows_in_range
from uavsim.annotate.options import options_of_plan
from uavsim.annotate.sizes import size_of
from uavsim.annotate.solids import Camera, Images, SeenInView, Solids
from uavsim.geometry.se3 import SE3
from uavsim.records.modalities import Mask
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates, DroneState, MeasuredBoxes
from uavsim.simulate.ports import SensorPose
from uavsim.typing import AnyArray, IntArray

__all__ = ["SceneMeasurement", "measured_hash"]

_METHOD: Final = b"2"  # counted otherwise, by a later version, it has another number


def measured_hash(solids: Solids, instance_id: IntArray, cameras: Sequence[Camera]) -> str:
    """Return the hash of all that the counts of one keyframe depend on, but for the images."""
    parts = [_METHOD, instance_id.astype("<i8").tobytes(), _bytes_of(solids.map_SE3_box), solids.half_m.tobytes()]
    for camera in cameras:
        parts += [_bytes_of(camera.map_SE3_optical), camera.intrinsic.tobytes()]
        parts.append(f"{camera.width_px}x{camera.height_px}".encode())
        parts += [] if camera.lens is None else [repr(camera.lens).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _bytes_of(pose: SE3) -> bytes:
    return pose.quat_wxyz.tobytes() + pose.translation_m.tobytes()


class SceneMeasurement:
    """The common part of all keyframes of a scene; called, it begins the measurement of one."""

    def __init__(self, plan: ScenePlan, actors: Sequence[ActorInfo]) -> None:
        """Choose the actors that the plan's options ask for, and size their boxes."""
        self._options = options_of_plan(plan)
        chosen = sorted((info for info, _ in chosen_actors(actors, self._options)), key=lambda info: info.instance_id)
        self._ids = np.array([info.instance_id for info in chosen], dtype=np.int64)
        sizes = [size_of(info) for info in chosen]
        self._half_m = np.array([half for half, _, _ in sizes], dtype=np.float64).reshape(-1, 3)
        self._actor_SE3_box = SE3.stack([box for _, box, _ in sizes])

    def __call__(
        self, states: ActorStates, drones: Sequence[DroneState], poses: Sequence[SensorPose]
    ) -> KeyframeMeasurement:
        """Place the boxes of a keyframe."""
        rows = rows_in_range(states, drones, self._ids, range_m=self._options.range_m)
        instance_id = states.instance_id[rows].astype(np.int64)
        actor = np.searchsorted(self._ids, instance_id)
        solids = Solids.of(states.map_SE3_actor[rows] @ self._actor_SE3_box[actor], self._half_m[actor])
        cameras = {pose.channel: _camera(pose) for pose in poses}
        return KeyframeMeasurement(solids, instance_id, cameras)


class KeyframeMeasurement:
    """The boxes of one keyframe; ``see`` may be called from several threads, once a camera."""

    def __init__(self, solids: Solids, instance_id: IntArray, cameras: Mapping[str, Camera]) -> None:
        """Find where the cameras, by channel, may see the boxes."""
        from uavsim.annotate.reach import reaches  # its rays are compiled code's, which the flow does not need
        from uavsim.annotate.visibility import rows_of_ids, see

        self._measured, self._row_of_id = see, rows_of_ids(instance_id)
        self._solids, self._instance_id, self._cameras = solids, instance_id, cameras
        self._reach = dict(zip(cameras, reaches(solids, list(cameras.values())), strict=True))
        self._seen: dict[str, SeenInView] = {}

    def see(self, channel: str, mask: Mask, *, depth_m: AnyArray | None) -> None:
        """Measure one camera's images, depth as it is stored."""
        self._seen[channel] = self._measured(
            self._solids,
            self._instance_id,
            self._cameras[channel],
            Images(mask.ids, mask.tags, depth_m, mask.runs),
            reach=self._reach[channel],
            row_of_id=self._row_of_id,
        )

    def result(self, channels: Sequence[str]) -> MeasuredBoxes | None:
        """Return what was measured, cameras in this order; None where one was not."""
        if any(channel not in self._seen for channel in channels):
            return None
        seen = [self._seen[channel] for channel in channels]
        columns = SeenInView.__dataclass_fields__
        return MeasuredBoxes(
            of_what=measured_hash(self._solids, self._instance_id, [self._cameras[channel] for channel in channels]),
            views=np.array([len(view.row) for view in seen], dtype=np.int64),
            ignored_views=np.array([len(view.ignored) for view in seen], dtype=np.int64),
            **{name: np.concatenate([getattr(view, name) for view in seen]) for name in columns},
        )


def _camera(pose: SensorPose) -> Camera:
    return Camera.of(pose.map_SE3_optical, pose.sensor.spec.camera)
