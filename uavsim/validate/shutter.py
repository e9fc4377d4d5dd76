"""Checks of images through shutters: the times of their ticks, and the rows of the image's own tick.

This module computes the times of the rows itself, so that it does not repeat a mistake of the writer.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from uavsim.errors import DatasetError
from uavsim.typing import IntArray
from uavsim.validate.dataset import DataSet
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

_KINDS: Final = ("shutter", "shutter_instance")
_NEAR_M: Final = 1e-3
_COLUMNS: Final = ("uav_exposure_us", "uav_readout_us", "uav_shutter_step_us")


def shutters_consistent(evidence: Evidence) -> Iterator[Finding]:
    """Each image of a camera with a shutter has evenly spaced ticks, and its first rows show the image's own tick."""
    data = evidence.data
    sensors = data["calibrated_sensor"]
    if any(name not in sensors for name in _COLUMNS) or not (sensors[_COLUMNS[-1]] > 0).any():
        return
    exposure, readout, step = (sensors[name] for name in _COLUMNS)
    if "shutter_tick" not in data.tables:
        yield Finding("shutter.ticks", "cameras have shutters, but the table shutter_tick is missing")
        return
    ticks = data["shutter_tick"]
    order = np.lexsort((ticks["timestamp"], ticks["sample_data_token"]))
    owner = ticks["sample_data_token"][order]
    files = _files(data)
    for row, camera_m in zip(evidence.cameras.rows.tolist(), evidence.cameras.position_m, strict=True):
        sensor = int(data["sample_data"]["calibrated_sensor_token"][row])
        if sensor < 0 or step[sensor] <= 0:
            continue
        tick_rows = order[np.searchsorted(owner, row) : np.searchsorted(owner, row, side="right")]
        times = (int(exposure[sensor]), int(readout[sensor]), int(step[sensor]))
        aside_m = float(np.linalg.norm(ticks["translation"][tick_rows[0]] - camera_m)) if len(tick_rows) else 0.0
        if not aside_m < _NEAR_M:
            fault = f"its first tick is {aside_m:.3f} m from where the image was taken"
            yield Finding("shutter.ticks", fault, **data.data_place(row))
        for code, fault in _wrong(data, row, tick_rows, times, files.get(row, {})):
            yield Finding(code, fault, **data.data_place(row))


def _files(data: DataSet) -> dict[int, dict[str, str]]:
    layer = data["layer"]
    found: dict[int, dict[str, str]] = {}
    for name, kind, row in zip(layer["filename"], layer["kind"], layer["sample_data_token"].tolist(), strict=True):
        if kind in (*_KINDS, "instance"):
            found.setdefault(row, {})[kind] = name
    return found


def _wrong(
    data: DataSet, row: int, tick_rows: IntArray, times: tuple[int, int, int], files: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield codes and faults of one image."""
    from uavsim.validate.image_measurements import ids_and_tags  # compiled code

    exposure_us, readout_us, step_us = times

    ticks, stamp = data["shutter_tick"], int(data["sample_data"]["timestamp"][row])
    expected = stamp + np.arange((exposure_us + readout_us) // step_us + 1) * step_us
    if not np.array_equal(ticks_us := ticks["timestamp"][tick_rows], expected):
        yield (
            "shutter.ticks",
            f"{len(ticks_us)} ticks, expected {len(expected)} from the image's on, {step_us} us apart",
        )
        return
    for kind in _KINDS:
        if kind not in files:
            yield "shutter.image", f"the image has no {kind}"
    if "shutter_instance" not in files or "instance" not in files:
        return
    try:
        mask, plain = (
            np.stack(ids_and_tags(data.read(files[kind])), axis=-1) for kind in ("shutter_instance", "instance")
        )
    except DatasetError:
        return  # the file checks report unreadable files
    if mask.shape != plain.shape:
        size = "{1}x{0}".format
        yield "shutter.image", f"its mask is {size(*mask.shape[:2])}, the image's {size(*plain.shape[:2])}"
        return
    begins_us = readout_us * (np.arange(len(mask)) + 0.5) / len(mask)
    of_first_tick = np.floor(begins_us / step_us + 0.5).astype(int) + exposure_us // step_us // 2 == 0
    if (mask[of_first_tick] != plain[of_first_tick]).any():
        yield (
            "shutter.image",
            f"its first {int(of_first_tick.sum())} rows are of the image's tick, but differ from the image",
        )
