"""The missions of the comparison between AirSim's flight code and the headless simulator.

A call's arguments are those of AirSim's wire, without the vehicle's name; ``Yaw`` and ``Sticks`` stand for its maps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

STEP_S: Final = 0.003
SAMPLE_STEPS: Final = 33  # about 10 Hz
ANY: Final = 0  # drivetrain: any direction
FORWARD: Final = 1  # drivetrain: nose first
GROUND_M: Final = 122.0  # AirSim's default origin, metres above the sea

Point: TypeAlias = tuple[float, float, float]
Argument: TypeAlias = "float | bool | Yaw | Sticks | Pose | list[Point] | list[float]"


@dataclass(frozen=True, slots=True)
class Yaw:
    """The wire's YawMode, degrees."""

    is_rate: bool = True
    degrees: float = 0.0


@dataclass(frozen=True, slots=True)
class Sticks:
    """The wire's RCData."""

    roll: float = 0.0
    pitch: float = 0.0
    throttle: float = 0.0
    yaw: float = 0.0


@dataclass(frozen=True, slots=True)
class Pose:
    """The wire's Pose: NED metres and a heading."""

    position_m: Point
    yaw_deg: float = 0.0

    def quat_wxyz(self) -> tuple[float, float, float, float]:
        """Return the attitude, wxyz."""
        half = math.radians(self.yaw_deg) / 2
        return math.cos(half), 0.0, 0.0, math.sin(half)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of AirSim's API; the extension ``wait`` is a number of seconds without a call."""

    method: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class DroneCalls:
    """The calls to one drone, each issued after the previous answer."""

    name: str
    calls: tuple[Call, ...]
    yaw_deg: float = 0.0


@dataclass(frozen=True, slots=True)
class Mission:
    """Drones that fly at the same time.

    Attributes:
        cancels: (drone's number, second) of each ``cancelLastTask``.
        ground_m: height of the ground at all spawn points above the sea.
    """

    name: str
    seconds: float
    drones: tuple[DroneCalls, ...]
    wind_mps: Point = (0.0, 0.0, 0.0)
    cancels: tuple[tuple[int, float], ...] = ()
    ground_m: float = GROUND_M

    @property
    def steps(self) -> int:
        """Return the duration in steps of 3 ms."""
        return round(self.seconds / STEP_S)


def call(method: str, *arguments: Argument) -> Call:
    """Build a call."""
    return Call(method, arguments)


STOP: Final = Yaw()
START: Final = (call("enableApiControl", True), call("armDisarm", True))
UP: Final = (*START, call("takeoff", 20))


def _high(metres: float) -> tuple[Call, ...]:
    """Take off, teleport to a height, and settle there."""
    return (
        *UP,
        call("simSetVehiclePose", Pose((0.0, 0.0, -metres), 0.0)),
        call("moveByVelocity", 0, 0, 0, 3, ANY, STOP),
    )


HIGH: Final = _high(20.0)


def _to(
    x: float, y: float, z: float, speed: float, *, drive: int = ANY, yaw: Yaw = STOP, timeout: float = 60.0
) -> Call:
    return call("moveToPosition", x, y, z, speed, timeout, drive, yaw, -1, 1)


def _path(points: list[Point], speed: float, *, drive: int = ANY, yaw: Yaw = STOP, ahead: float = -1.0) -> Call:
    return call("moveOnPath", points, speed, 120, drive, yaw, ahead, 1)


SQUARE: Final[list[Point]] = [(15, 0, -20), (15, 15, -20), (0, 15, -22), (0, 0, -20)]


