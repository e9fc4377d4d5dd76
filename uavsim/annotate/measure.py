"""What a keyframe's images show of its boxes, measured where the images are: in the client's memory, before they are files.

The recording keeps the counts together with the hash of what was measured. Labels take them when their boxes and cameras have
that hash, and otherwise (other options, another version, no counts at all) read the masks again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.annotate.actors import chosen_actors
from uavsim.annotate.boxes import rows_in_range
from uavsim.annotate.options import options_of_plan
from uavsim.annotate.sizes import size_of
from uavsim.annotate.solids import Camera, Images, Solids
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, ActorStates, DroneState, MeasuredBoxes
from uavsim.simulate.ports import CameraPose
from uavsim.typing import AnyArray, FloatArray, IntArray, UInt8Array, UInt16Array

__all__ = ["KeyframeMeasurement", "measured_hash"]

_METHOD: Final = b"1"  # counted otherwise, by a later version, it has another number


def measured_hash(solids: Solids, instance_id: IntArray, cameras: Sequence[Camera]) -> str:
    """Return the hash of all that the counts of one keyframe depend on, but for the images."""
    parts = [_METHOD, instance_id.astype("<i8").tobytes(), _bytes_of(solids.map_SE3_box), solids.half_m.tobytes()]
    for camera in cameras:
        parts += [_bytes_of(camera.map_SE3_optical), camera.intrinsic.tobytes()]
        parts.append(f"{camera.width_px}x{camera.height_px}".encode())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _bytes_of(pose: SE3) -> bytes:
    return pose.quat_wxyz.tobytes() + pose.translation_m.tobytes()


class KeyframeMeasurement:
    """The boxes of one keyframe; ``see`` may be called from several threads, once a camera."""

    def __init__(
        self, plan: ScenePlan, actors: Sequence[ActorInfo], states: ActorStates, drones: Sequence[DroneState]
    ) -> None:
        """Place the boxes that the plan's options ask for."""
        options = options_of_plan(plan)
        chosen = sorted((info for info, _ in chosen_actors(actors, options)), key=lambda info: info.instance_id)
        ids = np.array([info.instance_id for info in chosen], dtype=np.int64)
        rows = rows_in_range(states, drones, ids, range_m=options.range_m)
        self._instance_id = states.instance_id[rows].astype(np.int64)
        actor = np.searchsorted(ids, self._instance_id)
        sizes = [size_of(info) for info in chosen]
        half_m = np.array([half for half, _, _ in sizes], dtype=np.float64).reshape(-1, 3)[actor]
        actor_SE3_box = SE3.stack([box for _, box, _ in sizes])[actor]
        self._solids = Solids.of(states.map_SE3_actor[rows] @ actor_SE3_box, half_m)
        self._seen: dict[str, tuple[Camera, dict[str, AnyArray]]] = {}

    def see(
        self,
        pose: CameraPose,
        intrinsic: FloatArray,
        size_px: tuple[int, int],
        *,
        ids: UInt16Array,
        tags: UInt8Array,
        depth_m: AnyArray | None,
    ) -> None:
        """Measure one camera's images, depth as it is stored."""
        from uavsim.annotate.visibility import see  # compiled code, which the flow does not need

        camera = Camera(pose.map_SE3_optical, intrinsic, *size_px)
        view = see(self._solids, self._instance_id, camera, Images(ids, tags, depth_m))
        columns = {name: getattr(view, name) for name in type(view).__dataclass_fields__}
        self._seen[pose.channel] = (camera, columns)

    def result(self, channels: Sequence[str]) -> MeasuredBoxes | None:
        """Return what was measured, cameras in this order; None where one was not."""
        if any(channel not in self._seen for channel in channels):
            return None
        seen = [self._seen[channel] for channel in channels]
        columns = [columns for _, columns in seen]
        merged = {name: np.concatenate([c[name] for c in columns]) for name in columns[0]}
        return MeasuredBoxes(
            of_what=measured_hash(self._solids, self._instance_id, [camera for camera, _ in seen]),
            views=np.array([len(c["row"]) for c in columns], dtype=np.int64),
            **merged,
        )
