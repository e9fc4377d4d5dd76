"""Calls that fly: control, arming and the commands that answer at their end."""

# ruff: noqa: PLR0917  (the wire sends anything, in AirSim's own names and order)

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from headless_simulator.airsim import flight, geo, quad
from headless_simulator.airsim.drone import Drone, YawMode
from headless_simulator.airsim.fleet import Task
from headless_simulator.airsim.methods.table import Table, entry, finite, number
from headless_simulator.airsim.ned import Vec3, vector_of
from headless_simulator.airsim.simulation import Later, Simulation

CALLS: Final[Table] = {}
FORWARD_ONLY: Final = 1
MAX_POINTS: Final = 100_000


def _yaw(value: Any) -> YawMode:
    if not isinstance(value, dict) or "is_rate" not in value or "yaw_or_rate" not in value:
        raise ValueError("expected a YawMode: a map with 'is_rate' and 'yaw_or_rate'")
    return YawMode(is_rate=bool(value["is_rate"]), degrees=finite(value["yaw_or_rate"], "yaw_or_rate"))


def _task(sim: Simulation, vehicle: Any, make: Callable[[Drone], Task]) -> Later:
    """Start a command; the answer comes at its end.

    Raises:
        PermissionError: no client has control. (AirSim's SimpleFlight would wait for ever instead.)
    """
    if not sim.settings.flies:
        raise PermissionError("SimMode is ComputerVision: nothing flies; use simSetVehiclePose")

    def begin(send: Callable[[Any], None]) -> None:
        with sim.fleet.lock:
            drone = sim.fleet.drone(vehicle)
            if not drone.api:
                raise PermissionError(
                    f"ApiControl is not enabled for '{drone.name}': call enableApiControl(True) first"
                )
            sim.fleet.start_task(drone.name, make(drone), send)

    return Later(begin)


@entry(CALLS)
def enableApiControl(sim: Simulation, is_enabled: Any, vehicle: Any = "") -> None:
    """Take or give back control."""
    with sim.fleet.lock:
        sim.fleet.drone(vehicle).set_api(enabled=bool(is_enabled))


@entry(CALLS)
def isApiControlEnabled(sim: Simulation, vehicle: Any = "") -> bool:
    """Say whether a client has control."""
    with sim.fleet.lock:
        return sim.fleet.drone(vehicle).api


@entry(CALLS)
def armDisarm(sim: Simulation, arm: Any, vehicle: Any = "") -> bool:
    """Arm or disarm; False when it may not."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle)
        if not arm and drone.api and drone.armed:
            sim.fleet.cancel(drone.name)
        return drone.arm(armed=bool(arm))


@entry(CALLS)
def cancelLastTask(sim: Simulation, vehicle: Any = "") -> None:
    """End the command under way; it answers False."""
    sim.fleet.cancel(sim.fleet.drone(vehicle).name)


@entry(CALLS)
def takeoff(sim: Simulation, timeout: Any, vehicle: Any = "") -> Later:
    """Rise."""
    return _task(sim, vehicle, lambda drone: flight.take_off(drone, number(timeout, "timeout_sec")))


@entry(CALLS)
def land(sim: Simulation, timeout: Any, vehicle: Any = "") -> Later:
    """Come down."""
    return _task(sim, vehicle, lambda drone: flight.land(drone, number(timeout, "timeout_sec")))


@entry(CALLS)
def goHome(sim: Simulation, timeout: Any, vehicle: Any = "") -> Later:
    """Fly to the vehicle's own origin."""

    def make(drone: Drone) -> Task:
        home, limit = [(0.0, 0.0, 0.0)], number(timeout, "timeout_sec")
        return flight.along_path(drone, home, 0.5, limit, forward_only=False, yaw=flight.NO_TURN)

    return _task(sim, vehicle, make)


@entry(CALLS)
def hover(sim: Simulation, vehicle: Any = "") -> Later:
    """Stay."""
    return _task(sim, vehicle, flight.hover)


def _path(
    sim: Simulation,
    points: Callable[[Drone], list[Vec3]],
    velocity: Any,
    timeout: Any,
    drivetrain: Any,
    yaw: Any,
    ahead: tuple[Any, Any],
    vehicle: Any,
) -> Later:
    def make(drone: Drone) -> Task:
        return flight.along_path(
            drone,
            points(drone),
            number(velocity, "velocity"),
            number(timeout, "timeout_sec"),
            forward_only=drivetrain == FORWARD_ONLY,
            yaw=_yaw(yaw),
            lookahead=finite(ahead[0], "lookahead"),
            adaptive=finite(ahead[1], "adaptive_lookahead"),
        )

    return _task(sim, vehicle, make)