def _paths() -> Iterator[tuple[str, float, tuple[Call, ...]]]:
    yield "takeoff", 9, UP
    yield "takeoff, then nothing", 20, UP
    yield "takeoff again in the air", 12, (*UP, call("wait", 2), call("takeoff", 20))
    yield "land", 25, (*UP, call("land", 60))
    yield "land from 8 m, disarm, take off again", 70, (
        *UP, call("moveToZ", -8, 3, 30, STOP, -1, 1), call("land", 60), call("armDisarm", False), call("wait", 1),
        call("armDisarm", True), call("takeoff", 20),
    )  # fmt: skip
    yield "land, out of time", 8, (*HIGH, call("land", 2))
    yield "goHome", 60, (*UP, _to(6, -4, -5, 3), call("goHome", 60))
    yield "hover after speed", 20, (*HIGH, call("moveByVelocity", 6, 2, 0, 3, ANY, STOP), call("hover"))
    yield "moveToPosition, 5 m/s", 25, (*HIGH, _to(40, -30, -25, 5))
    yield "moveToPosition, 12 m/s", 20, (*HIGH, _to(80, 20, -30, 12))
    yield "moveToPosition, out of time", 12, (*HIGH, _to(100, 0, -20, 3, timeout=4))
    yield "moveToPosition, nose first", 30, (*HIGH, _to(20, 30, -20, 4, drive=FORWARD, yaw=Yaw(False, 0)))
    yield "moveToPosition, to where it is", 9, (*HIGH, _to(0, 0, -20, 4))
    yield "moveOnPath, square", 40, (*HIGH, _path(SQUARE, 4))
    yield "moveOnPath, square, nose first", 45, (*HIGH, _path(SQUARE, 4, drive=FORWARD, yaw=Yaw(False, 0)))
    yield "moveOnPath, look-ahead 6 m, 8 m/s", 25, (*HIGH, _path(SQUARE, 8, ahead=6))
    yield "moveOnPath, same point twice", 20, (*HIGH, _path([(8, 0, -20), (8, 0, -20), (8, 8, -20)], 3))
    yield "moveToZ", 30, (*UP, call("moveToZ", -12, 2, 60, STOP, -1, 1), call("moveToZ", -6, 4, 60, STOP, -1, 1))


def _velocities() -> Iterator[tuple[str, float, tuple[Call, ...]]]:
    yield "moveByVelocity", 16, (*HIGH, call("moveByVelocity", 5, -3, -1, 6, ANY, STOP))
    yield "moveByVelocity, turning", 18, (*HIGH, call("moveByVelocity", 4, 0, 0, 8, ANY, Yaw(True, 30)))
    yield "moveByVelocity, nose first", 16, (*HIGH, call("moveByVelocity", 0, 4, 0, 6, FORWARD, Yaw(False, 0)))
    yield "moveByVelocity, no time", 9, (*HIGH, call("moveByVelocity", 4, 0, 0, 0, ANY, STOP))
    yield "moveByVelocityZ at 60 m", 18, (*_high(60), call("moveByVelocityZ", 5, 0, -60, 8, ANY, STOP))
    yield "moveByVelocityZ at 60 m, climbing", 18, (*_high(60), call("moveByVelocityZ", 3, 3, -66, 8, ANY, STOP))
    yield "moveByVelocityZ, no time", 9, (*HIGH, call("moveByVelocityZ", 4, 0, -20, 0, ANY, STOP))
    body = call("moveByVelocityBodyFrame", 4, 1, 0, 5, ANY, STOP)
    yield "moveByVelocityBodyFrame", 25, (*HIGH, call("rotateToYaw", 120, 20, 2), body)
    yield "moveByVelocityZBodyFrame", 25, (
        *HIGH, call("rotateToYaw", -60, 20, 2), call("moveByVelocityZBodyFrame", 3, 0, -22, 5, ANY, STOP),
    )  # fmt: skip
    sticks = call("moveByRC", Sticks(roll=1000.0, pitch=4000.0, throttle=-2000.0, yaw=500.0))
    yield "moveByManual", 18, (*HIGH, sticks, call("moveByManual", 10, 5, 3, 6, ANY, STOP))
    yield "moveByManual, small sticks", 14, (
        *HIGH, call("moveByRC", Sticks(roll=1.0, pitch=1.0)), call("moveByManual", 10, 5, -3, 4, ANY, STOP),
    )  # fmt: skip
    yield "sticks after the client let go", 12, (
        *HIGH, call("moveByRC", Sticks(roll=0.2, pitch=-0.3, throttle=0.6, yaw=0.1)), call("enableApiControl", False),
        call("wait", 2), call("enableApiControl", True), call("moveByVelocity", 0, 0, 0, 3, ANY, STOP),
    )  # fmt: skip
    yield "client lets go and takes over", 14, (
        *_high(60), call("enableApiControl", False), call("wait", 1), call("enableApiControl", True),
        call("moveByVelocity", 0, 0, 0, 4, ANY, STOP),
    )  # fmt: skip
    yield "disarm in the air", 9, (*_high(60), call("armDisarm", False), call("wait", 2))
    yield "put elsewhere while hovering", 25, (
        *HIGH, call("wait", 1), call("simSetVehiclePose", Pose((3, -2, -21), 0)), call("wait", 10),
    )  # fmt: skip


