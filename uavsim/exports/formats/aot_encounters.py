"""AOT's list of valid encounters in ground truth.

An encounter is a run of rows of one planned object within 700 m with gaps of at most three frames. It is valid with at least
30 rows and a least range of at most 330 m. Source: the starter kit's ``calculate_encounters.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from uavsim.typing import JsonDict

_MOST_M, _NEAR_M, _MOST_GAP, _LEAST_ROWS = 700.0, 330.0, 3, 30
ENCOUNTER_COLUMNS: Final = (
    "encounter_id", "flight_id", "framemin", "framemax", "framecount", "enc_len_with_gaps", "is_above_horizon",
    "min_enc_range", "max_enc_range", "median_enc_range", "mean_enc_range",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One object in one image, or an image without objects.

    Attributes:
        box_px: left, top, width, height.
        range_m: distance of a planned object; None for others.
        horizon: -1 below, 0 on, 1 above the horizon; None if unknown.
    """

    flight: str
    image: str
    frame: int
    time_ns: int
    object_id: str = ""
    box_px: tuple[float, ...] = ()
    range_m: float | None = None
    horizon: int | None = None


@dataclass(frozen=True, slots=True)
class FoundEncounter:
    """One valid encounter: values of AOT's columns, and the names of its images."""

    record: JsonDict
    images: tuple[str, ...]


def valid_encounters(rows: Sequence[Row]) -> list[FoundEncounter]:
    """Return the valid encounters of all flights, numbered from 0."""
    near = [row for row in rows if row.range_m is not None and row.range_m <= _MOST_M]
    near.sort(key=lambda row: (row.flight, row.object_id, row.time_ns))
    runs: list[list[Row]] = []
    for row in near:
        before = runs[-1][-1] if runs else None
        same = before is not None and (before.flight, before.object_id) == (row.flight, row.object_id)
        if before is None or not same or row.frame - before.frame > _MOST_GAP:
            runs.append([])
        runs[-1].append(row)
    valid = [run for run in runs if len(run) >= _LEAST_ROWS and min(row.range_m or 0.0 for row in run) <= _NEAR_M]
    return [FoundEncounter(_record(number, run), tuple(row.image for row in run)) for number, run in enumerate(valid)]


def _record(number: int, run: list[Row]) -> JsonDict:
    ranges = [row.range_m for row in run if row.range_m is not None]
    sides = [row.horizon for row in run if row.horizon is not None]
    return {
        "encounter_id": number,
        "flight_id": run[0].flight,
        "framemin": run[0].frame,
        "framemax": run[-1].frame,
        "framecount": len(run),
        "enc_len_with_gaps": run[-1].frame - run[0].frame + 1,
        "is_above_horizon": fmean(sides) if sides else None,
        "min_enc_range": min(ranges),
        "max_enc_range": max(ranges),
        "median_enc_range": median(ranges),
        "mean_enc_range": fmean(ranges),
    }
