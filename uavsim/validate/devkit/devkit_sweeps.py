"""Check of radar sweeps that the devkit accumulates for detectors; runs in the devkit environment."""

from __future__ import annotations

from typing import Any

from nuscenes.nuscenes import NuScenes
from nuscenes.utils.data_classes import RadarPointCloud

RADAR_SWEEPS = 5


def sweeps_fault(nusc: NuScenes, sample: dict[str, Any], channel: str) -> str:
    """Return the fault of a radar's accumulated sweeps, or "": each has its own time, and no detection is lost."""
    row, counts = nusc.get("sample_data", sample["data"][channel]), list[int]()
    while len(counts) < RADAR_SWEEPS:
        counts.append(RadarPointCloud.from_file(nusc.get_sample_data_path(row["token"])).nbr_points())
        if not row["prev"]:
            break
        row = nusc.get("sample_data", row["prev"])
    cloud, ages_s = RadarPointCloud.from_file_multisweep(nusc, sample, channel, channel, RADAR_SWEEPS, min_distance=0.0)
    expected_count, point_count, times = sum(counts), cloud.nbr_points(), len(set(ages_s.ravel().tolist()))
    if point_count == expected_count and times == sum(count > 0 for count in counts):
        return ""
    return f"{channel}: {len(counts)} sweeps of {expected_count} detections come as {point_count} of {times} times"
