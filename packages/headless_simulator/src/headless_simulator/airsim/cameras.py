"""Cameras on vehicles and external cameras: their poses and projection matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from headless_simulator.airsim.ned import (
    IDENTITY,
    Quat,
    Vec3,
    add,
    euler_from_quat,
    quat_from_euler,
    quat_multiply,
    quat_unit,
    rotate,
)
from headless_simulator.airsim.settings import AirSimSettings, CameraSetting, Capture, VehicleSetting
from headless_simulator.errors import CallRefused

NEAR_M: Final = 0.1  # Unreal's near plane of 10 cm
ALIASES: Final = {
    "0": "front_center", "1": "front_right", "2": "front_left", "3": "bottom_center", "4": "back_center",
    "": "front_center", "fpv": "front_center",
}  # fmt: skip
# Where AirSim's BP_FlyingPawn has its cameras (body axes, metres; pitch and yaw, degrees).
BUILT_IN: Final = {
    "front_center": ((0.46, 0.0, 0.0), 0.0, 0.0),
    "front_right": ((0.46, 0.125, 0.0), 0.0, 0.0),
    "front_left": ((0.46, -0.125, 0.0), 0.0, 0.0),
    "bottom_center": ((0.0, 0.0, 0.12), -90.0, 0.0),
    "back_center": ((-0.46, 0.0, 0.0), 0.0, 180.0),
}  # fmt: skip


class NoSuchCamera(CallRefused):
    """A camera name that the vehicle does not have."""


@dataclass(slots=True)
class Camera:
    """A camera with the changes that clients made."""

    name: str
    position_m: Vec3
    quat: Quat
    captures: tuple[Capture, ...]
    gimbal: tuple[float, float, float, float]
    distortion: dict[str, float]

    @staticmethod
    def of(name: str, setting: CameraSetting) -> Camera:
        """Build one from its settings."""
        return Camera(name, setting.position_m, setting.orientation, setting.captures, setting.gimbal, {})

    def pose(self, body_position_m: Vec3 = (0.0, 0.0, 0.0), body_quat: Quat = IDENTITY) -> tuple[Vec3, Quat]:
        """Return the camera's position, metres, and wxyz quaternion in the frame of the body's pose."""
        position = add(body_position_m, rotate(body_quat, self.position_m))
        return position, self._stabilized(quat_multiply(body_quat, self.quat))

    def _stabilized(self, quat: Quat) -> Quat:
        share, *held_deg = self.gimbal
        share = min(max(share, 0.0), 1.0)
        if share <= 0:
            return quat
        mixed = [
            angle if math.isnan(requested) else math.radians(requested) * share + angle * (1 - share)
            for angle, requested in zip(euler_from_quat(quat), held_deg, strict=True)
        ]
        return quat_from_euler(*mixed)

    def set_pose(self, position_m: Vec3, quat: Quat) -> None:
        """Set the mount: position, metres, body axes, and wxyz quaternion, which a gimbal holds in the world frame."""
        self.position_m = position_m
        turn = quat_unit(quat)
        if self.gimbal[0] > 0:
            roll, pitch, yaw = (math.degrees(angle) for angle in euler_from_quat(turn))
            self.gimbal = (self.gimbal[0], roll, pitch, yaw)
        else:
            self.quat = turn

    def set_fov(self, fov_deg: float) -> None:
        """Change the horizontal field of view of every image type.

        Raises:
            CallRefused: the angle is outside [1, 180) degrees.
        """
        if not 1.0 <= fov_deg < 180.0:
            raise CallRefused(f"fov {fov_deg} must be from 1 to below 180 degrees")
        self.captures = tuple(replace(capture, fov_deg=float(fov_deg)) for capture in self.captures)


def vehicle_cameras(vehicle: VehicleSetting, settings: AirSimSettings) -> dict[str, Camera]:
    """Return a vehicle's cameras: AirSim's five built-in cameras and the configured ones."""
    cameras = {}
    for name, (position, pitch, yaw) in BUILT_IN.items():
        base = replace(settings.camera_defaults, position_m=position, pitch_deg=pitch, yaw_deg=yaw, roll_deg=0.0)
        cameras[name] = Camera.of(name, base)
    for name, setting in vehicle.cameras.items():
        cameras[name] = Camera.of(name, setting)
    return cameras


def find_camera(cameras: Mapping[str, Camera], name: Any, *, owner: str) -> Camera:
    """Find a camera by name, number or alias; configured names precede built-in ones.

    Raises:
        NoSuchCamera: no camera has that name.
    """
    requested = str(name)
    camera = cameras.get(requested) or cameras.get(ALIASES.get(requested, ""))
    if camera is None:
        raise NoSuchCamera(f"camera '{requested}' does not exist on '{owner}'; cameras: {', '.join(cameras) or 'none'}")
    return camera


def projection_matrix(capture: Capture) -> list[list[float]]:
    """Return AirSim's 4x4 matrix from camera axes (forward, right, down; metres) to clip space with reversed depth.

    Unreal multiplies with the half field of view's tangent on the longer side; clip x is right, y up, w the distance ahead.
    """
    wide, high = capture.width_px, capture.height_px
    cot = 1.0 / math.tan(math.radians(capture.fov_deg) / 2)
    across, up = (cot, cot * wide / high) if wide >= high else (cot * high / wide, cot)
    return [
        [0.0, across, 0.0, 0.0],
        [0.0, 0.0, -up, 0.0],
        [0.0, 0.0, 0.0, NEAR_M],
        [1.0, 0.0, 0.0, 0.0],
    ]
