"""Occluders: of every occluded box the actor in front, counted in the masks that the labels are counted in."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from uavsim.annotate.kernels import Rays, most_in_front
from uavsim.annotate.scene import annotate
from uavsim.annotate.silhouettes import rays_in_boxes
from uavsim.annotate.solids import STRAIGHT, Float32Array, PlacedCamera, Solids
from uavsim.images import mask_pixels
from uavsim.records.labels import SceneLabels, ViewLabels
from uavsim.records.modalities import INSTANCE
from uavsim.records.recording import Recording
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt16Array


@dataclass(frozen=True, slots=True)
class Occlusion:
    """One box in one image with the actor that hides most of what is hidden of it.

    Attributes:
        sample_index: keyframe.
        channel: camera.
        instance_id: of the box.
        occluder: instance id of the actor in front; 0 where none is.
        covered_px: pixels of the box's silhouette that show the occluder.
        visible_px: pixels of the object.
        amodal_px: that it would have with nothing in front, by its label.
        truncation: share of the box outside of the image.
    """

    sample_index: int
    channel: str
    instance_id: int
    occluder: int
    covered_px: int
    visible_px: int
    amodal_px: int
    truncation: float

    @property
    def hidden_share(self) -> float:
        """Return what of the object is hidden, by its label: 0 to 1."""
        return 1.0 - self.visible_px / max(self.amodal_px, 1)


def front_of(
    rays: Rays,
    instance_id: IntArray,
    *,
    ids: UInt16Array,
    window_px: IntArray,
    away_m: FloatArray,
    place_px: Float32Array = STRAIGHT,
) -> tuple[IntArray, IntArray]:
    """Return, for each of N boxes, the nearer actor that covers most of its silhouette, 0 for none, and its pixels.

    Args:
        rays: (N, 5, 3) of the boxes and the camera.
        instance_id: (N,) their ids in the mask.
        ids: (H, W) the mask.
        window_px: (N, 4) where in the image to look for each box.
        away_m: (65536,) distance of each instance from the camera; negative where it has no box.
        place_px: of ``PlacedCamera``.
    """
    return most_in_front(rays, window_px, ids, instance_id, away_m, place_px)


def occlusions(
    recording: Recording, labels: SceneLabels | None = None, *, only: Callable[[ViewLabels], BoolArray] | None = None
) -> Iterator[Occlusion]:
    """Yield every box in every image that it reaches into, of all keyframes.

    Args:
        recording: with its masks in ``recording.folder``.
        labels: of it; made where they are not given.
        only: says by their labels which views are looked at; a mask in which there is none is not read.

    Raises:
        DatasetError: a mask is missing or damaged.
    """
    labels = labels or annotate(recording)
    boxes, views = labels.boxes, labels.views
    half_m = np.array([a.half_extent_m for a in labels.actors], dtype=np.float64).reshape(-1, 3)[boxes.actor_row]
    solids = Solids.of(boxes.map_SE3_box, half_m)
    channel_of = {channel: index for index, channel in enumerate(recording.plan.channels)}
    sample_of_view = (
        np.where(only(views), boxes.sample_index[views.box_row], -1) if only else boxes.sample_index[views.box_row]
    )
    for frame in recording.frames:
        for shot in frame.cameras if frame.sample_index is not None else ():
            rows = np.flatnonzero(
                (sample_of_view == frame.sample_index) & (views.channel_index == channel_of[shot.channel])
            )
            if not len(rows):
                continue
            camera = PlacedCamera.of(shot.map_SE3_sensor, shot.camera)
            ids, _ = mask_pixels.decode(recording.folder / shot.files[INSTANCE])
            own = views.box_row[rows]
            here = np.flatnonzero(boxes.sample_index == frame.sample_index)
            off_m = boxes.map_SE3_box.translation_m[here] - shot.map_SE3_sensor.translation_m
            away_m = np.full(65536, -1.0)
            away_m[boxes.instance_id[here]] = np.linalg.norm(off_m, axis=1)
            window = views.amodal_box_px[rows]
            window_px = np.concatenate([np.floor(window[:, :2]), np.ceil(window[:, 2:])], axis=1).astype(np.int64)
            occluder, covered = front_of(
                rays_in_boxes(solids.take(own), camera),
                boxes.instance_id[own],
                ids=ids,
                window_px=window_px,
                away_m=away_m,
                place_px=camera.place_px,
            )
            for n, row in enumerate(rows.tolist()):
                yield Occlusion(
                    sample_index=int(frame.sample_index or 0),
                    channel=shot.channel,
                    instance_id=int(boxes.instance_id[views.box_row[row]]),
                    occluder=int(occluder[n]),
                    covered_px=int(covered[n]),
                    visible_px=int(views.visible_px[row]),
                    amodal_px=int(views.amodal_px[row]),
                    truncation=float(views.truncation[row]),
                )
