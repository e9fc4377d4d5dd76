"""Checks of encounters in the air: ranges by the poses, boxes and sides of the horizon by the pixels.

This module computes the values itself, so that it does not repeat a mistake of the writer.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.images import codec
from uavsim.typing import BoolArray, FloatArray, IntArray, UInt8Array, UInt16Array
from uavsim.validate.dataset import DataSet
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

_VIEW, _ENCOUNTER = "intruder_view", "encounter"
_WITHIN_M: Final = 1e-3
_CPA_SLACK_M: Final = 0.01
_SKY: Final = 11
_AROUND_PX: Final = 4
_NEARLY_ALL: Final = 0.95
_MOST_LOOKED_AT: Final = 2000


def ranges_are_distances(evidence: Evidence) -> Iterator[Finding]:
    """The range of an intruder is the distance between its place and the camera's."""
    data = evidence.data
    for row, stated, true in zip(*_ranges(evidence), strict=True):
        if abs(stated - true) > _WITHIN_M:
            message = f"range_m is {stated:.3f}, the poses are {true:.3f} m apart"
            yield Finding("encounter.range", message, **data.data_place(int(data[_VIEW]["sample_data_token"][row])))


def nothing_nearer_than_cpa(evidence: Evidence) -> Iterator[Finding]:
    """In no image is an intruder nearer than its closest point of approach."""
    data = evidence.data
    rows, _, true = _ranges(evidence)
    if not len(rows):
        return
    owner = data[_VIEW]["encounter_token"][rows]
    nearest, stated = np.full(len(data[_ENCOUNTER]), np.inf), data[_ENCOUNTER]["cpa_m"]
    np.minimum.at(nearest, owner[owner >= 0], true[owner >= 0])
    for encounter in np.flatnonzero(nearest < stated - _CPA_SLACK_M).tolist():
        name = data[_ENCOUNTER]["name"][encounter]
        message = f"{name} comes within {nearest[encounter]:.2f} m, cpa_m is {stated[encounter]:.2f}"
        yield Finding("encounter.cpa", message, **data.scene_place(int(data[_ENCOUNTER]["scene_token"][encounter])))


def _ranges(evidence: Evidence) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return (V,) rows of ``intruder_view`` with known cameras, their stated ranges and the distances by the poses, metres."""
    data = evidence.data
    nothing = np.zeros(0)
    if _VIEW not in data.tables:
        return np.zeros(0, np.int64), nothing, nothing
    camera_of = {look.row: number for number, look in enumerate(evidence.looks)}
    images = data[_VIEW]["sample_data_token"].tolist()
    rows = np.array([row for row, image in enumerate(images) if image in camera_of], dtype=np.int64)
    cameras = np.array([camera_of[images[row]] for row in rows.tolist()], dtype=np.int64)
    if not len(rows):
        return rows, nothing, nothing
    apart_m = data[_VIEW]["translation"][rows] - evidence.cameras.position_m[cameras]
    return rows, data[_VIEW]["range_m"][rows], np.linalg.norm(apart_m, axis=1)


def visible_intruders_have_rows(evidence: Evidence) -> Iterator[Finding]:
    """Every image whose mask shows the intruder of its camera has a row for it."""
    data = evidence.data
    if _ENCOUNTER not in data.tables:
        return
    table = data[_ENCOUNTER]
    encounters: dict[tuple[int, str], list[int]] = {}
    for row, key in enumerate(zip(table["scene_token"].tolist(), table["channel"], strict=True)):
        encounters.setdefault(key, []).append(row)
    reported: set[tuple[int, int]] = set()
    if _VIEW in data.tables:
        views = data[_VIEW]
        reported |= set(zip(views["sample_data_token"].tolist(), views["encounter_token"].tolist(), strict=True))
    mask_of = _layers(data)
    scene = data.scene_of_data
    unreported = [
        (look.row, encounter, mask)
        for look in evidence.looks
        for encounter in encounters.get((int(scene[look.row]), data.data_place(look.row).get("channel", "")), ())
        if (look.row, encounter) not in reported and (mask := mask_of.get((look.row, "instance"))) is not None
    ]
    for row, encounter, mask in unreported[:: max(1, -(-len(unreported) // _MOST_LOOKED_AT))]:
        ids = _ids(data, mask)
        if ids is None:
            continue
        pixels = int(np.count_nonzero(ids == int(table["instance_id"][encounter])))
        if pixels:
            message = f"the mask has {pixels} pixels of {table['name'][encounter]}, which has no row for this image"
            yield Finding("encounter.missing", message, numbers={"visible_px": pixels}, **data.data_place(row))


def boxes_are_the_masks(evidence: Evidence) -> Iterator[Finding]:
    """A box from a mask bounds the intruder's pixels in it, and counts them."""
    data = evidence.data
    for row, mask, _ in _looked_at(data):
        count = int(mask.sum())
        if bool(data[_VIEW]["from_mask"][row]) != bool(count) or int(data[_VIEW]["visible_px"][row]) != count:
            message = f"the mask has {count} pixels of it, visible_px is {int(data[_VIEW]['visible_px'][row])}"
        elif count and not np.array_equal(data[_VIEW]["bbox"][row], _bounds(mask)):
            message = f"bbox is {data[_VIEW]['bbox'][row].tolist()}, the mask's pixels are in {_bounds(mask).tolist()}"
        else:
            continue
        yield Finding("encounter.box", message, **data.data_place(int(data[_VIEW]["sample_data_token"][row])))


