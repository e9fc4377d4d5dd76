"""Boxes and cameras of both dialects in the map frame (right-handed, z up), sizes as length, width, height.

strict: boxes and ego poses are in the map frame, ``map_T_optical`` = ego pose x calibration.
uav3d (docs/formats-uav3d.md): CARLA's left-handed axes, y flipped; quaternions of the NED frame, therefore (w, x, -y, -z);
translation is the actor's origin; size is length, width, height; the calibration is the camera's global pose.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import BoolArray, FloatArray, IntArray
from uavsim.validate.dataset import DataSet, follow
from uavsim.validate.lens import Lens
from uavsim.validate.tables import ColumnTable

_FLIP_Y: Final = np.array([1.0, -1.0, 1.0])
_NED_TO_FLU: Final = np.array([1.0, 1.0, -1.0, -1.0])
_FLU_R_OPTICAL: Final = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_NOT_UNIT: Final = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class AnnotationBoxes:
    """All annotations, row by row as in the table.

    Attributes:
        centre_m: (N, 3) in the map frame.
        rotation: (N, 3, 3) map <- box (x along the length, y left, z up); NaN for an invalid quaternion.
        half_lwh_m: (N, 3) half length, width, height.
        velocity_mps: (N, 3) from the simulator, or None if the dataset has none.
        time_s: (N,) of the sample.
        usable: (N,) bool, all values are finite and all sizes positive.
    """

    centre_m: FloatArray
    rotation: FloatArray
    half_lwh_m: FloatArray
    velocity_mps: FloatArray | None
    time_s: FloatArray
    usable: BoolArray

    @property
    def bottom_z_m(self) -> FloatArray:
        """(N,) height of the centre of the box's lower face."""
        low: FloatArray = self.centre_m[:, 2] - self.rotation[:, 2, 2] * self.half_lwh_m[:, 2]
        return low

    @property
    def yaw_rad(self) -> FloatArray:
        """(N,) heading, counter-clockwise from x."""
        return np.arctan2(self.rotation[:, 1, 0], self.rotation[:, 0, 0])


@dataclass(frozen=True, slots=True, eq=False)
class Cameras:
    """The cameras of some sample_data rows.

    Attributes:
        rows: (V,) rows of sample_data.
        position_m: (V, 3) in the map frame.
        rotation: (V, 3, 3) map <- optical (x right, y down, z forward).
        intrinsic: (V, 3, 3).
        usable: (V,) bool, all values are finite.
        lenses: (V,) None for a pinhole.
    """

    rows: IntArray
    position_m: FloatArray
    rotation: FloatArray
    intrinsic: FloatArray
    usable: BoolArray
    lenses: tuple[Lens | None, ...]


def boxes_of(data: DataSet, *, unit_us: float) -> AnnotationBoxes:
    """Return all annotations in the map frame; ``unit_us`` is the unit of the timestamps in microseconds."""
    table = data["sample_annotation"]
    half = table["size"] / 2
    velocity = table.get("uav_velocity")
    if data.dialect == "strict":
        rotation = rotations(table["rotation"])
        centre, half = table["translation"], half[:, [1, 0, 2]]
    else:
        rotation = rotations(table["rotation"] * _NED_TO_FLU)
        offset = _offset(table, half)
        centre = table["translation"] * _FLIP_Y + np.einsum("nij,nj->ni", rotation, offset)
    stamps = follow(table["sample_token"], data["sample"]["timestamp"])
    time_s = np.where(table["sample_token"] >= 0, (stamps - _first(data)) * (unit_us * 1e-6), np.nan)
    finite = np.isfinite(np.concatenate([centre, rotation.reshape(-1, 9), half, time_s[:, None]], axis=1)).all(axis=1)
    return AnnotationBoxes(centre, rotation, half, velocity, time_s, finite & (half > 0).all(axis=1))


def _first(data: DataSet) -> int:
    stamps = data["sample"]["timestamp"]
    return int(stamps.min()) if len(stamps) else 0


def _offset(table: ColumnTable, half: FloatArray) -> FloatArray:
    """Return (N, 3) box centres in the actors' flu frames: as reported, or half the height above the origin."""
    up: FloatArray = half * np.array([0.0, 0.0, 1.0])
    if "uav_bbox_offset" not in table:
        return up
    reported: FloatArray = table["uav_bbox_offset"]
    return np.where(np.isfinite(reported), reported, up)


def cameras_of(data: DataSet, rows: IntArray) -> Cameras:
    """Return the cameras of (V,) sample_data rows in the map frame; ``rows`` as in ``DataSet.camera_rows``."""
    images, calibrations, poses = data["sample_data"], data["calibrated_sensor"], data["ego_pose"]
    calibration = images["calibrated_sensor_token"][rows]
    t, q = calibrations["translation"][calibration], calibrations["rotation"][calibration]
    if data.dialect == "strict":
        pose = images["ego_pose_token"][rows]
        map_R_flu = rotations(poses["rotation"][pose])
        position = poses["translation"][pose] + np.einsum("nij,nj->ni", map_R_flu, t)
        rotation = map_R_flu @ rotations(q)
    else:
        position, rotation = t * _FLIP_Y, rotations(q * _NED_TO_FLU) @ _FLU_R_OPTICAL
    intrinsic = calibrations["camera_intrinsic"][calibration]
    flat = np.concatenate([position, rotation.reshape(-1, 9), intrinsic.reshape(-1, 9)], axis=1)
    lens_of = {row: _lens(calibrations, row) for row in np.unique(calibration).tolist()}
    lenses = tuple(lens_of[row] for row in calibration.tolist())
    return Cameras(rows, position, rotation, intrinsic, np.isfinite(flat).all(axis=1), lenses)


def _lens(calibrations: ColumnTable, row: int) -> Lens | None:
    if "uav_lens" not in calibrations or not calibrations["uav_lens"][row]:
        return None
    k = calibrations["uav_distortion"][row] if "uav_distortion" in calibrations else np.zeros(0)
    return Lens.of(calibrations["uav_lens"][row], k, calibrations["camera_intrinsic"][row])


def rotations(wxyz: FloatArray) -> FloatArray:
    """Return (N, 3, 3) of (N, 4) quaternions; NaN if the length differs from 1 by more than 1e-3, or is not finite."""
    from scipy.spatial.transform import Rotation  # slow to import; only the commands that validate need it

    length = np.linalg.norm(wxyz, axis=-1)
    good = np.isfinite(length) & (np.abs(length - 1) < _NOT_UNIT)
    out = np.full((len(wxyz), 3, 3), np.nan)
    out[good] = Rotation.from_quat(wxyz[good], scalar_first=True).as_matrix()
    return out
