"""Flight by position and velocity: control, arming, take-off, paths."""

# ruff: noqa: PLR0917  (AirSim's own names and order)

from collections.abc import Callable
from typing import Final, NamedTuple

from headless_simulator.airsim import flight, geo
from headless_simulator.airsim.drone import Drone
from headless_simulator.airsim.fleet import Task
from headless_simulator.airsim.method import AirSimMethod, declared
from headless_simulator.airsim.ned import Vec3
from headless_simulator.airsim.simulation import DelayedAnswer, Simulation
from headless_simulator.airsim.values import Drivetrain, Points, Yaw
from headless_simulator.rpc.arguments import AnyNumber, Flag, Number, Text


def enableApiControl(sim: Simulation, is_enabled: Flag, vehicle_name: Text = "") -> None:
    """Take or give back control."""
    with sim.fleet.lock:
        sim.fleet.drone(vehicle_name).set_api(enabled=is_enabled)


def isApiControlEnabled(sim: Simulation, vehicle_name: Text = "") -> bool:
    """Return whether a client has API control."""
    with sim.fleet.lock:
        return sim.fleet.drone(vehicle_name).api


def armDisarm(sim: Simulation, arm: Flag, vehicle_name: Text = "") -> bool:
    """Arm or disarm; False if refused."""
    with sim.fleet.lock:
        return sim.fleet.drone(vehicle_name).arm(armed=arm)


def cancelLastTask(sim: Simulation, vehicle_name: Text = "") -> None:
    """End the running command, which answers False."""
    sim.fleet.cancel(sim.fleet.drone(vehicle_name).name)


def takeoff(sim: Simulation, timeout_sec: AnyNumber, vehicle_name: Text = "") -> DelayedAnswer:
    """Take off."""
    return sim.start_command(vehicle_name, lambda drone: flight.take_off(drone, timeout_sec))


def land(sim: Simulation, timeout_sec: AnyNumber, vehicle_name: Text = "") -> DelayedAnswer:
    """Land."""
    return sim.start_command(vehicle_name, lambda drone: flight.land(drone, timeout_sec))


def goHome(sim: Simulation, timeout_sec: AnyNumber, vehicle_name: Text = "") -> DelayedAnswer:
    """Fly to the vehicle's own origin."""

    def make(drone: Drone) -> Task:
        return flight.along_path(drone, [(0.0, 0.0, 0.0)], 0.5, timeout_sec, forward_only=False, yaw=flight.HOLD_YAW)

    return sim.start_command(vehicle_name, make)


def hover(sim: Simulation, vehicle_name: Text = "") -> DelayedAnswer:
    """Hold the position."""
    return sim.start_command(vehicle_name, flight.hover)


class Course(NamedTuple):
    """Path parameters common to every ``moveTo...``, in AirSim's order."""

    velocity: AnyNumber
    timeout_sec: AnyNumber
    drivetrain: Drivetrain
    yaw_mode: Yaw
    lookahead: Number = -1
    adaptive_lookahead: Number = 1


def _path(sim: Simulation, vehicle: str, points: Callable[[Drone], list[Vec3]], course: Course) -> DelayedAnswer:
    """Fly along points."""

    def make(drone: Drone) -> Task:
        return flight.along_path(
            drone,
            points(drone),
            course.velocity,
            course.timeout_sec,
            forward_only=course.drivetrain,
            yaw=course.yaw_mode,
            lookahead=course.lookahead,
            adaptive=course.adaptive_lookahead,
        )

    return sim.start_command(vehicle, make)


def moveToPosition(
    sim: Simulation, x: AnyNumber, y: AnyNumber, z: AnyNumber, course: Course, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Fly to a point of the vehicle's NED frame."""
    return _path(sim, vehicle_name, lambda _: [(x, y, z)], course)


def moveOnPath(sim: Simulation, path: Points, course: Course, vehicle_name: Text = "") -> DelayedAnswer:
    """Fly along points."""
    return _path(sim, vehicle_name, lambda _: path, course)


def moveToGPS(
    sim: Simulation, latitude: Number, longitude: Number, altitude: Number, course: Course, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Fly to a geographic position."""
    point = (latitude, longitude, altitude)

    def points(drone: Drone) -> list[Vec3]:
        return [geo.ned_from_geo(point, sim.geo_of(drone.spawn_ue_m))]

    return _path(sim, vehicle_name, points, course)


def moveToZ(
    sim: Simulation,
    z: AnyNumber,
    velocity: AnyNumber,
    timeout_sec: AnyNumber,
    yaw_mode: Yaw,
    lookahead: Number = -1,
    adaptive_lookahead: Number = 1,
    vehicle_name: Text = "",
) -> DelayedAnswer:
    """Rise or sink in place."""

    def points(drone: Drone) -> list[Vec3]:
        return [(drone.position_m[0], drone.position_m[1], z)]

    return _path(
        sim, vehicle_name, points, Course(velocity, timeout_sec, False, yaw_mode, lookahead, adaptive_lookahead)
    )


class Hold(NamedTuple):
    """Parameters common to every ``moveByVelocity...``, in AirSim's order."""

    duration: AnyNumber
    drivetrain: Drivetrain
    yaw_mode: Yaw


def _velocity(
    sim: Simulation, vehicle: str, goal: Vec3, hold: Hold, *, body: bool = False, height: bool = False
) -> DelayedAnswer:
    """Fly at a velocity, heading-relative with ``body``; with ``height`` the third component is a height."""

    def make(drone: Drone) -> Task:
        velocity = (*flight.body_to_world(drone, goal[0], goal[1]), goal[2]) if body else goal
        if height:
            return flight.by_velocity_z(
                drone, velocity, hold.duration, hold.yaw_mode, forward_only=hold.drivetrain, at_once=body
            )
        return flight.by_velocity(drone, velocity, hold.duration, hold.yaw_mode, forward_only=hold.drivetrain)

    return sim.start_command(vehicle, make)


def moveByVelocity(
    sim: Simulation, vx: AnyNumber, vy: AnyNumber, vz: AnyNumber, hold: Hold, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Fly at a NED velocity for a duration."""
    return _velocity(sim, vehicle_name, (vx, vy, vz), hold)


def moveByVelocityZ(
    sim: Simulation, vx: AnyNumber, vy: AnyNumber, z: AnyNumber, hold: Hold, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Fly at a horizontal velocity and a height for a duration."""
    return _velocity(sim, vehicle_name, (vx, vy, z), hold, height=True)


def moveByVelocityBodyFrame(
    sim: Simulation, vx: AnyNumber, vy: AnyNumber, vz: AnyNumber, hold: Hold, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Fly at a velocity relative to the heading at the start."""
    return _velocity(sim, vehicle_name, (vx, vy, vz), hold, body=True)


def moveByVelocityZBodyFrame(
    sim: Simulation, vx: AnyNumber, vy: AnyNumber, z: AnyNumber, hold: Hold, vehicle_name: Text = ""
) -> DelayedAnswer:
    """Fly at a velocity relative to the heading at the start, and a height."""
    return _velocity(sim, vehicle_name, (vx, vy, z), hold, body=True, height=True)


METHODS: Final[tuple[AirSimMethod, ...]] = declared(__name__)
