"""Occluders: the actor in front of every occluded box, counted in the same masks as the labels."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from uavsim.annotate.kernels import most_in_front
from uavsim.annotate.scene import annotate
from uavsim.annotate.silhouettes import rays_in_boxes
from uavsim.annotate.solids import PlacedCamera, Solids
from uavsim.images import mask_pixels
from uavsim.records.labels import SceneLabels, ViewLabels
from uavsim.records.modalities import INSTANCE
from uavsim.records.recording import Recording
from uavsim.typing import BoolArray


@dataclass(frozen=True, slots=True)
class Occlusion:
    """A box in an image with the actor that hides most of it.

    Attributes:
        sample_index: number of the keyframe.
        channel: channel of the camera.
        instance_id: instance id of the box.
        occluder: instance id of the actor in front; 0 for none.
        covered_px: pixels of the box's silhouette that show the occluder.
        visible_px: visible pixels of the object.
        amodal_px: labelled amodal pixels of the object.
        truncation: share of the silhouette outside the image.
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
        """Return the hidden share of the object by its label, 0 to 1."""
        return 1.0 - self.visible_px / max(self.amodal_px, 1)


def occlusions(
    recording: Recording, labels: SceneLabels | None = None, *, only: Callable[[ViewLabels], BoolArray] | None = None
) -> Iterator[Occlusion]:
    """Yield every box in every image that it reaches into, for all keyframes.

    Args:
        recording: recording of a scene, with its masks in ``recording.folder``.
        labels: labels of the recording; computed by default.
        only: selects (M,) views by their labels; a mask without a selected view is not read.

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
        for reading in frame.cameras if frame.sample_index is not None else ():
            rows = np.flatnonzero(
                (sample_of_view == frame.sample_index) & (views.channel_index == channel_of[reading.channel])
            )
            if not len(rows):
                continue
            camera = PlacedCamera.of(reading.map_SE3_sensor, reading.camera)
            ids, _ = mask_pixels.decode(recording.folder / reading.files[INSTANCE])
            box_row = views.box_row[rows]
            in_frame = np.flatnonzero(boxes.sample_index == frame.sample_index)
            off_m = boxes.map_SE3_box.translation_m[in_frame] - reading.map_SE3_sensor.translation_m
            away_m = np.full(65536, -1.0)
            away_m[boxes.instance_id[in_frame]] = np.linalg.norm(off_m, axis=1)
            window = views.amodal_box_px[rows]
            window_px = np.concatenate([np.floor(window[:, :2]), np.ceil(window[:, 2:])], axis=1).astype(np.int64)
            occluder, covered = most_in_front(
                rays_in_boxes(solids.take(box_row), camera),
                window_px,
                ids,
                boxes.instance_id[box_row],
                away_m,
                camera.pinhole_px,
            )
            for n, row in enumerate(rows.tolist()):
                yield Occlusion(
                    sample_index=int(frame.sample_index or 0),
                    channel=reading.channel,
                    instance_id=int(boxes.instance_id[views.box_row[row]]),
                    occluder=int(occluder[n]),
                    covered_px=int(covered[n]),
                    visible_px=int(views.visible_px[row]),
                    amodal_px=int(views.amodal_px[row]),
                    truncation=float(views.truncation[row]),
                )
