"""Checks of image contents: black, frozen, of another camera or another tick, unevenly exposed."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding
from uavsim.validate.looks import FrameLook

BLANK_SPREAD: Final = 0.25
BLACK_MEAN: Final = 2.0
MOVED_M: Final = 0.02
TURNED: Final = 1e-3
JUMP: Final = np.log(1.6)
BETTER: Final = 1.2  # ratio by which the mask of a neighbouring tick fits better than the image's own
BETTER_BESIDE: Final = 2.0  # the same, if its borders lie within a pixel: a smoothed edge spreads over two steps
MIN_CONTRAST: Final = 4.0


def not_black(evidence: Evidence) -> Iterator[Finding]:
    """An image is neither black nor blank."""
    for look in evidence.looks:
        if look.state == "good" and (look.spread < BLANK_SPREAD or look.mean < BLACK_MEAN):
            kind = "black" if look.mean < 10 else "blank"
            message = f"image is {kind}: mean {look.mean:.1f}, spread {look.spread:.1f}"
            numbers = {"mean": round(look.mean, 2), "spread": round(look.spread, 2)}
            yield Finding("visual.black", message, numbers=numbers, **evidence.data.data_place(look.row))


def not_frozen(evidence: Evidence) -> Iterator[Finding]:
    """An image differs from the previous one if the camera or an object in its mask moved."""
    changed = _changed_since_before(evidence)
    for view in range(1, len(evidence.looks)):
        look, before = evidence.looks[view], evidence.looks[view - 1]
        same = evidence.track[view] == evidence.track[view - 1] and look.digest == before.digest
        if same and look.digest and changed[view]:
            yield Finding(
                "visual.frozen", "image is identical to the previous one", **evidence.data.data_place(look.row)
            )


def _changed_since_before(evidence: Evidence) -> BoolArray:
    position, rotation = evidence.cameras.position_m, evidence.cameras.rotation
    changed = np.zeros(len(position), bool)
    if len(position) > 1:
        moved = np.linalg.norm(np.diff(position, axis=0), axis=1) > MOVED_M
        turned = np.abs(np.diff(rotation, axis=0)).max(axis=(1, 2)) > TURNED
        changed[1:] = moved | turned
    for view in np.flatnonzero(~changed).tolist():
        before = _keyframe_before(evidence, view)
        if before is not None:
            changed[view] = _shows_movement(evidence, before=before, after=evidence.looks[view])
    return changed


def _keyframe_before(evidence: Evidence, view: int) -> FrameLook | None:
    """Return the keyframe before a keyframe if all images from the one to the other are equal.

    Sweeps have no boxes: an object that moved between two keyframes may have moved before the last sweep.
    """
    is_keyframe, looks = evidence.data["sample_data"]["is_key_frame"], evidence.looks
    if not is_keyframe[looks[view].row]:
        return None
    while _same_track(evidence, view, view - 1) and looks[view - 1].digest == looks[view].digest:
        view -= 1
        if is_keyframe[looks[view].row]:
            return looks[view]
    return None


def _shows_movement(evidence: Evidence, *, before: FrameLook, after: FrameLook) -> bool:
    """Return whether an object in one of two masks moved.

    A standing object in only one of the masks did not move: its id was unknown in the other, as of a car parked by a pole.
    """
    table = evidence.data["sample_annotation"]
    first, second = (
        {instance: index for index, instance in enumerate(table["instance_token"][look.box_row].tolist())}
        for look in (before, after)
    )
    for instance in first.keys() & second.keys():
        if not np.array_equal(before.mask_box_px[first[instance]], after.mask_box_px[second[instance]]):
            return True
    rows = [(before.box_row[first[instance]], "next") for instance in first.keys() - second.keys()]
    rows += [(after.box_row[second[instance]], "prev") for instance in second.keys() - first.keys()]
    for row, link in rows:
        neighbour, centre_m = int(table[link][row]), table["translation"]
        if neighbour < 0 or np.linalg.norm(centre_m[row] - centre_m[neighbour]) > MOVED_M:
            return True
    return False


def not_duplicate(evidence: Evidence) -> Iterator[Finding]:
    """No two cameras or scenes have the same image; ``not_frozen`` compares the ticks of one camera."""
    first_view: dict[str, int] = {}
    for view, look in enumerate(evidence.looks):
        if not look.digest or look.spread < BLANK_SPREAD:
            continue
        first = first_view.setdefault(look.digest, view)
        if first != view and evidence.track[first] != evidence.track[view]:
            other = evidence.data["sample_data"]["filename"][evidence.looks[first].row]
            yield Finding("visual.duplicate", f"same image as {other}", **evidence.data.data_place(look.row))


def exposure_steady(evidence: Evidence) -> Iterator[Finding]:
    """An image is not much brighter or darker than both its neighbours in time."""
    level = np.log(np.maximum([look.mean for look in evidence.looks], 1.0)) if evidence.looks else np.zeros(0)
    good = np.array([look.state == "good" and look.spread >= BLANK_SPREAD for look in evidence.looks], bool)
    for view in np.flatnonzero(_spikes(level, good, evidence)).tolist():
        neighbours = [v for v in (view - 1, view + 1) if _same_track(evidence, view, v)]
        usual = float(np.exp(np.mean(level[neighbours])))
        mean = evidence.looks[view].mean
        message = f"mean brightness {mean:.0f} between neighbours of {usual:.0f}"
        numbers = {"mean": round(mean, 1), "usual": round(usual, 1)}
        yield Finding("visual.capture", message, numbers=numbers, **evidence.data.data_place(evidence.looks[view].row))


def _same_track(evidence: Evidence, view: int, other: int) -> bool:
    return 0 <= other < len(evidence.track) and evidence.track[other] == evidence.track[view]


def _spikes(level: FloatArray, good: BoolArray, evidence: Evidence) -> BoolArray:
    """Return (looks,) bool, whether the level differs from both neighbours, or at an end of the track from the next two."""
    track, count = evidence.track, len(level)
    spike = np.zeros(count, bool)
    for view in np.flatnonzero(good).tolist():
        near = [
            v
            for v in (view - 2, view - 1, view + 1, view + 2)
            if 0 <= v < count and track[v] == track[view] and good[v]
        ]
        beside = [v for v in near if abs(v - view) == 1]
        compared = near[:2] if len(beside) == 1 and view > near[0] else near[-2:] if len(beside) == 1 else beside
        steps = level[view] - level[compared]
        agree = len(compared) == 2 and abs(level[compared[0]] - level[compared[1]]) < JUMP / 2
        spike[view] = agree and bool(np.all(steps > JUMP) or np.all(steps < -JUMP))
    return spike


def of_this_tick(evidence: Evidence) -> Iterator[Finding]:
    """An image's edges lie on the borders of its own mask, not on those of the previous or the next tick."""
    for view, look in enumerate(evidence.looks):
        contrast, *others = look.edge_contrast
        sharpness, *others_sharp = look.edge_sharpness
        best = np.nanmax(others) if np.isfinite(others).any() else np.nan
        if not np.isfinite(best) or not np.isfinite(contrast):
            continue
        index = int(others[1] == best)
        previous = evidence.looks[view - 1].digest if view else ""
        sharper = others_sharp[index] > BETTER * sharpness  # otherwise its borders lie by chance in a rich texture
        better = BETTER_BESIDE if look.edge_near[index] else BETTER
        if best > max(better * contrast, MIN_CONTRAST) and sharper and look.digest != previous:
            which = ("before", "after")[index]
            message = f"image fits the mask of the tick {which} ({best:.0f}) better than its own ({contrast:.0f})"
            numbers = {"own": round(contrast, 2), "other": round(float(best), 2)}
            yield Finding("visual.other_tick", message, numbers=numbers, **evidence.data.data_place(look.row))
