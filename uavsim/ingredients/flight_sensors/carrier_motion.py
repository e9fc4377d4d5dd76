"""Motion between the simulator's steps: cubic splines through the poses at all steps.

The splines are twice differentiable: acceleration and turning rate are exact derivatives of the motion that passes through the
pose of every image.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation, RotationSpline

from uavsim.geometry.geographic import DEFAULT_ORIGIN_DEG_M, GeographicOrigin
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray, IntArray

GRAVITY_MPS2: Final = 9.81
"""Gravity of CARLA and AirSim, along -z of the map frame."""


@dataclass(frozen=True, slots=True, eq=False)
class CarrierMotion:
    """Poses, velocities and accelerations of a carrier at (N,) instants.

    Attributes:
        turn: (N,) rotations map <- flu.
        turning_flu_radps: (N, 3) angular velocities in the carrier's flu frame, rad/s.
        origin_deg_m: geographic origin of the map frame.
    """

    timestamp_us: IntArray
    position_map_m: FloatArray
    velocity_map_mps: FloatArray
    acceleration_map_mps2: FloatArray
    turn: Rotation
    turning_flu_radps: FloatArray
    origin_deg_m: GeographicOrigin

    @property
    def specific_force_flu_mps2(self) -> FloatArray:
        """(N, 3) readings of an accelerometer without errors, flu, m/s^2: +9.81 upwards at rest, 0 in free fall."""
        up = np.array([0.0, 0.0, GRAVITY_MPS2])
        return np.asarray(self.turn.apply(self.acceleration_map_mps2 + up, inverse=True))


class Track:
    """A carrier's motion in a scene."""

    def __init__(
        self,
        map_SE3_flu: SE3,
        *,
        step_us: int,
        start_us: int,
        velocity_map_mps: FloatArray | None = None,
        origin_deg_m: GeographicOrigin = DEFAULT_ORIGIN_DEG_M,
    ) -> None:
        """Fit splines to the poses of all steps.

        Args:
            map_SE3_flu: (K,) poses of the carrier.
            step_us: time between two poses.
            start_us: time of the first pose.
            velocity_map_mps: (K, 3) measured velocities, m/s; default: derivatives of the position spline.
            origin_deg_m: geographic origin of the map frame.
        """
        if len(map_SE3_flu) == 1:  # a scene with one image: the carrier stands
            map_SE3_flu = SE3.stack([map_SE3_flu[0], map_SE3_flu[0]])
        steps_s = np.arange(len(map_SE3_flu)) * (step_us / 1e6)
        self._start_us, self._origin_deg_m = start_us, origin_deg_m
        k = min(3, len(steps_s) - 1)
        self._position = make_interp_spline(steps_s, map_SE3_flu.translation_m, k=k)
        known = velocity_map_mps is not None and len(velocity_map_mps) == len(steps_s)
        self._velocity = make_interp_spline(steps_s, velocity_map_mps, k=k) if known else self._position.derivative()
        self._turn = RotationSpline(steps_s, Rotation.from_quat(map_SE3_flu.quat_wxyz, scalar_first=True))

    def at(self, timestamp_us: IntArray) -> CarrierMotion:
        """Return the motion at (N,) times in microseconds."""
        at_s = (timestamp_us - self._start_us) / 1e6
        velocity, turn = self._velocity, self._turn
        return CarrierMotion(
            timestamp_us,
            self._position(at_s),
            velocity(at_s),
            velocity(at_s, 1),
            turn(at_s),
            turn(at_s, 1),
            self._origin_deg_m,
        )
