"""Remove mask pixels of objects behind meshes that the mask does not show.

CARLA leaves some meshes without a tag (carla issue 8510): masks look through them, images and depth do not. A pixel with less
depth than the minimum of its object's box shows another object. It is removed before the mask is stored, so that all visible
pixel counts agree with the image (.decisions/0041-untagged-meshes.md).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from uavsim.geometry import cuboid
from uavsim.geometry.se3 import SE3
from uavsim.images import mask_pixels
from uavsim.records.actors import ActorInfo, ActorStates, has_believable_box
from uavsim.records.modalities import Mask
from uavsim.simulate.ports import SensorPose
from uavsim.typing import AnyArray

_SLACK_M: Final = 0.5  # mirrors, antennas and arms exceed CARLA's boxes, as in ``point_owners``
_RIDER_M: Final = 0.7  # a rider exceeds the box of the vehicle
_TWO_WHEELERS: Final = (18, 19)  # motorcycle, bicycle in CARLA's palette
_DEPTH_STEP: Final = 2.0**-10  # relative resolution of AirSim's half floats; CARLA's 24 bits of 1,000 m are finer


class HiddenPixels:
    """Removes from a scene's masks the pixels that depth contradicts."""

    def __init__(self, actors: Sequence[ActorInfo]) -> None:
        """Store the boxes of the actors; implausible boxes contradict nothing."""
        boxed = sorted((info for info in actors if has_believable_box(info)), key=lambda info: info.instance_id)
        self._ids = np.array([info.instance_id for info in boxed], dtype=np.int64)
        self._size_m = 2 * np.array([info.half_extent_m for info in boxed], dtype=np.float64).reshape(-1, 3)
        self._actor_SE3_box = SE3.stack([info.actor_SE3_box for info in boxed])
        self._slack_m = np.array([_SLACK_M + _RIDER_M * (info.semantic_tag in _TWO_WHEELERS) for info in boxed])

    def remove(self, mask: Mask, depth_m: AnyArray, pose: SensorPose, states: ActorStates) -> Mask:
        """Return the mask without the pixels that show something nearer than their object's box.

        Args:
            mask: mask of instance ids, with its runs.
            depth_m: (H, W) depth of the same camera and tick along the optical axis, metres.
            pose: pose of the camera.
            states: actor states at that tick.
        """
        assert mask.runs is not None
        least_m = np.full(65536, -np.inf)
        is_visible = np.isin(states.instance_id, self._ids) & np.isin(states.instance_id, mask.runs[:, 3])
        if not is_visible.any():
            return mask
        ids = states.instance_id[is_visible]
        row = np.searchsorted(self._ids, ids)
        boxes = states.map_SE3_actor[is_visible] @ self._actor_SE3_box[row]
        corners_m = pose.map_SE3_optical.apply_inverse(cuboid.corners(boxes, size_lwh_m=self._size_m[row]))
        nearest_m = corners_m[..., 2].min(axis=1)
        least_m[ids] = nearest_m - self._slack_m[row] - np.abs(nearest_m) * _DEPTH_STEP
        depth = np.ascontiguousarray(depth_m, dtype=np.float32)
        runs, tags = mask_pixels.without_nearer(mask.runs, mask.tags, depth, least_m)
        return mask if runs is mask.runs else Mask(None, tags, runs)
