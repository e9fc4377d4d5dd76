"""Comparison of the devkit's ``box_velocity`` with the simulator's velocity; runs in the devkit environment."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from nuscenes.nuscenes import NuScenes

STRAIGHT_RAD = 0.02  # straight driving: the heading turns less over both neighbouring samples
STRAIGHT_MPS2 = 0.5
VELOCITY_AGREES_MPS = 0.3
DEVKIT_GAP_S = 1.5  # box_velocity(max_time_diff=...), for samples next to each other
CAR = "vehicle.car"
VELOCITY_FIELDS = ("uav_velocity", "uav_velocity_map_mps", "velocity")


def velocities(nusc: NuScenes, _: argparse.Namespace) -> dict[str, Any]:
    """Compare ``box_velocity`` with the simulator's velocity in the annotation.

    By default the devkit returns NaN for samples that are more than 1.5 s apart. For datasets with slower keyframes this check
    passes their step as the limit. It then requires finite velocities only: cars stop and go within one such step.
    """
    tracked = [row for row in nusc.sample_annotation if row["next"]]
    steps_us = [_time_us(nusc, nusc.get("sample_annotation", row["next"])) - _time_us(nusc, row) for row in tracked]
    step_s = 1e-6 * max(steps_us, default=0)
    slow = step_s > DEVKIT_GAP_S
    gap_s = max(DEVKIT_GAP_S, 1.001 * step_s)
    field = next((f for f in VELOCITY_FIELDS if nusc.sample_annotation and f in nusc.sample_annotation[0]), None)
    not_finite, alone, errors = [], 0, []
    for row in nusc.sample_annotation:
        speed = nusc.box_velocity(row["token"], max_time_diff=gap_s)
        if not row["prev"] and not row["next"]:
            alone += 1  # one annotation has no displacement: the devkit returns NaN
        elif not np.all(np.isfinite(speed)):
            not_finite.append(row["token"])
        elif field and _drives_straight(nusc, row, field):
            errors.append(float(np.linalg.norm(speed[:2] - np.asarray(row[field])[:2])))
    worst = max(errors, default=0.0)
    long_enough = any(row["prev"] and row["next"] and row["category_name"] == CAR for row in nusc.sample_annotation)
    why = "no car is seen in three successive samples" if field else "no annotation reports a velocity"
    none = {} if errors or (field and long_enough) else {"note": f"nothing to compare: {why}"}
    agree = worst <= VELOCITY_AGREES_MPS and bool(errors or none)  # with wrong velocities no car drives straight
    return {
        "ok": not not_finite and (slow or agree),
        **none,
        "field": field,
        "not_finite": len(not_finite),
        "max_time_diff_s": round(gap_s, 3),
        "single_annotation_tracks": alone,
        "compared": len(errors),
        "worst_mps": worst,
        "median_mps": float(np.median(errors)) if errors else None,
    }


def _drives_straight(nusc: NuScenes, row: dict[str, Any], field: str) -> bool:
    if not row["prev"] or not row["next"]:
        return False
    around = [nusc.get("sample_annotation", row[key]) for key in ("prev", "next")]
    yaws = [_yaw(r["rotation"]) for r in (*around, row)]
    turn = max(abs(math.remainder(yaw - yaws[-1], math.tau)) for yaw in yaws)
    gap_s = (_time_us(nusc, around[1]) - _time_us(nusc, around[0])) * 1e-6
    change = max(np.linalg.norm(np.asarray(r[field]) - np.asarray(row[field])) for r in around) / gap_s * 2
    return bool(row["category_name"] == CAR and turn < STRAIGHT_RAD and change < STRAIGHT_MPS2)


def _time_us(nusc: NuScenes, annotation: dict[str, Any]) -> int:
    return int(nusc.get("sample", annotation["sample_token"])["timestamp"])


def _yaw(wxyz: list[float]) -> float:
    w, x, y, z = wxyz
    return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
