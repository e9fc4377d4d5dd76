"""Coordinate frames, defined once for the whole project.

| name | axes | hand | where |
|---|---|---|---|
| ``ue`` | x forward, y right, z up, metres; roll, pitch, yaw in degrees | left | CARLA, UAV3D files: only in ``unreal.py`` |
| ``ned`` / ``frd`` | north-east-down / forward-right-down | right | AirSim world / body |
| ``home`` | like ``ned``, at one drone's own spawn point | right | AirSim's API speaks of each drone from its home |
| ``map`` / ``flu`` | x, y, z up / forward-left-up | right | the town's OpenDRIVE frame, our global / a body |
| ``optical`` | x right, y down, z forward | right | cameras |

``map`` is ``ue`` with y flipped, and diag(1, -1, -1) of ``ned``. AirSim calls Unreal's x "north", CARLA's georeference calls
the same axis east. Only the names differ: axes are mirrored, never swapped.
"""

from typing import Final

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

_HALF_TURN_ABOUT_X: Final[FloatArray] = np.diag([1.0, -1.0, -1.0])
_SIGNS: Final[FloatArray] = np.array([1.0, 1.0, -1.0, -1.0])

MAP_SE3_NED: Final = SE3.from_rotation(_HALF_TURN_ABOUT_X, np.zeros(3))
"""AirSim's world frame in the map frame, where AirSim's origin is the map's; else ``map_SE3_ned``."""
NED_SE3_MAP: Final = MAP_SE3_NED.inverse()
FLU_SE3_FRD: Final = SE3.from_rotation(_HALF_TURN_ABOUT_X, np.zeros(3))
FLU_SE3_OPTICAL: Final = SE3.from_rotation(np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]), np.zeros(3))


def map_SE3_ned(*, airsim_origin_ue_m: FloatArray) -> SE3:
    """Return the pose of AirSim's world frame in the map frame.

    Args:
        airsim_origin_ue_m: (3,) AirSim's PlayerStart in CARLA's left-handed frame, metres; measured once per town.
    """
    x, y, z = np.asarray(airsim_origin_ue_m, dtype=np.float64)
    return SE3.from_rotation(_HALF_TURN_ABOUT_X, np.array([x, -y, z]))


def quat_map_from_ned(ned_q_frd_wxyz: FloatArray) -> FloatArray:
    """Convert (..., 4) AirSim attitudes to ``map_q_flu``: (w, x, -y, -z). Also converts UAV3D files to strict nuScenes.

    The frames at both ends are rotated by half a turn about x, which flips the signs of y and z; w keeps its sign.
    """
    return np.asarray(ned_q_frd_wxyz, dtype=np.float64) * _SIGNS


def quat_ned_from_map(map_q_flu_wxyz: FloatArray) -> FloatArray:
    """Convert (..., 4) ``map_q_flu`` to AirSim attitudes: the same sign flips, which are their own inverse."""
    return np.asarray(map_q_flu_wxyz, dtype=np.float64) * _SIGNS