@entry(CALLS)
def moveToPosition(
    sim: Simulation, x: Any, y: Any, z: Any, velocity: Any, timeout: Any, drivetrain: Any, yaw: Any,
    lookahead: Any = -1, adaptive: Any = 1, vehicle: Any = "",
) -> Later:  # fmt: skip
    """Fly to a point of the vehicle's own NED."""
    point = (number(x, "x"), number(y, "y"), number(z, "z"))
    return _path(sim, lambda _: [point], velocity, timeout, drivetrain, yaw, (lookahead, adaptive), vehicle)


@entry(CALLS)
def moveOnPath(
    sim: Simulation, path: Any, velocity: Any, timeout: Any, drivetrain: Any, yaw: Any,
    lookahead: Any = -1, adaptive: Any = 1, vehicle: Any = "",
) -> Later:  # fmt: skip
    """Fly along points."""
    if not isinstance(path, list) or len(path) > MAX_POINTS:
        raise ValueError(f"path must be a list of at most {MAX_POINTS} points")
    points = [vector_of(point) for point in path]
    return _path(sim, lambda _: points, velocity, timeout, drivetrain, yaw, (lookahead, adaptive), vehicle)


@entry(CALLS)
def moveToGPS(
    sim: Simulation, latitude: Any, longitude: Any, altitude: Any, velocity: Any, timeout: Any,
    drivetrain: Any, yaw: Any, lookahead: Any = -1, adaptive: Any = 1, vehicle: Any = "",
) -> Later:  # fmt: skip
    """Fly to a geographic place."""
    place = (finite(latitude, "latitude"), finite(longitude, "longitude"), finite(altitude, "altitude"))

    def points(drone: Drone) -> list[Vec3]:
        return [geo.ned_from_geo(place, sim.geo_of(drone.spawn_ue_m))]

    return _path(sim, points, velocity, timeout, drivetrain, yaw, (lookahead, adaptive), vehicle)


@entry(CALLS)
def moveToZ(
    sim: Simulation, z: Any, velocity: Any, timeout: Any, yaw: Any,
    lookahead: Any = -1, adaptive: Any = 1, vehicle: Any = "",
) -> Later:  # fmt: skip
    """Rise or sink in place."""
    goal = number(z, "z")

    def points(drone: Drone) -> list[Vec3]:
        return [(drone.position_m[0], drone.position_m[1], goal)]

    return _path(sim, points, velocity, timeout, 0, yaw, (lookahead, adaptive), vehicle)


def _velocity(
    sim: Simulation,
    values: tuple[Any, Any, Any],
    duration: Any,
    drivetrain: Any,
    yaw: Any,
    vehicle: Any,
    *,
    body: bool,
    height: bool,
) -> Later:
    goal = (number(values[0], "vx"), number(values[1], "vy"), number(values[2], "z" if height else "vz"))
    seconds_ = number(duration, "duration")
    mode, forward_only = _yaw(yaw), drivetrain == FORWARD_ONLY

    def make(drone: Drone) -> Task:
        asked = (*flight.body_to_world(drone, goal[0], goal[1]), goal[2]) if body else goal
        fly = flight.by_velocity_z if height else flight.by_velocity
        return fly(drone, asked, seconds_, mode, forward_only=forward_only)

    return _task(sim, vehicle, make)


@entry(CALLS)
def moveByVelocity(
    sim: Simulation, vx: Any, vy: Any, vz: Any, duration: Any, drivetrain: Any, yaw: Any, vehicle: Any = ""
) -> Later:
    """Fly at a NED velocity for a time."""
    return _velocity(sim, (vx, vy, vz), duration, drivetrain, yaw, vehicle, body=False, height=False)


@entry(CALLS)
def moveByVelocityZ(
    sim: Simulation, vx: Any, vy: Any, z: Any, duration: Any, drivetrain: Any, yaw: Any, vehicle: Any = ""
) -> Later:
    """Fly at a horizontal velocity and a height for a time."""
    return _velocity(sim, (vx, vy, z), duration, drivetrain, yaw, vehicle, body=False, height=True)


@entry(CALLS)
def moveByVelocityBodyFrame(
    sim: Simulation, vx: Any, vy: Any, vz: Any, duration: Any, drivetrain: Any, yaw: Any, vehicle: Any = ""
) -> Later:
    """Fly at a velocity relative to the heading at the start."""
    return _velocity(sim, (vx, vy, vz), duration, drivetrain, yaw, vehicle, body=True, height=False)