def _attitudes() -> Iterator[tuple[str, float, tuple[Call, ...]]]:
    yield "rotateToYaw 90", 20, (*HIGH, call("rotateToYaw", 90, 20, 3))
    yield "rotateToYaw 170, then -170", 25, (*HIGH, call("rotateToYaw", 170, 20, 3), call("rotateToYaw", -170, 8, 3))
    yield "rotateToYaw 180", 16, (*HIGH, call("rotateToYaw", 180, 8, 1))
    yield "rotateToYaw 540", 16, (*HIGH, call("rotateToYaw", 540, 8, 5))
    yield "rotateByYawRate", 16, (*HIGH, call("rotateByYawRate", 40, 6))
    yield "moveByRollPitchYawZ", 14, (*HIGH, call("moveByRollPitchYawZ", 0.1, 0.15, 0.5, -20, 4))
    yield "moveByRollPitchYawThrottle", 12, (*HIGH, call("moveByRollPitchYawThrottle", -0.1, 0.1, 0, 0.62, 3))
    yield "moveByRollPitchYawrateThrottle", 12, (*HIGH, call("moveByRollPitchYawrateThrottle", 0.1, 0, 0.8, 0.6, 3))
    yield "moveByRollPitchYawrateZ", 12, (*HIGH, call("moveByRollPitchYawrateZ", 0, -0.12, 0.6, -21, 3))
    yield "moveByAngleRatesZ", 10, (*HIGH, call("moveByAngleRatesZ", 0.05, -0.04, 0.3, -20, 2))
    yield "moveByAngleRatesThrottle", 10, (*HIGH, call("moveByAngleRatesThrottle", 0.03, 0.05, 0.2, 0.6, 2))
    yield "moveByMotorPWMs", 10, (*HIGH, call("moveByMotorPWMs", 0.62, 0.62, 0.61, 0.61, 1.5))
    yield "moveByMotorPWMs, tilting", 8, (*HIGH, call("moveByMotorPWMs", 0.601, 0.6, 0.6015, 0.6, 0.4))
    none = [0.0, 0.0, 0.0]
    yield "setVelocityControllerGains", 18, (
        *HIGH, call("setVelocityControllerGains", [0.35, 0.3, 1.5], [0.02, 0.02, 1.0], [0.02, 0.02, 0.01]),
        call("moveByVelocity", 5, 2, -1, 6, ANY, STOP),
    )  # fmt: skip
    yield "setPositionControllerGains", 18, (
        *HIGH, call("setPositionControllerGains", [0.4, 0.4, 0.35], none, none),
        call("moveByVelocity", 3, 0, 0, 2, ANY, STOP),
    )  # fmt: skip
    yield "gains of angles and rates", 14, (
        *HIGH, call("setAngleLevelControllerGains", [2.0, 2.0, 1.5], none, none),
        call("setAngleRateControllerGains", [0.3, 0.3, 0.3], [0.01, 0.01, 0.0], none),
        call("moveByRollPitchYawZ", 0.1, -0.1, 1.0, -20, 4),
    )  # fmt: skip


def _windy() -> Iterator[Mission]:
    side, storm = (0.0, 5.0, 0.0), (-4.0, 7.0, 1.0)
    tour = (*UP, _to(20, 0, -15, 5), call("hover"), call("wait", 5))
    yield Mission("wind of 5 m/s, moveToPosition", 30, (DroneCalls("A", tour),), wind_mps=side)
    yield Mission("wind of 5 m/s, takeoff and land", 25, (DroneCalls("A", (*UP, call("land", 60))),), wind_mps=side)
    flight = (*HIGH, call("moveByVelocity", 5, 0, 0, 8, ANY, Yaw(False, 45)))
    yield Mission("wind of 8 m/s, moveByVelocity", 18, (DroneCalls("A", flight),), wind_mps=storm)
    square = (*HIGH, _path(SQUARE, 5))
    yield Mission("wind of 8 m/s, moveOnPath", 40, (DroneCalls("A", square),), wind_mps=storm)
    yield Mission("wind of 5 m/s, hover", 25, (DroneCalls("A", (*HIGH, call("wait", 15))),), wind_mps=side)


def _turned() -> Iterator[Mission]:
    for yaw_deg in (45.0, 90.0, 180.0, -135.0):
        yield Mission(f"spawn yaw {yaw_deg:.0f}, takeoff and hover", 16, (DroneCalls("A", UP, yaw_deg),))
    tour = (*UP, _to(10, 5, -6, 3), call("goHome", 30), call("land", 30))
    yield Mission("spawn yaw 90, goHome and land", 60, (DroneCalls("A", tour, 90.0),))
    away = (*UP, _to(10, 5, -8, 3, drive=FORWARD, yaw=Yaw(False, 90)))
    yield Mission("spawn yaw 30, sideways first", 20, (DroneCalls("A", away, 30.0),))
    rate = (*UP, call("moveByVelocityZ", 3, 0, -3, 6, ANY, Yaw(False, -90)))
    yield Mission("spawn yaw -90, moveByVelocityZ", 18, (DroneCalls("A", rate, -90.0),))


