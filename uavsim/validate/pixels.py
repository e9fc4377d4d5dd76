"""Checks of boxes against instance masks: place, size, pixel counts and semantic tags."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import box_finding
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

MIN_PX: Final = 20  # fewer pixels are too few to judge a box
OUTSIDE_SHARE: Final = (
    0.01,
    0.05,
)  # of an instance's pixels outside its box: with masks exact to the pixel; the maximum
OUTSIDE_PX: Final = (2, 6)
NOISE_FACTOR: Final = 4.0  # times the 95th percentile of the dataset
VIEW_SHARE: Final = 0.5  # of a view's boxes that miss their masks: above, the view is wrong
FULL_PX: Final = 200
GAP_SHARE: Final = 0.1
STRAY_PX: Final = 30
TAG_PX: Final = 4
_TAGS: Final = {
    "vehicle.bicycle": {13, 19},
    "vehicle.motorcycle": {13, 18},
    "human.pedestrian": {12},
    "vehicle.car": {14, 15, 16},
    "vehicle.truck": {14, 15, 16},
    "vehicle.bus": {14, 15, 16},
}
"""CARLA's 28-tag palette. The tags of vans, lorries and buses differ between versions."""


@dataclass(frozen=True, slots=True, eq=False)
class _Misses:
    """The (view, box) pairs that disagree, and the views that are wrong as a whole.

    Attributes:
        bad: (P,) bool, too many pixels lie outside the box.
        outside: (P,) share of the pixels outside the box.
        view_bad: (looks,) bool, most boxes of the view miss their masks.
        view_counted: (looks,) pairs with enough pixels.
        view_misses: (looks,) bad pairs.
    """

    bad: BoolArray
    outside: FloatArray
    view_bad: BoolArray
    view_counted: IntArray
    view_misses: IntArray


def _misses(evidence: Evidence) -> _Misses:
    pairs = evidence.pairs
    outside_px = pairs.visible_px - pairs.inside_px
    outside = outside_px / np.maximum(pairs.visible_px, 1)
    counted = pairs.visible_px >= MIN_PX
    noise = NOISE_FACTOR * float(np.quantile(outside[counted], 0.95)) if counted.any() else 0.0
    share = float(np.clip(noise, *OUTSIDE_SHARE))
    bad = counted & (outside > share) & (outside_px >= OUTSIDE_PX[share > OUTSIDE_SHARE[0]])
    views, boxes = len(evidence.looks), len(evidence.data["sample_annotation"])
    of_view = np.bincount(pairs.view[counted], minlength=views)
    bad_of_view = np.bincount(pairs.view[bad], minlength=views)
    good_of_box = np.bincount(pairs.box[counted & ~bad], minlength=boxes)
    bad_of_box = np.bincount(pairs.box[bad], minlength=boxes)
    good_elsewhere = good_of_box[pairs.box] > bad_of_box[pairs.box]
    fits_elsewhere = np.bincount(pairs.view[bad & good_elsewhere], minlength=views)
    many = (of_view >= 3) & (bad_of_view > VIEW_SHARE * of_view)
    few = (bad_of_view > 0) & (bad_of_view > VIEW_SHARE * of_view) & (fits_elsewhere == bad_of_view)
    return _Misses(bad, outside, many | few, of_view, bad_of_view)


def masks_belong_to_views(evidence: Evidence) -> Iterator[Finding]:
    """A view's mask, pose and intrinsics agree: most of its boxes cover their pixels."""
    misses = _misses(evidence)
    for view in np.flatnonzero(misses.view_bad).tolist():
        wrong, counted = int(misses.view_misses[view]), int(misses.view_counted[view])
        message = f"{wrong} of {counted} boxes miss their pixels: wrong mask, camera pose, intrinsics or tick"
        location = evidence.data.data_place(evidence.looks[view].row)
        yield Finding("pixels.view", message, numbers={"missed": wrong, "counted": counted}, **location)


