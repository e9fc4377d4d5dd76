"""Statistics of a dataset, and checks of its scenes, its spawned traffic and its splits."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from uavsim.typing import JsonDict
from uavsim.validate.dataset import DataSet
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

SPAWNED_SHARE: Final = 0.5
_DISTANCE_EDGES_M: Final = (0, 25, 50, 75, 100, 150, np.inf)
_HELD_OUT: Final = ("val", "test")


def coverage_facts(evidence: Evidence) -> JsonDict:
    """Return the numbers of scenes, images and boxes, the latter by class, visibility and distance."""
    data = evidence.data
    table, images = data["sample_annotation"], data["sample_data"]
    category = data.category_of_annotation
    names = data["category"]["name"]
    counts = np.bincount(category[category >= 0], minlength=len(names))
    levels = data["visibility"].tokens
    boxes_of_level = np.bincount(table["visibility_token"][table["visibility_token"] >= 0], minlength=len(levels))
    pairs = evidence.pairs
    towns = [data["log"]["location"][i] for i in data["scene"]["log_token"].tolist() if i >= 0]
    return {
        "scenes": len(data["scene"]),
        "samples": len(data["sample"]),
        "images": len(evidence.looks),
        "keyframe_images": int(images["is_key_frame"][evidence.cameras.rows].sum()),
        "channels": len(data["sensor"]),
        "boxes": len(table),
        "instances": len(data["instance"]),
        "boxes_by_category": {name: int(n) for name, n in zip(names, counts, strict=True)},
        "boxes_by_visibility": {token: int(n) for token, n in zip(levels, boxes_of_level, strict=True)},
        "boxes_by_distance_m": _by_distance(evidence),
        "boxes_seen_by_none": int((data.visible_px == 0).sum()),
        "scenes_by_location": dict(sorted(Counter(towns).items())),
        "box_views_with_pixels": len(pairs),
        "pixels_inside_boxes": round(float(pairs.inside_px.sum() / max(pairs.visible_px.sum(), 1)), 5),
        "images_decoded": evidence.pixels,
        "masks": evidence.has_masks,
    }


def _by_distance(evidence: Evidence) -> dict[str, int]:
    """Count boxes by their horizontal distance from the sample's first camera."""
    data = evidence.data
    sample = data["sample_data"]["sample_token"][evidence.cameras.rows]
    camera_m = np.full((len(data["sample"]), 2), np.nan)
    camera_m[sample[::-1]] = evidence.cameras.position_m[::-1, :2]
    of_box = data["sample_annotation"]["sample_token"]
    good = evidence.boxes.usable & (of_box >= 0)
    away = np.linalg.norm(evidence.boxes.centre_m[good, :2] - camera_m[of_box[good]], axis=1)
    counts, _ = np.histogram(away[np.isfinite(away)], bins=_DISTANCE_EDGES_M)
    names = [f"{low}-{high}" for low, high in pairwise(_DISTANCE_EDGES_M)]
    return {name: int(n) for name, n in zip(names, counts, strict=True)}


def scenes_not_empty(evidence: Evidence) -> Iterator[Finding]:
    """Every scene has samples with boxes."""
    data = evidence.data
    samples, boxes = (
        np.bincount(scene[scene >= 0], minlength=len(data["scene"]))
        for scene in (data["sample"]["scene_token"], data.scene_of_annotation)
    )
    for row in np.flatnonzero(samples == 0).tolist():
        yield Finding("coverage.empty", "scene without samples", **data.scene_place(row))
    for row in np.flatnonzero((boxes == 0) & (samples > 0)).tolist():
        yield Finding("coverage.empty", "scene without boxes", severity="warning", **data.scene_place(row))


def spawned_as_requested(evidence: Evidence) -> Iterator[Finding]:
    """At least half of the requested vehicles and walkers spawned, if the log has both numbers."""
    data = evidence.data
    for kind in ("vehicles", "walkers"):
        if f"uav_{kind}_asked" not in data["log"] or f"uav_{kind}_spawned" not in data["log"]:
            continue
        requested, spawned = data["log"][f"uav_{kind}_asked"], data["log"][f"uav_{kind}_spawned"]
        for row, log in enumerate(data["scene"]["log_token"].tolist()):
            if log >= 0 and spawned[log] < SPAWNED_SHARE * requested[log]:
                message = f"{int(spawned[log])} of {int(requested[log])} {kind} spawned"
                numbers = {"asked": int(requested[log]), "spawned": int(spawned[log])}
                yield Finding("coverage.spawned", message, severity="warning", numbers=numbers, **data.scene_place(row))


def scenes_unique(data: DataSet) -> Iterator[Finding]:
    """Scene names are unique."""
    known_names: set[str] = set()
    for row, name in enumerate(data["scene"]["name"]):
        if name in known_names:
            yield Finding("splits.name", f"scene name {name!r} is not unique", **data.scene_place(row))
        known_names.add(name)


def splits_known(data: DataSet) -> Iterator[Finding]:
    """The scenes in ``splits.json`` exist in some version of the dataset."""
    known = set(data["scene"]["name"])
    for split, scenes in data.splits.items():
        lost = sorted(set(scenes) - known)
        if lost and len(lost) < len(scenes):  # a split of another version folder has none of them here
            yield Finding("splits.unknown", f"split {split} names an unknown scene {lost[0]!r}", scene=lost[0])


def splits_disjoint(data: DataSet) -> Iterator[Finding]:
    """Training splits share no scene with held-out splits: x_train with x_val and x_test."""
    for name, scenes in data.splits.items():
        stem, _, last = name.rpartition("_")
        if last != "train":
            continue
        for held_out in _HELD_OUT:
            other = f"{stem}_{held_out}" if stem else held_out
            for scene in sorted(set(scenes) & set(data.splits.get(other, []))):
                yield Finding("splits.leak", f"scene is in {name} and in {other}", scene=scene)
