"""Projections by OpenCV itself, and Kalibr's, written out from its camera models.

Source: aslam_cv, RadialTangentialDistortion and EquidistantDistortion.
"""

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np

from uavsim.typing import FloatArray

Formula: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""(N, 3) points, (3, 3) matrix, coefficients -> (N, 2) pixels."""


def opencv_project(points: FloatArray, matrix: FloatArray, k: FloatArray) -> FloatArray:
    """Return (N, 2) pixels of (N, 3) points; four coefficients are a fisheye's."""
    still = np.zeros(3)
    if len(k) == 4:
        return np.asarray(cv2.fisheye.projectPoints(points[:, None], still, still, matrix, k)[0][:, 0])
    return np.asarray(cv2.projectPoints(points, still, still, matrix, k)[0][:, 0])


def kalibr_project(points: FloatArray, matrix: FloatArray, k: FloatArray) -> FloatArray:
    """Return (N, 2) pixels of (N, 3) points; four coefficients are an equidistant lens's, five those of radtan and k3 = 0."""
    y0, y1 = points[:, 0] / points[:, 2], points[:, 1] / points[:, 2]
    if len(k) == 4:
        r = np.sqrt(y0**2 + y1**2)
        theta = np.arctan(r)
        theta_d = theta * (1 + k[0] * theta**2 + k[1] * theta**4 + k[2] * theta**6 + k[3] * theta**8)
        scaling = np.where(r > 1e-8, theta_d / np.maximum(r, 1e-8), 1.0)
        y0, y1 = y0 * scaling, y1 * scaling
    else:
        assert k[4] == 0
        mx2_u, my2_u, mxy_u = y0**2, y1**2, y0 * y1
        rho2_u = mx2_u + my2_u
        rad_dist_u = k[0] * rho2_u + k[1] * rho2_u**2
        y0, y1 = (
            y0 + y0 * rad_dist_u + 2 * k[2] * mxy_u + k[3] * (rho2_u + 2 * mx2_u),
            y1 + y1 * rad_dist_u + 2 * k[3] * mxy_u + k[2] * (rho2_u + 2 * my2_u),
        )
    return np.stack([matrix[0, 0] * y0 + matrix[0, 2], matrix[1, 1] * y1 + matrix[1, 2]], axis=1)
