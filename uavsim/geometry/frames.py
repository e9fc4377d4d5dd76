"""The frames, said once.

| name | axes | hand | where |
|---|---|---|---|
| ``ue`` | x forward, y right, z up, metres; roll, pitch, yaw in degrees | left | CARLA, UAV3D files: only in ``unreal.py`` |
| ``ned`` / ``frd`` | north-east-down / forward-right-down | right | AirSim world / body |
| ``home`` | like ``ned``, at one drone's own spawn point | right | AirSim's API speaks of each drone from its home |
| ``map`` / ``flu`` | x, y, z up / forward-left-up | right | the town's OpenDRIVE frame, our global / a body |
| ``optical`` | x right, y down, z forward | right | cameras |

``map`` is ``ue`` with y flipped, and diag(1, -1, -1) of ``ned``. AirSim calls Unreal's x "north", CARLA's georeference calls
the same axis east: names, not a turn; nothing is ever swapped, only mirrored.
"""

from typing import Final

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

_HALF_TURN_ABOUT_X: Final[FloatArray] = np.diag([1.0, -1.0, -1.0])
_SIGNS: Final[FloatArray] = np.array([1.0, 1.0, -1.0, -1.0])

MAP_SE3_NED: Final = SE3.from_rotation(_HALF_TURN_ABOUT_X, np.zeros(3))
"""AirSim's world to ours, when AirSim's origin is the map's; else ``map_SE3_ned``."""
NED_SE3_MAP: Final = MAP_SE3_NED.inverse()
FLU_SE3_FRD: Final = SE3.from_rotation(_HALF_TURN_ABOUT_X, np.zeros(3))
FRD_SE3_FLU: Final = FLU_SE3_FRD.inverse()
FLU_SE3_OPTICAL: Final = SE3.from_rotation(np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]), np.zeros(3))


def map_SE3_ned(*, airsim_origin_ue_m: FloatArray) -> SE3:
    """Return AirSim's world frame seen from the map.

    Args:
        airsim_origin_ue_m: (3,) AirSim's PlayerStart in CARLA's left-handed frame, metres: measured once per town.
    """
    x, y, z = np.asarray(airsim_origin_ue_m, dtype=np.float64)
    return SE3.from_rotation(_HALF_TURN_ABOUT_X, np.array([x, -y, z]))


def map_SE3_flu_from_airsim(ned_SE3_frd: SE3, *, airsim_origin_ue_m: FloatArray | None = None) -> SE3:
    """Turn an AirSim vehicle pose into a nuScenes ego pose.

    Neighbouring frame names cancel, which is the whole proof: ``map_SE3_ned @ ned_SE3_frd @ frd_SE3_flu``.

    Args:
        ned_SE3_frd: drone body in AirSim's world, metres. Poses read per vehicle start at that vehicle's own spawn:
            take them through ``ned_from_home`` first.
        airsim_origin_ue_m: (3,) see ``map_SE3_ned``; the map's own origin by default.

    Source: AirSim docs/apis.md, "Coordinate System"; nuScenes schema, "ego_pose".
    """
    world = MAP_SE3_NED if airsim_origin_ue_m is None else map_SE3_ned(airsim_origin_ue_m=airsim_origin_ue_m)
    return world @ ned_SE3_frd @ FRD_SE3_FLU


def ned_from_home(home_t_m: FloatArray, *, ned_t_home_m: FloatArray) -> FloatArray:
    """Take (..., 3) points from a drone's home frame to AirSim's world; homes are shifted, never turned."""
    return np.asarray(home_t_m, dtype=np.float64) + np.asarray(ned_t_home_m, dtype=np.float64)


def quat_map_from_ned(ned_q_frd_wxyz: FloatArray) -> FloatArray:
    """Turn (..., 4) AirSim attitudes into ``map_q_flu``: (w, x, -y, -z). Also UAV3D's files to strict nuScenes.

    Both ends turn by the same half turn about x, which flips the signs of y and z; w keeps its sign.
    """
    return np.asarray(ned_q_frd_wxyz, dtype=np.float64) * _SIGNS


def quat_ned_from_map(map_q_flu_wxyz: FloatArray) -> FloatArray:
    """Turn (..., 4) ``map_q_flu`` into AirSim attitudes: the same sign flips, which undo themselves."""
    return np.asarray(map_q_flu_wxyz, dtype=np.float64) * _SIGNS