def boxes_cover_masks(evidence: Evidence) -> Iterator[Finding]:
    """An instance's pixels in a view lie inside its projected box.

    The tolerance is 1 %; in datasets with inexact masks, four times the usual share, at most 5 %.
    """
    misses, pairs, data = _misses(evidence), evidence.pairs, evidence.data
    bad = np.flatnonzero(misses.bad & ~misses.view_bad[pairs.view])
    worst_first = bad[np.argsort(-misses.outside[bad], kind="stable")]
    _, first = np.unique(pairs.box[worst_first], return_index=True)
    for pair in worst_first[np.sort(first)].tolist():
        row = int(pairs.box[pair])
        location = data.annotation_place(row)
        location["channel"] = data.data_place(evidence.looks[pairs.view[pair]].row).get("channel", "")
        share, pixels = float(misses.outside[pair]), int(pairs.visible_px[pair])
        message = f"{share:.0%} of {pixels} visible pixels lie outside the box"
        numbers = {"token": data["sample_annotation"].tokens[row], "outside": round(share, 4), "visible_px": pixels}
        yield Finding("pixels.box", message, numbers=numbers, **location)


def boxes_fill_silhouettes(evidence: Evidence) -> Iterator[Finding]:
    """Over its track, a box is not larger than the visible object: its outline touches the pixels on some side.

    An occlusion leaves a gap at some sides, a too large box at all sides. The diagonals count as sides, too: where both ends
    of a car across the image are hidden, all four upright sides have a gap.
    """
    pairs, data = evidence.pairs, evidence.data
    full = (pairs.visible_px >= FULL_PX) & ~pairs.cut & ~_misses(evidence).view_bad[pairs.view]
    rows = np.flatnonzero(full)
    gap = np.full(len(data["sample_annotation"]), np.inf)
    np.minimum.at(gap, pairs.box[rows], _gap_all_around(pairs.mask_box_px[rows], pairs.box_px[rows]))
    instance = data["sample_annotation"]["instance_token"]
    counted = np.flatnonzero(np.isfinite(gap) & (instance >= 0))
    order = counted[np.lexsort((gap[counted], instance[counted]))]
    groups = np.split(order, np.flatnonzero(np.diff(instance[order])) + 1) if len(order) else []
    for group in groups:
        middle = float(gap[group[len(group) // 2]])
        if len(group) >= 3 and middle > GAP_SHARE:
            row = int(group[0])
            message = (
                f"over {len(group)} samples every side of the box is {middle:.0%} of its size from the visible pixels"
            )
            numbers = {"token": data["instance"].tokens[int(instance[row])], "gap": round(middle, 3)}
            yield Finding("pixels.outline", message, numbers=numbers, **data.annotation_place(row))


def _gap_all_around(mask_box_px: IntArray, box_px: FloatArray) -> FloatArray:
    """Return (P,) smallest gaps between the (P, 8) outlines and masks, as shares of the outline's extent."""
    size = np.maximum(box_px[:, 4:] - box_px[:, :4] + 1, 1.0)
    low = (mask_box_px[:, :4] - box_px[:, :4] - 1) / size  # one pixel of rounding on each side
    high = (box_px[:, 4:] - mask_box_px[:, 4:] - 1) / size
    gap: FloatArray = np.minimum(low, high).min(axis=1)
    return np.nan_to_num(gap, nan=0.0)


def counts_are_the_masks(evidence: Evidence) -> Iterator[Finding]:
    """The visible pixels in the table (docs/formats-tables.md) are the instance's pixels in the masks of its sample.

    The pixels that an agent sees of itself may be missing.
    """
    data, pairs = evidence.data, evidence.pairs
    table = data["sample_annotation"]
    counted = np.bincount(pairs.box, weights=pairs.visible_px, minlength=len(table)).astype(np.int64)
    stated = data.visible_px
    complete = _samples_with_all_masks(evidence)
    sample = table["sample_token"]
    known = (sample >= 0) & evidence.boxes.usable & (stated >= 0) & (table["uav_instance_id"] > 0)
    known[known] &= complete[sample[known]]
    known &= (counted != stated) & (counted - _self_px(evidence) != stated)
    for row in np.flatnonzero(known).tolist():
        message = f"the row has {int(stated[row])} visible pixels, the masks have {int(counted[row])}"
        yield box_finding(data, row, "pixels.count", message, stated=int(stated[row]), counted=int(counted[row]))


def _self_px(evidence: Evidence) -> IntArray:
    """Return (boxes,) numbers of pixels that agents see of themselves."""
    data, pairs, instance_of_agent = evidence.data, evidence.pairs, evidence.data.own_instances
    table, scene = data["sample_annotation"], data.scene_of_data
    instance = np.full(len(evidence.looks), -2)
    for view, look in enumerate(evidence.looks if instance_of_agent else ()):
        agent = data.data_place(look.row).get("channel", "").rpartition("_id_")[2]
        instance[view] = instance_of_agent.get((int(scene[look.row]), agent), -2)
    of_itself = instance[pairs.view] == table["instance_token"][pairs.box]
    return np.bincount(pairs.box, weights=pairs.visible_px * of_itself, minlength=len(table)).astype(np.int64)


def _samples_with_all_masks(evidence: Evidence) -> BoolArray:
    """Return (samples,) bool, whether every keyframe image of the sample has a readable mask that fits its view."""
    images, complete = evidence.data["sample_data"], np.ones(len(evidence.data["sample"]), bool)
    view_bad = _misses(evidence).view_bad
    for view, look in enumerate(evidence.looks):
        if images["is_key_frame"][look.row] and (look.mask_state != "good" or view_bad[view]):
            complete[images["sample_token"][look.row]] = False
    return complete


def masks_without_box(evidence: Evidence) -> Iterator[Finding]:
    """Every instance in a mask has a box in that sample."""
    images, flying = evidence.data["sample_data"], evidence.data.intruder_ids
    for look in evidence.looks:
        known = flying.get(int(evidence.data.scene_of_data[look.row]), frozenset()) if flying else frozenset()
        lost = {n: pixels for n, pixels in look.stray_ids.items() if pixels >= STRAY_PX and n not in known}
        if not lost or not images["is_key_frame"][look.row]:
            continue
        number = max(lost, key=lambda n: lost[n])
        message = f"{len(lost)} instances in the mask have no box, the largest is {number} with {lost[number]} pixels"
        numbers = {"instances": len(lost), "instance_id": number, "pixels": lost[number]}
        yield Finding("pixels.no_box", message, numbers=numbers, **evidence.data.data_place(look.row))


def road_users_are_labelled(evidence: Evidence) -> Iterator[Finding]:
    """A pixel with a road user's tag belongs to a box, or lies in an ``ignore_region``."""
    for look in evidence.looks:
        if look.unlabelled_px:
            message = f"{look.unlabelled_px} pixels show road users that no box and no ignore_region covers"
            numbers = {"pixels": look.unlabelled_px}
            yield Finding("pixels.unlabelled", message, numbers=numbers, **evidence.data.data_place(look.row))


def tags_fit_categories(evidence: Evidence) -> Iterator[Finding]:
    """The semantic tag of a box's pixels is one that its category can have."""
    data, pairs = evidence.data, evidence.pairs
    instance = data["sample_annotation"]["instance_token"][pairs.box]
    known = np.flatnonzero((instance >= 0) & (pairs.visible_px >= TAG_PX))
    category = data["instance"]["category_token"]
    base = int(pairs.tag.max(initial=0)) + 1
    for combo in np.unique(instance[known] * base + pairs.tag[known]).tolist():
        owner, tag = divmod(combo, base)
        name = data["category"]["name"][category[owner]] if category[owner] >= 0 else ""
        allowed = next((tags for start, tags in _TAGS.items() if name.startswith(start)), None)
        if allowed is not None and tag not in allowed:
            message = f"category {name}, but its pixels have semantic tag {tag}"
            numbers = {"token": data["instance"].tokens[owner], "tag": tag}
            yield Finding("pixels.tag", message, numbers=numbers, **data.locate("instance", owner))