@entry(CALLS)
def moveByVelocityZBodyFrame(
    sim: Simulation, vx: Any, vy: Any, z: Any, duration: Any, drivetrain: Any, yaw: Any, vehicle: Any = ""
) -> Later:
    """Fly at a velocity relative to the heading at the start, and a height."""
    return _velocity(sim, (vx, vy, z), duration, drivetrain, yaw, vehicle, body=True, height=True)


@entry(CALLS)
def moveByManual(
    sim: Simulation, vx_max: Any, vy_max: Any, z_min: Any, duration: Any, drivetrain: Any, yaw: Any, vehicle: Any = ""
) -> Later:
    """Fly as the sticks of moveByRC say."""
    limits = (finite(vx_max, "vx_max"), finite(vy_max, "vy_max"), finite(z_min, "z_min"))
    span, mode = number(duration, "duration"), _yaw(yaw)
    return _task(
        sim, vehicle, lambda drone: flight.by_manual(drone, limits, span, mode, forward_only=drivetrain == FORWARD_ONLY)
    )


@entry(CALLS)
def moveByRC(sim: Simulation, rc_data: Any, vehicle: Any = "") -> None:
    """Set the sticks."""
    if not isinstance(rc_data, dict):
        raise ValueError("expected an RCData map")
    sticks = {key: finite(rc_data.get(key, 0.0), key) for key in ("roll", "pitch", "throttle", "yaw")}
    with sim.fleet.lock:
        sim.fleet.drone(vehicle).rc = {**sticks, "is_valid": bool(rc_data.get("is_valid", False))}


@entry(CALLS)
def rotateToYaw(sim: Simulation, yaw: Any, timeout: Any, margin: Any, vehicle: Any = "") -> Later:
    """Turn to a heading."""
    values = (number(yaw, "yaw"), number(timeout, "timeout_sec"), number(margin, "margin"))
    return _task(sim, vehicle, lambda drone: flight.turn_to(drone, *values))


@entry(CALLS)
def rotateByYawRate(sim: Simulation, yaw_rate: Any, duration: Any, vehicle: Any = "") -> Later:
    """Turn for a time."""
    values = (number(yaw_rate, "yaw_rate"), number(duration, "duration"))
    return _task(sim, vehicle, lambda drone: flight.turn_by_rate(drone, *values))


_R, _L, _P, _D = quad.RATE, quad.LEVEL, quad.POSITION, quad.DIRECT
ATTITUDES: Final = {  # the four goals come in the order of the axes: roll, pitch, yaw, height or throttle
    "moveByRollPitchYawZ": (_L, _L, _L, _P),
    "moveByRollPitchYawThrottle": (_L, _L, _L, _D),
    "moveByRollPitchYawrateThrottle": (_L, _L, _R, _D),
    "moveByRollPitchYawrateZ": (_L, _L, _R, _P),
    "moveByAngleRatesZ": (_R, _R, _R, _P),
    "moveByAngleRatesThrottle": (_R, _R, _R, _D),
    "moveByMotorPWMs": (_D, _D, _D, _D),
}


def _enter_attitude(name: str, mode: tuple[int, int, int, int]) -> None:
    @entry(CALLS, name)
    def fly(
        sim: Simulation, first: Any, second: Any, third: Any, fourth: Any, duration: Any, vehicle: Any = ""
    ) -> Later:
        goal = (number(first, "roll"), number(second, "pitch"), number(third, "yaw"), number(fourth, "z or throttle"))
        span = number(duration, "duration")
        return _task(sim, vehicle, lambda drone: flight.by_attitude(drone, mode, goal, span))


for _name, _mode in ATTITUDES.items():
    _enter_attitude(_name, _mode)

GAINS: Final = {
    "setAngleRateControllerGains": quad.G_RATE,
    "setAngleLevelControllerGains": quad.G_LEVEL,
    "setVelocityControllerGains": quad.G_VELOCITY,
    "setPositionControllerGains": quad.G_POSITION,
}


def _enter_gains(name: str, controller: int) -> None:
    @entry(CALLS, name)
    def tune(sim: Simulation, kp: Any, ki: Any, kd: Any, vehicle: Any = "") -> None:
        with sim.fleet.lock:
            sim.fleet.drone(vehicle).set_gains(controller, (kp, ki, kd))


for _name, _controller in GAINS.items():
    _enter_gains(_name, _controller)
