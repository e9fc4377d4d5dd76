"""The columns of ``calibrated_sensor`` that say a camera's lens, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from uavsim.dataset.rows import CalibratedSensorRow, LensColumns
from uavsim.errors import DatasetError
from uavsim.geometry.lens import LENS_MODELS, Lens

__all__ = ["columns_of", "kept_columns", "lens_of"]


def columns_of(lens: Lens | None) -> LensColumns:
    """Return the columns; none of a pinhole."""
    return {} if lens is None else {"uav_lens": lens.model, "uav_distortion": list(lens.coefficients)}


def kept_columns(row: CalibratedSensorRow) -> LensColumns:
    """Return them as a row has them."""
    if "uav_lens" not in row:
        return {}
    return {"uav_lens": row["uav_lens"], "uav_distortion": row["uav_distortion"]}


def lens_of(row: Mapping[str, Any], *, size_px: tuple[int, int]) -> Lens | None:
    """Return the lens of a row of ``calibrated_sensor`` whose images have this size; None of a pinhole.

    Raises:
        DatasetError: one that is not known here.
    """
    name = row.get("uav_lens")
    if name is None:
        return None
    coefficients = tuple(map(float, row["uav_distortion"]))
    if name not in LENS_MODELS or len(coefficients) not in LENS_MODELS[name].counts:
        known = ", ".join(LENS_MODELS)
        raise DatasetError(f"no lens {name!r} with {len(coefficients)} coefficients is known here: {known}")
    (fx, _, cx), (_, fy, cy) = row["camera_intrinsic"][:2]
    return Lens(name, coefficients, (fx, fy), (cx, cy), size_px)
