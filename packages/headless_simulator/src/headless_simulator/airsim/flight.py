"""The long-running flight commands, as generators that decide at 50 Hz of simulated time.

Each yields the time of its next decision and returns the client's answer. They follow the rules of AirSim's
MultirotorApiBase (look-ahead along the path, no braking at its end, landing by descending until contact).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from headless_simulator.airsim.drone import Drone, YawMode
from headless_simulator.airsim.fleet import COMMAND_NS, Task
from headless_simulator.airsim.ned import Vec3, quat_conjugate, rotate
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64

ACCURACY_M: Final = 0.5
COMMAND_S: Final = COMMAND_NS * 1e-9
BRAKING_MPS: Final = 1.0  # at the very end of a path
FAST_MPS: Final = 3.0  # above this speed it brakes there
TAKEOFF_Z_M: Final = -2.0
LANDING_MPS: Final = 0.2
MOST: Final = 1.0e6
STILL_MPS: Final = 0.05
STILL_RADPS: Final = 0.01
MAX_SECONDS: Final = 3.0e8  # AirSim's infinity
QUIET_PERIODS: Final = 10  # a landing ends after more than these
NOTHING_LEFT: Final = 1e-5
FULL_STICK: Final = 10_000.0  # a stick's end, for moveByManual
STICK_YAW_DEG: Final = 100.0
STICKS_OLD_S: Final = 0.1
HOLD_YAW: Final = YawMode(is_rate=True, degrees=0.0)  # AirSim's YawMode::Zero


def seconds(value: float, *, label: str) -> int:
    """Convert a duration of the wire, which AirSim reads in single precision, to nanoseconds.

    Raises:
        CallRefused: the duration is not a number.
    """
    if math.isnan(value):
        raise CallRefused(f"{label} is not a number")
    return math.ceil(float(np.float32(min(max(value, 0.0), MAX_SECONDS))) * 1e9)


def _finite(*values: float, label: str) -> None:
    if not all(abs(value) <= MOST for value in values):
        raise CallRefused(f"{label} must be finite numbers of at most {MOST:.0f}")


def _wait_for(drone: Drone, act: Callable[[], bool], timeout_s: float, *, label: str) -> Task:
    """Call ``act`` in every command period until it returns True or time is up; True if it did.

    As in AirSim, the last call happens when time is up.
    """
    end_ns = drone.now_ns + seconds(timeout_s, label=label)
    while not act():
        if drone.now_ns >= end_ns:
            return False
        yield drone.now_ns + COMMAND_NS
    return True


def keep_doing(drone: Drone, act: Callable[[], None], duration_s: float, *, at_once: bool = True) -> Task:
    """Repeat a command for a duration; True at its end. ``at_once`` is the answer for a duration of 0."""
    if duration_s <= 0:
        return at_once

    def never_done() -> bool:
        act()
        return False

    yield from _wait_for(drone, never_done, duration_s, label="duration")
    return True


def normalize_deg(degrees: float) -> float:
    """Wrap an angle to -180..180 degrees; both ends stay as they are."""
    degrees = math.fmod(degrees, 360.0)
    if degrees > 180.0:
        return degrees - 360.0
    return degrees + 360.0 if degrees < -180.0 else degrees


def heading_yaw(yaw: YawMode, heading: Vec3, *, forward_only: bool) -> YawMode:
    """Return the yaw command, turned to the direction of travel with the forward-only drivetrain."""
    if not forward_only or yaw.is_rate:
        return yaw
    if math.sqrt(sum(part * part for part in heading)) <= ACCURACY_M:
        return HOLD_YAW  # too slow to have a direction
    degrees = yaw.degrees + math.degrees(math.atan2(heading[1], heading[0]))
    return YawMode(is_rate=False, degrees=normalize_deg(degrees))


def by_velocity(drone: Drone, velocity_mps: Vec3, duration_s: float, yaw: YawMode, *, forward_only: bool) -> Task:
    """Fly at a NED velocity, m/s, for a duration."""
    _finite(*velocity_mps, label="velocities")
    turned = heading_yaw(yaw, (velocity_mps[0], velocity_mps[1], 0.0), forward_only=forward_only)
    return keep_doing(drone, lambda: drone.command_velocity(velocity_mps, turned), duration_s)


def by_velocity_z(
    drone: Drone, goal: Vec3, duration_s: float, yaw: YawMode, *, forward_only: bool, at_once: bool = False
) -> Task:
    """Fly at a horizontal velocity and a height: ``goal`` is (vx, vy, z), NED, m/s and metres."""
    vx, vy, z = goal
    _finite(vx, vy, z, label="velocities and height")
    turned = heading_yaw(yaw, (vx, vy, 0.0), forward_only=forward_only)
    return keep_doing(drone, lambda: drone.command_velocity_z(vx, vy, z, turned), duration_s, at_once=at_once)


def body_to_world(drone: Drone, vx: float, vy: float) -> tuple[float, float]:
    """Rotate a horizontal velocity from heading axes to NED, m/s."""
    c, s = math.cos(drone.yaw_rad), math.sin(drone.yaw_rad)
    return vx * c - vy * s, vx * s + vy * c


class _Path:
    """A polyline with the progress on it, which never decreases."""

    def __init__(self, points: Sequence[Vec3]) -> None:
        self.points: Float64 = np.array(points, dtype=np.float64)
        self.lengths: Float64 = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        self.last = len(self.points) - 1

    def ahead(self, segment: int, offset_m: float, distance_m: float) -> tuple[int, float, Float64]:
        """Advance along the path by a distance; returns segment, metres into it and the (3,) NED point, at most the end."""
        while segment < self.last:
            length = self.lengths[segment]
            if length > 0 and length >= distance_m + offset_m:
                offset_m += distance_m
                direction = (self.points[segment + 1] - self.points[segment]) / length
                return segment, offset_m, self.points[segment] + direction * offset_m
            distance_m -= length - offset_m
            offset_m = 0.0
            segment += 1
        return self.last, 0.0, self.points[self.last]


def _lookahead(velocity: float, lookahead: float, adaptive: float) -> float:
    step_m = velocity * COMMAND_S
    if lookahead == 0:
        raise CallRefused("lookahead distance cannot be 0")
    if lookahead > 0:
        if step_m > lookahead:
            raise CallRefused(f"lookahead value {lookahead} is too small for velocity {velocity}: at least {step_m}")
        if lookahead < ACCURACY_M:
            raise CallRefused(f"lookahead value {lookahead} is smaller than the distance accuracy {ACCURACY_M}")
        return lookahead
    return max(step_m * (30 if adaptive > 0 else 40), ACCURACY_M * 1.5)


def along_path(
    drone: Drone,
    points: Sequence[Vec3],
    velocity_mps: float,
    timeout_s: float,
    *,
    forward_only: bool,
    yaw: YawMode,
    lookahead: float = -1.0,
    adaptive: float = 1.0,
) -> Task:
    """Fly along NED points, metres, at a speed with look-ahead; True if the end is passed in time.

    As in AirSim, False if the vehicle stops at the end, or drifts back from it, without passing it.

    Raises:
        CallRefused: no usable points, speed or look-ahead.
    """
    _finite(*(part for point in points for part in point), velocity_mps, label="path points and velocity")
    if not points:
        return True
    if forward_only and yaw.is_rate:
        raise CallRefused("Yaw cannot be specified as rate if drivetrain is ForwardOnly")
    reach_m = _lookahead(velocity_mps, lookahead, adaptive)
    end_ns = drone.now_ns + seconds(timeout_s, label="timeout")
    path = _Path([drone.position_m, *points])
    segment, offset_m, reached = 0, 0.0, path.points[0]
    aim_segment, _, aim = path.ahead(0, 0.0, reach_m)
    done_m = astray_m = 0.0
    complete = False
    while (aim_segment < path.last or done_m > 0) and (complete or drone.now_ns < end_ns):
        at_end = segment == path.last and velocity_mps > FAST_MPS
        _towards(drone, aim, BRAKING_MPS if at_end else velocity_mps, yaw=yaw, forward_only=forward_only)
        yield drone.now_ns + COMMAND_NS
        goal = aim - reached
        if np.abs(goal).max() <= NOTHING_LEFT:
            complete, done_m, astray_m = True, 0.0, 0.0
        else:
            way = goal / float(np.linalg.norm(goal))
            actual = np.array(drone.position_m) - reached
            done_m = float(actual @ way)
            if adaptive:
                astray_m = float(np.linalg.norm(actual - way * done_m)) * adaptive
        if done_m >= 0:
            segment, offset_m, reached = path.ahead(segment, offset_m, done_m)
        aim_segment, _, aim = path.ahead(segment, offset_m, reach_m + astray_m)
    return complete


def _towards(drone: Drone, aim: Float64, velocity_mps: float, *, yaw: YawMode, forward_only: bool) -> None:
    here = drone.position_m
    way = (float(aim[0]) - here[0], float(aim[1]) - here[1], float(aim[2]) - here[2])
    distance = math.sqrt(sum(part * part for part in way))
    turned = heading_yaw(yaw, way, forward_only=forward_only)
    speed = min(velocity_mps, distance / COMMAND_S) if distance >= ACCURACY_M else 0.0
    scale = speed / distance if distance > 0 else 0.0
    climb = 0.0 if abs(way[2]) <= ACCURACY_M else way[2] * scale  # small height errors are left alone
    drone.command_velocity((way[0] * scale, way[1] * scale, climb), turned)


def take_off(drone: Drone, timeout_s: float) -> Task:
    """Climb two metres at 0.5 m/s.

    Raises:
        CallRefused: the vehicle is moving already.
    """
    speed = math.sqrt(sum(part * part for part in drone.velocity_mps))
    if speed > STILL_MPS:
        raise CallRefused(f"Cannot perform takeoff because vehicle is already moving with velocity {speed:f} m/s")
    x, y, z = drone.position_m
    return along_path(drone, [(x, y, z + TAKEOFF_Z_M)], 0.5, timeout_s, forward_only=False, yaw=HOLD_YAW)


def land(drone: Drone, timeout_s: float) -> Task:
    """Descend slowly until contact; True after contact. The rotors keep turning, as in AirSim."""
    quiet = 0

    def stopped() -> bool:
        nonlocal quiet
        drone.command_velocity((0.0, 0.0, LANDING_MPS), HOLD_YAW)
        quiet = quiet + 1 if drone.velocity_mps[2] <= STILL_MPS else 0
        return quiet > QUIET_PERIODS

    if timeout_s <= 0:
        return False
    return (yield from _wait_for(drone, stopped, timeout_s, label="timeout"))


def hover(drone: Drone) -> Task:
    """Fly a path of zero length, as AirSim does: it commands nothing and returns False, and the firmware stops the vehicle."""
    return along_path(
        drone, [drone.position_m], 0.5, MAX_SECONDS, forward_only=False, yaw=HOLD_YAW, lookahead=1.0, adaptive=0.0
    )


def turn_to(drone: Drone, yaw_deg: float, timeout_s: float, margin_deg: float) -> Task:
    """Turn to a heading in place; True when the vehicle has the heading and no yaw rate.

    The margin does not reach across 180 degrees, as in AirSim: 179 and -179 are 358 degrees apart.
    """
    _finite(yaw_deg, margin_deg, label="yaw and margin")
    position, target = drone.position_m, normalize_deg(yaw_deg)

    def pointing() -> bool:
        near = abs(math.degrees(drone.yaw_rad) - target) <= margin_deg
        drone.command_position(position, HOLD_YAW if near else YawMode(is_rate=False, degrees=target))
        return near and abs(drone.rate_radps[2]) <= STILL_RADPS

    if timeout_s <= 0:
        return True
    return (yield from _wait_for(drone, pointing, timeout_s, label="timeout"))


def turn_by_rate(drone: Drone, rate_degps: float, duration_s: float) -> Task:
    """Turn in place at a rate for a duration."""
    _finite(rate_degps, label="yaw rate")
    position = drone.position_m
    return keep_doing(drone, lambda: drone.command_position(position, YawMode(degrees=rate_degps)), duration_s)


def by_attitude(
    drone: Drone, mode: tuple[int, int, int, int], goal: tuple[float, float, float, float], duration_s: float
) -> Task:
    """Hold angles, rates, throttle or height for a duration."""
    _finite(*goal, label="angles, rates, throttle and height")
    return keep_doing(drone, lambda: drone.command(mode, goal), duration_s)


def by_manual(drone: Drone, limits: Vec3, duration_s: float, yaw: YawMode, *, forward_only: bool) -> Task:
    """Follow the sticks of ``moveByRC``: ``limits`` is (vx_max, vy_max, z_min).

    As in AirSim a stick's end is 10,000, ``vy_max`` scales forward, and the inverse of the start attitude rotates the
    sticks' directions.
    """
    _finite(*limits, label="limits")
    start = quat_conjugate(drone.quat)

    def act() -> None:
        sticks: Mapping[str, Any] = drone.rc
        age_s = (drone.now_ns - int(sticks.get("timestamp", 0))) * 1e-9
        if not sticks.get("is_valid") or (sticks.get("timestamp", 0) and age_s > STICKS_OLD_S):
            return
        pitch, roll = float(sticks["pitch"]) / FULL_STICK, float(sticks["roll"]) / FULL_STICK
        velocity = rotate(start, (pitch * limits[1], roll * limits[0], 0.0))
        stick_deg = float(sticks["yaw"]) * STICK_YAW_DEG / FULL_STICK
        turned = heading_yaw(YawMode(yaw.is_rate, yaw.degrees + stick_deg), velocity, forward_only=forward_only)
        z = drone.position_m[2] + float(sticks["throttle"]) / FULL_STICK * limits[2]
        drone.command_velocity_z(velocity[0], velocity[1], z, turned)

    return keep_doing(drone, act, duration_s)