def horizon_is_the_pixels(evidence: Evidence) -> Iterator[Finding]:
    """An intruder is above the horizon if all pixels around it are sky, below if none is, and on it otherwise."""
    data = evidence.data
    stated = data[_VIEW].get("is_above_horizon") if _VIEW in data.tables else None
    if stated is None:
        return
    for row, mask, tags in _looked_at(data):
        if tags is None:
            continue
        left, top, width, height = data[_VIEW]["bbox"][row]
        low_x, low_y = max(int(np.floor(left)) - _AROUND_PX, 0), max(int(np.floor(top)) - _AROUND_PX, 0)
        high_x, high_y = int(np.ceil(left + width)) + _AROUND_PX, int(np.ceil(top + height)) + _AROUND_PX
        others = ~mask[low_y:high_y, low_x:high_x]
        sky = float((tags[low_y:high_y, low_x:high_x][others] == _SKY).mean()) if others.any() else 0.0
        side = 1 if sky >= _NEARLY_ALL else -1 if sky <= 1.0 - _NEARLY_ALL else 0
        if others.any() and side != int(stated[row]):
            message = f"is_above_horizon is {int(stated[row])}, {100 * sky:.0f} % of the pixels around it are sky"
            yield Finding("encounter.horizon", message, **data.data_place(int(data[_VIEW]["sample_data_token"][row])))


def _looked_at(data: DataSet) -> Iterator[tuple[int, BoolArray, UInt8Array | None]]:
    """Yield rows of ``intruder_view``, at most 2,000, with the (H, W) mask of the intruder and the (H, W) semantic tags."""
    if _VIEW not in data.tables:
        return
    views, file_of = data[_VIEW], _layers(data)
    images, owners = views["sample_data_token"].tolist(), views["encounter_token"].tolist()
    for row in range(0, len(views), max(1, -(-len(views) // _MOST_LOOKED_AT))):
        mask, semantic = file_of.get((images[row], "instance")), file_of.get((images[row], "semantic"))
        ids = _ids(data, mask) if owners[row] >= 0 and mask is not None else None
        if ids is None:
            continue
        tags = None
        if semantic is not None:
            with suppress(DatasetError):
                tags = codec.decode_tags(data.read(semantic))
        yield row, np.asarray(ids == int(data[_ENCOUNTER]["instance_id"][owners[row]])), tags


def _ids(data: DataSet, mask: str) -> UInt16Array | None:
    """Return the instance ids of a mask; None if it is unreadable, which ``files.masks`` reports."""
    try:
        return codec.mask_ids_and_tags(data.read(mask))[0]
    except DatasetError:
        return None


def _layers(data: DataSet) -> dict[tuple[int, str], str]:
    """Return the files of the layers, by the image's row and the layer's kind."""
    if "layer" not in data.tables:
        return {}
    layer = data["layer"]
    images, kinds, names = layer["sample_data_token"].tolist(), layer["kind"], layer["filename"]
    return {(image, kind): name for image, kind, name in zip(images, kinds, names, strict=True)}


def _bounds(mask: BoolArray) -> FloatArray:
    lines, columns = np.nonzero(mask)
    left, top = columns.min(), lines.min()
    return np.array([left, top, columns.max() + 1 - left, lines.max() + 1 - top], dtype=np.float64)
