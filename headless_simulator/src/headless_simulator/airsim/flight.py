"""The long-running flight commands, as generators that think at 50 Hz of simulated time.

Each yields the time at which it wants to go on and returns what the client gets. They follow the rules of AirSim's
MultirotorApiBase (look-ahead along the path, no braking at its end, landing by descending until the ground stops it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from headless_simulator.airsim.drone import Drone, YawMode
from headless_simulator.airsim.fleet import COMMAND_NS, Task
from headless_simulator.airsim.ned import Vec3
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64

ACCURACY_M: Final = 0.5
COMMAND_S: Final = COMMAND_NS * 1e-9
TAKEOFF_Z_M: Final = -2.0
LANDING_MPS: Final = 0.2
MOST: Final = 1.0e6
STILL_MPS: Final = 0.05
STILL_RADPS: Final = 0.01
MAX_SECONDS: Final = 3.0e8  # "for ever"
HOLD_YAW: Final = YawMode(is_rate=True, degrees=0.0)
NO_TURN: Final = YawMode(is_rate=False, degrees=0.0)


def seconds(value: float, *, what: str) -> int:
    """Turn a duration of the wire into nanoseconds.

    Raises:
        CallRefused: it is not a number.
    """
    if math.isnan(value):
        raise CallRefused(f"{what} is not a number")
    return round(min(max(value, 0.0), MAX_SECONDS) * 1e9)


def _sleep(drone: Drone, end_ns: int) -> Generator[int, None, None]:
    """Wait for the next turn, or for the deadline if that comes first."""
    yield min(drone.now_ns + COMMAND_NS, end_ns)


def _finite(*values: float, what: str) -> None:
    if not all(abs(value) <= MOST for value in values):
        raise CallRefused(f"{what} must be finite numbers of at most {MOST:.0f}")


def keep_doing(drone: Drone, act: Callable[[], None], duration_s: float) -> Task:
    """Give the same command for a time; True at its end."""
    end_ns = drone.now_ns + seconds(duration_s, what="duration")
    while drone.now_ns < end_ns:
        act()
        yield from _sleep(drone, end_ns)
    return True


def heading_yaw(yaw: YawMode, heading: Vec3, *, forward_only: bool) -> YawMode:
    """Turn the nose into the direction of travel when the drivetrain asks for it."""
    if not forward_only or yaw.is_rate:
        return yaw
    if math.sqrt(sum(part * part for part in heading)) <= ACCURACY_M:
        return HOLD_YAW  # too slow to have a direction
    degrees = yaw.degrees + math.degrees(math.atan2(heading[1], heading[0]))
    return YawMode(is_rate=False, degrees=(degrees + 180.0) % 360.0 - 180.0)


def by_velocity(drone: Drone, velocity_mps: Vec3, duration_s: float, yaw: YawMode, *, forward_only: bool) -> Task:
    """Fly at a velocity for a time."""
    _finite(*velocity_mps, what="velocities")
    turned = heading_yaw(yaw, (velocity_mps[0], velocity_mps[1], 0.0), forward_only=forward_only)
    return keep_doing(drone, lambda: drone.command_velocity(velocity_mps, turned), duration_s)


def by_velocity_z(drone: Drone, goal: Vec3, duration_s: float, yaw: YawMode, *, forward_only: bool) -> Task:
    """Fly at a horizontal velocity at a height: ``goal`` is (vx, vy, z)."""
    vx, vy, z = goal
    _finite(vx, vy, z, what="velocities and height")
    turned = heading_yaw(yaw, (vx, vy, 0.0), forward_only=forward_only)
    return keep_doing(drone, lambda: drone.command_velocity_z(vx, vy, z, turned), duration_s)


def body_to_world(drone: Drone, vx: float, vy: float) -> tuple[float, float]:
    """Turn a velocity by the heading that the drone has now."""
    c, s = math.cos(drone.yaw_rad), math.sin(drone.yaw_rad)
    return vx * c - vy * s, vx * s + vy * c


class _Path:
    """A chain of points with the place on it that was reached; never goes back."""

    def __init__(self, points: Sequence[Vec3]) -> None:
        self.points: Float64 = np.array(points, dtype=np.float64)
        self.lengths: Float64 = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        self.last = len(self.points) - 1

    def ahead(self, segment: int, offset_m: float, distance_m: float) -> tuple[int, float, Float64]:
        """Go on by a distance; beyond the end stays at the end (segment ``last``)."""
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
    """Fly along points at a speed, aiming a little ahead on the path; True when its end is reached in time.

    Raises:
        CallRefused: no usable points, speed or look-ahead.
    """
    _finite(*(part for point in points for part in point), velocity_mps, what="path points and velocity")
    if forward_only and yaw.is_rate:
        raise CallRefused("Yaw cannot be specified as rate if drivetrain is ForwardOnly")
    if not points:
        return True
    reach_m = _lookahead(velocity_mps, lookahead, adaptive)
    end_ns = drone.now_ns + seconds(timeout_s, what="timeout")
    path = _Path([drone.position_m, *points])
    segment, offset_m, reached = 0, 0.0, path.points[0]
    aim_segment, _, aim = path.ahead(0, 0.0, reach_m)
    done_m = 0.0
    while aim_segment < path.last or done_m > 0:
        if drone.now_ns >= end_ns:
            return False
        _towards(drone, aim, velocity_mps, yaw=yaw, forward_only=forward_only)
        yield from _sleep(drone, end_ns)
        goal = aim - reached
        length = float(np.linalg.norm(goal))
        if length == 0.0:
            return True
        actual = np.array(drone.position_m) - reached
        done_m = float(actual @ goal) / length
        astray_m = float(np.linalg.norm(actual - goal / length * done_m)) * adaptive if adaptive else 0.0
        if done_m >= 0:
            segment, offset_m, reached = path.ahead(segment, offset_m, done_m)
        aim_segment, _, aim = path.ahead(segment, offset_m, reach_m + astray_m)
    return True


def _towards(drone: Drone, aim: Float64, velocity_mps: float, *, yaw: YawMode, forward_only: bool) -> None:
    here = drone.position_m
    way = (float(aim[0]) - here[0], float(aim[1]) - here[1], float(aim[2]) - here[2])
    distance = math.sqrt(sum(part * part for part in way))
    turned = heading_yaw(yaw, way, forward_only=forward_only)
    speed = min(velocity_mps, distance / COMMAND_S) if distance >= ACCURACY_M else 0.0
    scale = speed / distance if distance > 0 else 0.0
    climb = 0.0 if abs(way[2]) <= ACCURACY_M else way[2] * scale  # the original leaves small height errors alone
    drone.command_velocity((way[0] * scale, way[1] * scale, climb), turned)


def take_off(drone: Drone, timeout_s: float) -> Task:
    """Rise by two metres at half a metre a second.

    Raises:
        CallRefused: the vehicle is moving already.
    """
    speed = math.sqrt(sum(part * part for part in drone.velocity_mps))
    if speed > STILL_MPS:
        raise CallRefused(f"Cannot perform takeoff because vehicle is already moving with velocity {speed:f} m/s")
    x, y, z = drone.position_m
    return along_path(drone, [(x, y, z + TAKEOFF_Z_M)], 0.5, timeout_s, forward_only=False, yaw=NO_TURN)


def land(drone: Drone, timeout_s: float) -> Task:
    """Descend slowly until something stops it, then stop the rotors; True when it stands."""
    end_ns = drone.now_ns + seconds(timeout_s, what="timeout")
    still = 0
    while drone.now_ns < end_ns:
        drone.command_velocity((0.0, 0.0, LANDING_MPS), NO_TURN)
        yield from _sleep(drone, end_ns)
        still = still + 1 if drone.velocity_mps[2] <= STILL_MPS else 0
        if drone.grounded or still > 100:
            drone.idle()
            return True
    return False


def hover(drone: Drone) -> Task:
    """Stay where it is."""
    drone.command_position(drone.position_m, HOLD_YAW)
    yield from ()
    return True


def turn_to(drone: Drone, yaw_deg: float, timeout_s: float, margin_deg: float) -> Task:
    """Turn to a heading in place; True when it points there and turns no more."""
    _finite(yaw_deg, margin_deg, what="yaw and margin")
    end_ns = drone.now_ns + seconds(timeout_s, what="timeout")
    place, target = drone.position_m, (yaw_deg + 180.0) % 360.0 - 180.0
    while drone.now_ns < end_ns:
        off = (math.degrees(drone.yaw_rad) - target + 180.0) % 360.0 - 180.0
        near = abs(off) <= margin_deg
        drone.command_position(place, HOLD_YAW if near else YawMode(is_rate=False, degrees=target))
        if near and abs(drone.rate_radps[2]) <= STILL_RADPS:
            return True
        yield from _sleep(drone, end_ns)
    return False


def turn_by_rate(drone: Drone, rate_degps: float, duration_s: float) -> Task:
    """Turn in place at a rate for a time."""
    _finite(rate_degps, what="yaw rate")
    place = drone.position_m
    return keep_doing(drone, lambda: drone.command_position(place, YawMode(degrees=rate_degps)), duration_s)


def by_attitude(
    drone: Drone, mode: tuple[int, int, int, int], goal: tuple[float, float, float, float], duration_s: float
) -> Task:
    """Hold angles, rates, throttle or height for a time."""
    _finite(*goal, what="angles, rates, throttle and height")
    return keep_doing(drone, lambda: drone.command(mode, goal), duration_s)


def by_manual(drone: Drone, limits: Vec3, duration_s: float, yaw: YawMode, *, forward_only: bool) -> Task:
    """Fly as the sticks of ``moveByRC`` say: ``limits`` is (vx_max, vy_max, z_min)."""
    _finite(*limits, what="limits")

    def act() -> None:
        sticks: Mapping[str, Any] = drone.rc
        if not sticks.get("is_valid"):
            return
        vx, vy = body_to_world(drone, float(sticks["pitch"]) * limits[0], float(sticks["roll"]) * limits[1])
        turned = heading_yaw(yaw, (vx, vy, 0.0), forward_only=forward_only)
        z = drone.position_m[2] + float(sticks["throttle"]) * limits[2]
        drone.command_velocity_z(vx, vy, z, turned)

    return keep_doing(drone, act, duration_s)
