"""Checks of motion: no jumps, velocities equal to displacements, headings along the motion."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import box_finding, follow
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

STRONG_MPS2: Final = 8.0  # emergency braking: what may change between two samples without being reported
HARDEST_MPS2: Final = 20.0  # of cars in turns: the Traffic Manager's have been seen to corner with 18
NOISE_M: Final = 0.35
SLACK_MPS: Final = 0.5
_LONG_S: Final = 1.0 - 1e-6  # stamps are of whole microseconds
_END_SHARE: Final = 0.6  # of the change to the neighbour's velocity, which a crash may cause at either side of the gap
DRIVES_MPS: Final = 2.0
_STAYS_M: Final = 0.1
SIDEWAYS_RAD: Final = np.radians(60.0)
_CLEARLY_MORE: Final = 1.2
CAMERA_STEP: Final = 6.0  # times the usual change of a camera's step
CAMERA_NOISE_M: Final = 2.0


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbours:
    """The neighbours of each annotation on its track.

    Attributes:
        before, after: (N,) rows, negative where there is none or it is unusable.
        back_s, ahead_s: (N,) seconds to the neighbours, NaN where there is none.
    """

    before: IntArray
    after: IntArray
    back_s: FloatArray
    ahead_s: FloatArray


def _neighbours(evidence: Evidence) -> _Neighbours:
    table, boxes = evidence.data["sample_annotation"], evidence.boxes
    sides = []
    for link in ("prev", "next"):
        row = table[link]
        same = follow(row, table["instance_token"]) == table["instance_token"]
        usable = (row >= 0) & boxes.usable & same
        usable[usable] &= boxes.usable[row[usable]]
        gap = np.where(usable, np.abs(boxes.time_s - boxes.time_s[np.maximum(row, 0)]), np.nan)
        usable &= gap > 0
        sides.append((np.where(usable, row, -1), np.where(usable, gap, np.nan)))
    (before, back_s), (after, ahead_s) = sides
    return _Neighbours(before, after, back_s, ahead_s)


def nothing_jumps(evidence: Evidence) -> Iterator[Finding]:
    """A box lies where its neighbours on the track and their velocities predict it."""
    data = evidence.data
    off, allowed, jumped = _jumps(evidence)
    for row in np.flatnonzero(jumped).tolist():
        message = f"box is {off[row]:.1f} m from where its track expects it ({allowed[row]:.1f} m allowed)"
        yield box_finding(data, row, "motion.jump", message, off_m=round(float(off[row]), 3))


def _jumps(evidence: Evidence) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return (N,) distances from the prediction, (N,) tolerances, both metres, and (N,) bool, whether the box jumps."""
    off, allowed = _off_track(evidence)
    near = _neighbours(evidence)
    beside = np.maximum(
        np.where(near.before >= 0, np.nan_to_num(off[near.before]), 0),
        np.where(near.after >= 0, np.nan_to_num(off[near.after]), 0),
    )
    at_end = (near.before < 0) | (near.after < 0)  # with one neighbour only, that neighbour may be the one that jumps
    worst = off > np.where(at_end, _CLEARLY_MORE * beside, beside * (1 - 1e-9))  # the neighbours of a jump are off, too
    return off, allowed, np.asarray(evidence.boxes.usable & np.isfinite(off) & (off > allowed) & worst)


