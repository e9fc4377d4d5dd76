"""The lens and shutter columns of ``calibrated_sensor``, and the table ``shutter_tick``."""

from collections.abc import Mapping
from typing import Any, cast

from uavsim.dataset.rows import CalibratedSensorRow, LensColumns, ShutterTickRow
from uavsim.dataset.tokens import token
from uavsim.errors import DatasetError
from uavsim.geometry.lens import LENS_MODELS, Lens
from uavsim.geometry.shutter import Shutter
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import RecordedFrame
from uavsim.records.sensors import CameraParams


def columns_of(camera: CameraParams | None) -> LensColumns:
    """Return the columns of a camera; {} for a pinhole without a shutter, and for other sensors."""
    found: LensColumns = {}
    if camera is None:
        return found
    if camera.lens is not None:
        found |= {"uav_lens": camera.lens.model, "uav_distortion": list(camera.lens.coefficients)}
    if camera.vignetting:
        found |= {"uav_vignetting": list(camera.vignetting)}
    if (shutter := camera.shutter) is not None:
        found |= {
            "uav_exposure_us": shutter.exposure_us,
            "uav_readout_us": shutter.readout_us,
            "uav_shutter_step_us": shutter.step_us,
        }
    return found


def shutter_ticks(plan: ScenePlan, frame: RecordedFrame) -> list[ShutterTickRow]:
    """Return the rows of ``shutter_tick`` for the images of a frame."""
    rows: list[ShutterTickRow] = []
    shutter_cameras = [(reading.channel, s) for reading in frame.cameras if (s := reading.camera.shutter) is not None]
    for number, tick in enumerate(frame.shutter):
        for (channel, shutter), pose in zip(shutter_cameras, tick.map_SE3_optical, strict=True):
            if number > shutter.steps:
                continue  # another camera has a longer shutter
            owner = token(plan.dataset, plan.scene_name, "sample_data", channel, frame.timestamp_us)
            rows.append(
                {
                    "token": token(owner, "shutter", number),
                    "sample_data_token": owner,
                    "timestamp": frame.timestamp_us + number * plan.step_us,
                    "translation": pose.translation_m.tolist(),
                    "rotation": pose.quat_wxyz.tolist(),
                }
            )
    return rows


def copied_columns(row: CalibratedSensorRow) -> LensColumns:
    """Return the lens and shutter columns of a row."""
    return cast("LensColumns", {name: value for name, value in row.items() if name in LensColumns.__annotations__})


def shutter_of(row: Mapping[str, Any]) -> Shutter | None:
    """Return the shutter of a row of ``calibrated_sensor``, or None."""
    if "uav_readout_us" not in row:
        return None
    return Shutter(row["uav_exposure_us"], row["uav_readout_us"], row["uav_shutter_step_us"])


def lens_of(row: Mapping[str, Any], *, size_px: tuple[int, int]) -> Lens | None:
    """Return the lens of a row of ``calibrated_sensor`` for images of this size; None for a pinhole.

    Raises:
        DatasetError: the lens model or its number of coefficients is unknown.
    """
    name = row.get("uav_lens")
    if name is None:
        return None
    coefficients = tuple(map(float, row["uav_distortion"]))
    if name not in LENS_MODELS or len(coefficients) not in LENS_MODELS[name].counts:
        known = ", ".join(LENS_MODELS)
        raise DatasetError(f"unknown lens {name!r} with {len(coefficients)} coefficients; known: {known}")
    (fx, _, cx), (_, fy, cy) = row["camera_intrinsic"][:2]
    return Lens(name, coefficients, (fx, fy), (cx, cy), size_px)
