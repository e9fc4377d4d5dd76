"""Objects of OpenAD: one 2D box and one 3D box for each object.

The parts of a corner case are one object; its 2D box encloses the pixels, its 3D box the boxes of all parts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uavsim.access import Boxes, Image, Sample
from uavsim.dataset.rows import CornerCaseRow, ObjectTagRow
from uavsim.errors import DatasetError
from uavsim.geometry import cuboid, quaternion
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray, IntArray, JsonDict


@dataclass(frozen=True, slots=True)
class SceneTags:
    """The corner cases of a scene, and the tag of each instance."""

    cases: list[CornerCaseRow]
    of_instance: dict[str, ObjectTagRow]


@dataclass(frozen=True, slots=True, eq=False)
class ImageObject:
    """One object in one image.

    Attributes:
        case: name of the corner case; "" for ordinary objects.
        in_training_sets: training set -> whether it contains the tag.
        visible_box_px: (4,) x0, y0, x1, y1 of the visible pixels.
        amodal_box_px: (4,) x0, y0, x1, y1 of the projected 3D boxes.
        optical_box: (7,) h, w, l, x, y, z of the centre in the optical frame, rotation about its y axis; metres, radians.
    """

    tag: str
    case: str
    in_training_sets: Mapping[str, bool]
    instance_ids: list[int]
    visible_px: int
    amodal_px: int
    truncation: float
    visible_box_px: FloatArray
    amodal_box_px: FloatArray
    optical_box: FloatArray

    @property
    def occlusion(self) -> float:
        """Share of the amodal pixels that are occluded."""
        return 1.0 - min(self.visible_px / max(self.amodal_px, 1), 1.0)


def objects_in_view(sample: Sample, image: Image, tags: SceneTags, *, least_px: int) -> list[ImageObject]:
    """Return the objects in an image: corner cases first, then others of at least ``least_px`` pixels.

    Raises:
        DatasetError: an instance has no tag.
    """
    boxes = sample.boxes
    rows_of = {token: k for k, token in enumerate(boxes.instance_tokens)}
    entries = [
        next((view for view in views if view["sample_data_token"] == image.token), None) for views in boxes.views
    ]
    groups = [(case["tag"], case["name"], case["seen"], case["instance_tokens"]) for case in tags.cases]
    merged = {token for case in tags.cases for token in case["instance_tokens"]}
    for token in rows_of:
        if token not in merged:
            if token not in tags.of_instance:
                raise DatasetError(
                    f"{sample.scene_name}: instance {token} has no tag; run uavsim validate on its dataset"
                )
            tag_row = tags.of_instance[token]
            groups.append((tag_row["tag"], "", tag_row["seen"], [token]))
    objects = []
    for tag, case, training_sets, tokens in groups:
        rows = np.array([rows_of[token] for token in tokens if token in rows_of], dtype=np.int64)
        merged_views = _merged_views([entries[row] for row in rows.tolist()])
        if merged_views is None or (merged_views[0] < least_px and not case):
            continue
        visible_px, amodal_px, truncation, visible_box, amodal_box = merged_views
        objects.append(
            ImageObject(
                tag=tag,
                case=case,
                in_training_sets=training_sets,
                instance_ids=boxes.instance_id[rows].tolist(),
                visible_px=visible_px,
                amodal_px=amodal_px,
                truncation=truncation,
                visible_box_px=visible_box,
                amodal_box_px=amodal_box,
                optical_box=_optical_box(boxes, rows, image),
            )
        )
    return objects


def _merged_views(entries: list[JsonDict | None]) -> tuple[int, int, float, FloatArray, FloatArray] | None:
    """Return visible and amodal pixels, truncation, visible and amodal box of parts together; None if none is visible."""
    present = [entry for entry in entries if entry is not None]
    boxes = [entry["visible_box"] for entry in present if entry["visible_box"] is not None]
    if not boxes:
        return None
    amodal_px = np.array([max(entry["amodal_px"], entry["visible_px"], 1) for entry in present], dtype=np.float64)
    truncation = float(np.average([entry["truncation"] for entry in present], weights=amodal_px))
    return (
        sum(entry["visible_px"] for entry in present),
        int(amodal_px.sum()),
        truncation,
        _enclosing(np.array(boxes, dtype=np.float64)),
        _enclosing(np.array([entry["amodal_box"] for entry in present], dtype=np.float64)),
    )


def _enclosing(boxes: FloatArray) -> FloatArray:
    """Return the (4,) bounding box of (N, 4) boxes."""
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])


def _optical_box(boxes: Boxes, rows: IntArray, image: Image) -> FloatArray:
    """Return the (7,) upright box around some boxes with the heading of the first box; see ``SeenObject.optical_box``."""
    parts = boxes.map_SE3_box[rows]
    corners_m = cuboid.corners(parts, size_lwh_m=boxes.size_lwh_m[rows]).reshape(-1, 3)
    ahead = quaternion.rotate(parts.quat_wxyz[0], np.array([1.0, 0.0, 0.0]))
    if np.hypot(ahead[0], ahead[1]) < 0.5:  # an overturned or upended box has the heading of its side
        ahead = quaternion.rotate(parts.quat_wxyz[0], np.array([0.0, 1.0, 0.0]))
    yaw_rad = float(np.arctan2(ahead[1], ahead[0]))
    map_SE3_upright = SE3(quaternion.from_yaw(yaw_rad), parts.translation_m[0])
    local_m = map_SE3_upright.apply_inverse(corners_m)
    low, high = local_m.min(axis=0), local_m.max(axis=0)
    centre_m = image.map_SE3_optical.apply_inverse(map_SE3_upright.apply((low + high) / 2))
    length, width, height = (high - low).tolist()
    heading = image.map_SE3_optical.inverse().rotate(np.array([np.cos(yaw_rad), np.sin(yaw_rad), 0.0]))
    turn_rad = float(np.arctan2(-heading[2], heading[0]))
    return np.array([height, width, length, *centre_m.tolist(), turn_rad])