def _several() -> Iterator[Mission]:
    def swarm(number: int) -> tuple[Call, ...]:
        turn = Yaw(False, 40.0 * number)
        return (*UP, _to(12, 4.0 * number - 8, -10 - number, 3 + number, yaw=turn), call("land", 3))

    five = tuple(DroneCalls(f"D{n}", swarm(n), 72.0 * n - 144) for n in range(5))
    yield Mission("five drones at once", 40, five)
    yield Mission("five drones at once in wind", 40, five, wind_mps=(3.0, -4.0, 0.0))
    broken = (*HIGH, _to(60, 0, -20, 5), call("moveByVelocity", 0, 3, 0, 2, ANY, STOP))
    yield Mission("cancelLastTask", 18, (DroneCalls("A", broken),), cancels=((0, 10.002),))
    tour = (*UP, _to(20, 10, -20, 6), call("moveByVelocityZ", 3, 0, -20, 4, ANY, STOP))
    yield Mission("at 2,200 m above the sea", 25, (DroneCalls("A", tour),), ground_m=2200.0)


def _alone() -> Iterator[Mission]:
    for name, seconds, calls in (*_paths(), *_velocities(), *_attitudes()):
        yield Mission(name, float(seconds), (DroneCalls("A", calls),))


MISSIONS: Final = (*_alone(), *_windy(), *_turned(), *_several())


def wire_arguments(call_: Call) -> list[Any]:
    """Encode a call's arguments for AirSim's wire, without the vehicle's name."""
    return [_wire(argument) for argument in call_.arguments] + ([True] if call_.method == "simSetVehiclePose" else [])


def _wire(argument: Argument) -> Any:
    if isinstance(argument, Yaw):
        return {"is_rate": argument.is_rate, "yaw_or_rate": argument.degrees}
    if isinstance(argument, Sticks):
        sticks = {name: getattr(argument, name) for name in ("roll", "pitch", "throttle", "yaw")}
        return {**sticks, "timestamp": 0, "switches": 0, "is_initialized": True, "is_valid": True}
    if isinstance(argument, Pose):
        w, x, y, z = argument.quat_wxyz()
        return {"position": _vector(argument.position_m), "orientation": {"w_val": w, **_vector((x, y, z))}}
    if isinstance(argument, list):
        return [_vector(part) if isinstance(part, tuple) else part for part in argument]
    return argument


def _vector(point: Point) -> dict[str, float]:
    return {"x_val": point[0], "y_val": point[1], "z_val": point[2]}


def words(mission: Mission) -> str:
    """Encode a mission as the lines that ``fly.cpp`` reads."""
    lines = [
        f"mission {mission.name.replace(' ', '_')}",
        "wind {} {} {}".format(*mission.wind_mps),
        f"altitude {mission.ground_m}",
        f"length {mission.steps} {SAMPLE_STEPS}",
    ]
    for drone in mission.drones:
        lines.append(f"drone {drone.name} {drone.yaw_deg}")
        lines += [f"call {each.method} {' '.join(_flat(each.arguments))}" for each in drone.calls]
    lines += [f"cancel {drone} {round(second / STEP_S)}" for drone, second in mission.cancels]
    return "\n".join([*lines, "fly", ""])


def _flat(arguments: tuple[Argument, ...]) -> Iterator[str]:
    for argument in arguments:
        if isinstance(argument, Yaw):
            yield from (str(int(argument.is_rate)), repr(float(argument.degrees)))
        elif isinstance(argument, Sticks):
            yield from (repr(v) for v in (argument.roll, argument.pitch, argument.throttle, argument.yaw))
        elif isinstance(argument, Pose):
            yield from (repr(float(v)) for v in (*argument.position_m, *argument.quat_wxyz()))
        elif isinstance(argument, list) and argument and isinstance(argument[0], tuple):
            yield str(len(argument))
            yield from (repr(float(v)) for point in argument for v in point)
        elif isinstance(argument, list):
            yield from (repr(float(v)) for v in argument)  # type: ignore[arg-type]
        else:
            yield repr(float(argument))
