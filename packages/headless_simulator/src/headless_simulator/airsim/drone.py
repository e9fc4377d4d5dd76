"""One vehicle of the fleet: its state, its commands, its last collision."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from headless_simulator.airsim import quad, simple_flight
from headless_simulator.airsim.ned import IDENTITY, Quat, Vec3, pose_map, quat_unit, vector_map
from headless_simulator.airsim.settings import VehicleSetting
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64

Goal = tuple[float, float, float, float]
Modes = tuple[int, int, int, int]
ALL_RATE: Final = (simple_flight.RATE, simple_flight.RATE, simple_flight.RATE, simple_flight.DIRECT)
FARTHEST_M: Final = 1.0e6
LARGEST_GAIN: Final = 1.0e4


@dataclass(frozen=True, slots=True)
class YawMode:
    """Yaw command: an angle, degrees, or a rate, degrees per second."""

    is_rate: bool = True
    degrees: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """The last collision."""

    has_collided: bool
    normal: Vec3
    point_m: Vec3
    position_m: Vec3
    depth_m: float
    object_name: str
    time_ns: int


class FleetState(Protocol):
    """Fleet state seen by a vehicle; each array has one row per vehicle."""

    state: Float64
    mode: Any
    goal: Float64
    gains: Float64
    spawn_m: Float64
    now_ns: int


class Drone:
    """A multirotor of the fleet; every method is called under the fleet's lock."""

    def __init__(self, fleet: FleetState, setting: VehicleSetting, row: int) -> None:
        self._fleet, self.setting, self._row = fleet, setting, row
        self.name = setting.name
        self.start_quat: Quat = IDENTITY
        self.armed = True  # AirSim's DefaultVehicleState
        self.rc: Mapping[str, Any] = {}
        self.hit_name, self.hit_ns = "", 0
        self.set_sticks({})

    @property
    def number(self) -> int:
        """Row index in the fleet's arrays."""
        return self._row

    # ---- where it is -------------------------------------------------------------------------------------------------

    @property
    def row(self) -> Float64:
        """The (STATE_SIZE,) float64 row of the fleet's state, a view; see ``quad``."""
        row: Float64 = self._fleet.state[self._row]
        return row

    @property
    def now_ns(self) -> int:
        """Simulated time."""
        return self._fleet.now_ns

    @property
    def spawn_ue_m(self) -> Vec3:
        """Origin of the vehicle's NED frame, Unreal's axes, metres."""
        x, y, z = self._fleet.spawn_m[self._row]
        return float(x), float(y), float(z)

    @property
    def position_m(self) -> Vec3:
        """Position, metres, vehicle NED."""
        return self._vec(quad.S_POSITION)

    @property
    def velocity_mps(self) -> Vec3:
        """Velocity, m/s, NED."""
        return self._vec(quad.S_VELOCITY)

    @property
    def rate_radps(self) -> Vec3:
        """Angular velocity, rad/s, body FRD axes."""
        return self._vec(quad.S_RATE)

    @property
    def accel_mps2(self) -> Vec3:
        """Acceleration, m/s2, NED, without gravity: zero at rest."""
        return self._vec(quad.S_ACCEL)

    @property
    def quat(self) -> Quat:
        """Attitude, wxyz, body FRD to NED."""
        w, x, y, z = self.row[quad.S_QUAT : quad.S_QUAT + 4]
        return float(w), float(x), float(y), float(z)

    @property
    def yaw_rad(self) -> float:
        """Heading, radians, clockwise from north."""
        w, x, y, z = self.quat
        return math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    @property
    def landed(self) -> bool:
        """AirSim's landed state."""
        return bool(self.row[quad.S_FLYING] == 0)

    @property
    def api(self) -> bool:
        """True if a client has API control."""
        return bool(self.row[quad.S_API] > 0)

    def _vec(self, column: int) -> Vec3:
        x, y, z = self.row[column : column + 3]
        return float(x), float(y), float(z)

    def kinematics_map(self) -> dict[str, Any]:
        """Return the wire's KinematicsState."""
        row = self.row
        return {
            **pose_map(row[0:3], row[quad.S_QUAT : quad.S_QUAT + 4]),
            "linear_velocity": vector_map(row[quad.S_VELOCITY : quad.S_VELOCITY + 3]),
            "angular_velocity": vector_map(row[quad.S_RATE : quad.S_RATE + 3]),
            "linear_acceleration": vector_map(row[quad.S_ACCEL : quad.S_ACCEL + 3]),
            "angular_acceleration": vector_map(row[quad.S_RATE_ACCEL : quad.S_RATE_ACCEL + 3]),
        }

    # ---- commands ------------------------------------------------------------------------------------------------------

    def set_api(self, *, enabled: bool) -> None:
        """Switch control between client and remote control; a running task continues in either case."""
        self.row[quad.S_API] = enabled
        simple_flight.aim_by_sticks(self.row, self._fleet.mode[self._row], self._fleet.goal[self._row])

    def set_sticks(self, sticks: Mapping[str, Any]) -> None:
        """Set the remote control's state; it flies the vehicle while no client has control."""
        self.rc = sticks
        self._show_sticks()

    def _show_sticks(self) -> None:
        """Store the remote control's state for the firmware's next reading."""
        valid = bool(self.rc.get("is_valid"))
        stick = {name: float(self.rc[name]) if valid else 0.0 for name in ("roll", "pitch", "yaw", "throttle")}
        throttle = max(stick["throttle"], simple_flight.IDLE_THROTTLE)
        tilt = simple_flight.MAX_TILT
        goal = (stick["roll"] * tilt, -stick["pitch"] * tilt, stick["yaw"] * simple_flight.MAX_STICK_YAW, throttle)
        rates = valid and int(self.rc.get("switches", 0)) & 1
        begin = quad.S_STICKS_NEXT
        self.row[begin : begin + 5] = (float(rates), *(goal if self.armed else (0.0, 0.0, 0.0, 0.0)))

    def arm(self, *, armed: bool) -> bool:
        """Arm or disarm; either needs API control, and only an armed vehicle can be disarmed.

        As in AirSim this sets a goal and no more: the next command of a task under way sets another.
        """
        if not self.api or (not armed and not self.armed):
            return False
        if armed and self.armed:
            return True
        self.armed = armed
        self._show_sticks()
        self._aim(ALL_RATE, (0.0, 0.0, 0.0, simple_flight.IDLE_THROTTLE if armed else 0.0))
        return True

    def _aim(self, mode: Modes, goal: Goal) -> None:
        self._fleet.mode[self._row] = mode
        self._fleet.goal[self._row] = goal

    def command(self, mode: Modes, goal: Goal) -> None:
        """Set mode and goal of (roll or y, pitch or x, yaw, throttle or z); no effect without API control."""
        if not self.api:
            return
        self._aim(mode, goal)
        self.row[quad.S_GOAL_AGE] = 0.0
        self.row[quad.S_HOLDING] = 0.0

    def command_velocity(self, velocity_mps: Vec3, yaw: YawMode) -> None:
        """Command a NED velocity."""
        x, y, z = velocity_mps
        mode = (simple_flight.VELOCITY, simple_flight.VELOCITY, _yaw_axis(yaw), simple_flight.VELOCITY)
        self.command(mode, (y, x, radians_single(yaw.degrees), z))

    def command_velocity_z(self, x_mps: float, y_mps: float, z_m: float, yaw: YawMode) -> None:
        """Command a horizontal NED velocity and a height (NED z)."""
        mode = (simple_flight.VELOCITY, simple_flight.VELOCITY, _yaw_axis(yaw), simple_flight.POSITION)
        self.command(mode, (y_mps, x_mps, radians_single(yaw.degrees), z_m))

    def command_position(self, position_m: Vec3, yaw: YawMode) -> None:
        """Command a position, metres, vehicle NED."""
        x, y, z = position_m
        mode = (simple_flight.POSITION, simple_flight.POSITION, _yaw_axis(yaw), simple_flight.POSITION)
        self.command(mode, (y, x, radians_single(yaw.degrees), z))

    # ---- put somewhere -----------------------------------------------------------------------------------------------

    def teleport(self, position_m: Vec3, quat: Quat) -> None:
        """Teleport (vehicle NED, metres; wxyz); NaN parts, velocities and goals stay unchanged, as in AirSim.

        Raises:
            CallRefused: the position is outside the world.
        """
        refuse_far_places(position_m)
        row = self.row
        if all(map(math.isfinite, position_m)):
            row[0:3] = position_m
        if all(map(math.isfinite, quat)):
            row[quad.S_QUAT : quad.S_QUAT + 4] = quat_unit(quat)
        row[quad.S_GROUNDED] = 0.0

    def reset(self) -> None:
        """Return to the start pose and drop API control."""
        row = self.row
        collides = row[quad.S_COLLIDES]
        row[:] = quad.fresh_state(1)[0]
        row[quad.S_QUAT : quad.S_QUAT + 4] = self.start_quat
        row[quad.S_COLLIDES] = collides
        self._fleet.mode[self._row], self._fleet.goal[self._row] = (part[0] for part in simple_flight.idle_goal(1))
        self.armed = True
        self.set_sticks({})

    def set_gains(self, controller: int, terms: tuple[list[float], list[float], list[float]]) -> None:
        """Change a controller's gains; each term lists roll, pitch, yaw or x, y, z as the wire does.

        Raises:
            CallRefused: a gain is too large.
        """
        values = np.array(terms, dtype=np.float64)
        if not (np.abs(values) <= LARGEST_GAIN).all():
            raise CallRefused(f"gains must be numbers of at most {LARGEST_GAIN:.0f}")
        gains = self._fleet.gains[self._row, controller]
        if controller in (simple_flight.G_VELOCITY, simple_flight.G_POSITION):
            gains[:, 0], gains[:, 1], gains[:, 3] = values[:, 1], values[:, 0], values[:, 2]
        else:
            gains[:, :3] = values
        self.row[quad.S_RETUNED] = 1.0

    # ---- what it hit -------------------------------------------------------------------------------------------------

    def hit(self, *, forget: bool) -> Hit:
        """Return the last collision; ``forget`` clears the flag, as reading it through the API does."""
        row = self.row
        found = Hit(
            has_collided=bool(row[quad.S_HIT] > 0),
            normal=self._vec(quad.S_HIT_NORMAL),
            point_m=self._vec(quad.S_HIT_POINT),
            position_m=self._vec(quad.S_HIT_POSITION),
            depth_m=float(row[quad.S_HIT_DEPTH]),
            object_name=self.hit_name,
            time_ns=self.hit_ns,
        )
        if forget:
            row[quad.S_HIT] = 0.0
        return found


def refuse_far_places(position_m: Vec3) -> None:
    """Refuse a position (NED, metres) outside the world.

    Raises:
        CallRefused: the position is outside the world.
    """
    if any(abs(part) > FARTHEST_M for part in position_m):
        raise CallRefused(f"a position must be within {FARTHEST_M:.0f} m of the origin")


def radians_single(degrees: float) -> float:
    """Convert degrees to radians in single precision, so that exactly opposite headings equal AirSim's."""
    return float(np.float32(math.pi * float(np.float32(degrees)) / 180.0))


def _yaw_axis(yaw: YawMode) -> int:
    return simple_flight.RATE if yaw.is_rate else simple_flight.LEVEL