def _off_track(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """Return (N,) distances from the prediction, NaN without one, and (N,) tolerances, metres.

    The prediction between two neighbours is the cubic through their places and velocities; without velocities, the line. At
    the end of a track it starts from the one neighbour and uses the mean of both velocities.
    """
    boxes, near = evidence.boxes, _neighbours(evidence)
    position, v = boxes.centre_m, boxes.velocity_mps
    before, after = near.before, near.after
    share = (near.back_s / (near.back_s + near.ahead_s))[:, None]
    middle = position[before] * (1 - share) + position[after] * share
    short = np.fmin(near.back_s, near.ahead_s)
    if v is not None:
        inner = (before >= 0) & (after >= 0)
        wrong = inner & _track_velocities(evidence, v, near)[1]  # a wrong velocity must not shift the neighbours
        v = np.where(wrong[:, None], np.nan, v)
        span = (near.back_s + near.ahead_s)[:, None]
        cubic = _hermite(position[before], position[after], v[before], v[after], span=span, share=share)
        middle = np.where(np.isfinite(cubic), cubic, middle)
        at_end = position[before] + (v[before] + v) / 2 * near.back_s[:, None]
        at_start = position[after] - (v[after] + v) / 2 * near.ahead_s[:, None]
        expected = np.where((before >= 0)[:, None], at_end, np.where((after >= 0)[:, None], at_start, np.nan))
        expected = np.where(((before >= 0) & (after >= 0))[:, None], middle, expected)
        reported = inner & np.isfinite(cubic).all(axis=1)
        loose = np.where(reported, 0.15, np.where(inner, 0.5, 0.25))
        loose = np.where(short > _LONG_S, 2 * loose, loose)  # long enough for a turn, or for a stop and a start
        changed_m = np.fmax(STRONG_MPS2 * short**2 * loose, _cornering_m(v, near))
        allowed = NOISE_M + changed_m + _crash_m(v, near, inner)
    else:
        expected = np.where(((before >= 0) & (after >= 0))[:, None], middle, np.nan)
        allowed = NOISE_M + STRONG_MPS2 * short**2 / 2
    off = np.linalg.norm(position - expected, axis=1)
    return np.where(_stands_after_crash(position, v, near), 0.0, off) if v is not None else off, allowed


def _stands_after_crash(p: FloatArray, v: FloatArray, near: _Neighbours) -> BoolArray:
    """Return (N,) bool, boxes that stopped abruptly since the sample before: they stand, and lie on their former path.

    Velocities do not predict at which time between two samples a crash happens. The box did not jump if it lies between its
    last place and the place to which its last velocity leads, and keeps this place in the next sample.
    """
    before, after = near.before, near.after
    speed = np.linalg.norm(v, axis=1)
    stands = (before >= 0) & (after >= 0) & (speed < SLACK_MPS) & (speed[after] < SLACK_MPS)
    stays = np.linalg.norm(p[after] - p, axis=1) < _STAYS_M
    way_m = p - p[before]
    reach_m = speed[before] * near.back_s
    along_m = np.einsum("ij,ij->i", way_m, v[before]) / np.maximum(speed[before], 1e-9)
    beside_m = np.linalg.norm(way_m - (along_m / np.maximum(speed[before], 1e-9))[:, None] * v[before], axis=1)
    on_way = (along_m > -NOISE_M) & (along_m < reach_m + NOISE_M) & (beside_m < NOISE_M)
    return np.asarray(stands & stays & on_way & (speed[before] > DRIVES_MPS), dtype=np.bool_)


def _crash_m(velocity_mps: FloatArray, near: _Neighbours, inner: BoolArray) -> FloatArray:
    """Return (N,) metres by which a crash can shift a box: 0 unless its velocity changes faster than brakes allow."""
    one = np.where(near.before >= 0, near.before, np.arange(len(inner)))
    other = np.where(near.after >= 0, near.after, np.arange(len(inner)))
    span = np.nan_to_num(near.back_s) + np.nan_to_num(near.ahead_s)
    change = np.nan_to_num(np.linalg.norm(velocity_mps[one] - velocity_mps[other], axis=1))
    crashed = change > STRONG_MPS2 * span
    speed = np.linalg.norm(velocity_mps, axis=1)
    for beside, gap_s in ((one, near.back_s), (other, near.ahead_s)):  # or from its own: it gathered speed until then
        step = np.nan_to_num(np.abs(speed - speed[beside]))
        stopped = inner & (step > STRONG_MPS2 * np.nan_to_num(gap_s, nan=np.inf))
        crashed, change = crashed | stopped, np.where(stopped, np.fmax(change, step), change)
    return np.asarray(np.where(crashed, change * span * np.where(inner, 0.2, 0.5), 0.0))  # stopped dead at once: half


def _cornering_m(velocity_mps: FloatArray, near: _Neighbours) -> FloatArray:
    """Return (N,) metres by which a turn can shift a box from the cubic, by the change of velocity between its neighbours.

    With a constant acceleration a for 2d seconds in the middle of 2h seconds, the place in the middle is off by
    a d (h - d) / 2: a quarter of the change of velocity times (h - d). Harder cornering makes d shorter.
    """
    inner = (near.before >= 0) & (near.after >= 0)
    half_s = np.where(inner, (near.back_s + near.ahead_s) / 2, 0.0)
    change_mps = np.linalg.norm(velocity_mps[near.after] - velocity_mps[near.before], axis=1)
    turning_s = np.minimum(change_mps / HARDEST_MPS2 / 2, half_s)
    return np.asarray(np.where(inner, np.nan_to_num(change_mps * (half_s - turning_s) / 4), 0.0))


def _hermite(
    p0: FloatArray, p1: FloatArray, v0: FloatArray, v1: FloatArray, *, span: FloatArray, share: FloatArray
) -> FloatArray:
    """Return (N, 3) points of the cubics through two points with velocities, at a (N, 1) share of the (N, 1) time between."""
    s = share
    points: FloatArray = (
        (1 + 2 * s) * (1 - s) ** 2 * p0 + s**2 * (3 - 2 * s) * p1 + span * (s * (1 - s) ** 2 * v0 - s**2 * (1 - s) * v1)
    )
    return points


def velocities_are_displacements(evidence: Evidence) -> Iterator[Finding]:
    """The reported velocity lies between the velocities of the displacements before and after.

    At the end of a track, the mean of its velocity and the neighbour's is that of the displacement, unless the two differ as
    after a collision, or the neighbour jumps.
    """
    data, reported, near = evidence.data, evidence.boxes.velocity_mps, _neighbours(evidence)
    if reported is None:
        return
    displacement_mps, wrong = _track_velocities(evidence, reported, near)
    jumped = _jumps(evidence)[2]
    beside_jump = (jumped[near.before] & (near.before >= 0)) | (jumped[near.after] & (near.after >= 0))
    at_end = (near.before < 0) | (near.after < 0)
    for row in np.flatnonzero(wrong & ~(at_end & (jumped | beside_jump))).tolist():
        speed, moved = float(np.linalg.norm(reported[row])), float(np.linalg.norm(displacement_mps[row]))
        apart = float(np.linalg.norm(reported[row] - displacement_mps[row]))
        message = f"velocity is {speed:.1f} m/s, that of the displacement {moved:.1f} m/s ({apart:.1f} m/s apart)"
        yield box_finding(data, row, "motion.velocity", message, reported_mps=speed, shown_mps=moved)


def _track_velocities(evidence: Evidence, reported: FloatArray, near: _Neighbours) -> tuple[FloatArray, BoolArray]:
    """Return (N, 3) velocities of the displacements, m/s, and (N,) bool, whether ``reported`` contradicts them."""
    p = evidence.boxes.centre_m
    back = (p - p[near.before]) / near.back_s[:, None]
    ahead = (p[near.after] - p) / near.ahead_s[:, None]
    both, has_before = (near.before >= 0) & (near.after >= 0), (near.before >= 0)[:, None]
    beside = np.where(has_before, reported[near.before], reported[near.after])
    displacement_mps = np.where(both[:, None], (back + ahead) / 2, 2 * np.where(has_before, back, ahead) - beside)
    steady = STRONG_MPS2 * np.fmax(near.back_s, near.ahead_s) * np.where(both, 0.25, 0.5)
    change = np.linalg.norm(ahead - back, axis=1) / 2
    leap = np.linalg.norm(reported - beside, axis=1)
    crash = leap * np.where(leap > STRONG_MPS2 * np.fmax(near.back_s, near.ahead_s), 1.05, _END_SHARE)
    allowed = SLACK_MPS + np.where(both, change + steady, np.maximum(crash, steady))
    off = np.linalg.norm(reported - displacement_mps, axis=1)
    return displacement_mps, np.asarray(evidence.boxes.usable & np.isfinite(off) & (off > allowed))


def headings_follow_motion(evidence: Evidence) -> Iterator[Finding]:
    """Driving vehicles point in the direction of their motion."""
    data, boxes, near = evidence.data, evidence.boxes, _neighbours(evidence)
    p = boxes.centre_m
    start = np.where(near.before >= 0, near.before, np.arange(len(p)))
    end = np.where(near.after >= 0, near.after, np.arange(len(p)))
    span = np.nan_to_num(near.back_s) + np.nan_to_num(near.ahead_s)
    moved = (p[end] - p[start])[:, :2]
    speed = np.linalg.norm(moved, axis=1) / np.maximum(span, 1e-9)
    is_vehicle = data.of_category(lambda name: name.startswith("vehicle.")) & ~data.flies
    drives = boxes.usable & (span > 0) & (speed > DRIVES_MPS) & is_vehicle
    if boxes.velocity_mps is not None:
        drives &= np.linalg.norm(boxes.velocity_mps[:, :2], axis=1) > DRIVES_MPS
    course = np.arctan2(moved[:, 1], moved[:, 0])
    aside = np.abs((boxes.yaw_rad - course + np.pi) % (2 * np.pi) - np.pi)
    for row in np.flatnonzero(drives & (aside > SIDEWAYS_RAD)).tolist():
        message = f"drives at {speed[row]:.1f} m/s, {np.degrees(aside[row]):.0f} degrees off its nose"
        yield box_finding(data, row, "motion.heading", message, aside_deg=round(float(np.degrees(aside[row])), 1))


def cameras_fly_smoothly(evidence: Evidence) -> Iterator[Finding]:
    """A camera moves evenly from image to image: a stale pose stands still and then leaps."""
    position, track, data = evidence.cameras.position_m, evidence.track, evidence.data
    time = data["sample_data"]["timestamp"][evidence.cameras.rows]
    if len(position) < 3:
        return
    inner = np.flatnonzero((track[2:] == track[:-2]) & (time[2:] > time[:-2])) + 1
    share = ((time[inner] - time[inner - 1]) / (time[inner + 1] - time[inner - 1]))[:, None]
    off = np.linalg.norm(position[inner] - position[inner - 1] * (1 - share) - position[inner + 1] * share, axis=1)
    usual = float(np.nanmedian(off)) if np.isfinite(off).any() else 0.0
    level = np.zeros(len(position))
    level[inner] = np.nan_to_num(off)
    peak = (level[inner] >= level[inner - 1]) & (level[inner] >= level[inner + 1])
    for n in np.flatnonzero(peak & (off > CAMERA_STEP * usual + CAMERA_NOISE_M)).tolist():
        row = int(evidence.cameras.rows[inner[n]])
        message = f"camera is {off[n]:.1f} m off the line between its neighbours in time"
        yield Finding("motion.camera", message, numbers={"off_m": round(float(off[n]), 3)}, **data.data_place(row))
