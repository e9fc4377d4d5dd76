"""The quadrotor in numbers: rigid body, rotors, drag and SimpleFlight's cascade of controllers, in fixed steps.

Every figure is a fact of AirSim's generic quad and SimpleFlight firmware (AirLib MultiRotorParams, RotorParams,
simple_flight Params): mass 1 kg, arms 0.2275 m in an X, four rotors of 4.18 N, drag on the faces of the body box, and
position -> velocity -> angle -> rate controllers. The code is our own; it works on plain arrays so that numba compiles it
and a swarm of 32 costs microseconds a step. Frames: NED of the vehicle's own spawn point, body forward-right-down.

Row of ``state`` (one vehicle): see the ``S_*`` numbers. The same inputs give the same bits: no threads, no fast-math.
"""

# ruff: noqa: PLR0917  (numba kernels take plain arrays, by position)

from __future__ import annotations

import math
from typing import Any, Final, TypeVar

import numba
import numpy as np

from headless_simulator.scene import Float64, Int32

F = TypeVar("F")


def compiled(function: F) -> F:
    """Compile with numba: cached on disk, without the interpreter lock, exact floating point."""
    return numba.njit(cache=True, nogil=True)(function)  # type: ignore[no-any-return]


# ---- columns of a state row ------------------------------------------------------------------------------------------
S_POSITION: Final = 0  # 3, metres
S_QUAT: Final = 3  # 4, wxyz
S_VELOCITY: Final = 7  # 3, m/s
S_RATE: Final = 10  # 3, body rad/s
S_ACCEL: Final = 13  # 3, m/s2
S_RATE_ACCEL: Final = 16  # 3, body rad/s2
S_ROTOR: Final = 19  # 4, filtered signal 0..1
S_SIGNAL: Final = 23  # 4, asked-for signal 0..1
S_INTEGRAL: Final = 27  # 16: rate, level, velocity, position x (roll or y, pitch or x, yaw, throttle or z)
S_LAST_ERROR: Final = 43  # 16, for the derivative terms
S_GROUNDED: Final = 59
S_API: Final = 60  # has API control
S_FLYING: Final = 61  # took off and did not land
S_GOAL_AGE: Final = 62  # seconds since the last command
S_HIT: Final = 63  # a collision happened since it was last read
S_HIT_NORMAL: Final = 64  # 3, NED
S_HIT_POINT: Final = 67  # 3, NED metres
S_HIT_POSITION: Final = 70  # 3, NED metres
S_HIT_DEPTH: Final = 73
S_HIT_WHAT: Final = 74  # -1 ground, else the obstacle's row
S_HIT_AGE: Final = 75  # seconds since it happened
S_TOUCHING: Final = 76  # something was touched in the last step
S_COLLIDES: Final = 77  # collisions are on
S_HOLDING: Final = 78  # holds position because no command came
STATE_SIZE: Final = 79

# ---- goal modes of the four axes (roll or y, pitch or x, yaw, throttle or z) -----------------------------------------
NONE: Final = 0
RATE: Final = 1
LEVEL: Final = 2
VELOCITY: Final = 3
POSITION: Final = 4
DIRECT: Final = 5

# ---- gains[vehicle, controller, term, axis]; controllers in this order -----------------------------------------------
G_RATE: Final = 0
G_LEVEL: Final = 1
G_VELOCITY: Final = 2
G_POSITION: Final = 3

MASS_KG: Final = 1.0
GRAVITY: Final = 9.80665
ROTOR_THRUST_N: Final = 4.179446268
ROTOR_TORQUE_NM: Final = 0.055562
ROTOR_FILTER_S: Final = 0.005
ARM_M: Final = 0.2275 * math.sqrt(0.5)  # along x and along y
ROTOR_Z_M: Final = 0.025
MOTOR_KG: Final = 0.055
BODY_BOX_M: Final = (0.180, 0.11, 0.040)
BOX_KG: Final = MASS_KG - 4 * MOTOR_KG
INERTIA: Final = (
    BOX_KG / 12 * (BODY_BOX_M[1] ** 2 + BODY_BOX_M[2] ** 2) + 4 * MOTOR_KG * (ARM_M**2 + ROTOR_Z_M**2),
    BOX_KG / 12 * (BODY_BOX_M[0] ** 2 + BODY_BOX_M[2] ** 2) + 4 * MOTOR_KG * (ARM_M**2 + ROTOR_Z_M**2),
    BOX_KG / 12 * (BODY_BOX_M[0] ** 2 + BODY_BOX_M[1] ** 2) + 4 * MOTOR_KG * 2 * ARM_M**2,
)
_PROPELLER_M: Final = 0.2286
_DRAG_COEFFICIENT: Final = 1.3 / 4 / 2
DRAG_AREA: Final = (
    (BODY_BOX_M[1] * BODY_BOX_M[2] + 4 * math.pi * _PROPELLER_M * 0.01) * _DRAG_COEFFICIENT,
    (BODY_BOX_M[0] * BODY_BOX_M[2] + 4 * math.pi * _PROPELLER_M * 0.01) * _DRAG_COEFFICIENT,
    (BODY_BOX_M[0] * BODY_BOX_M[1] + 4 * math.pi * _PROPELLER_M**2) * _DRAG_COEFFICIENT,
)  # times air density times speed squared is the force
DRAG_MIN_MPS: Final = 0.1
AIR_DENSITY_SEA: Final = 1.225

MAX_RATE: Final = 2.5  # rad/s
MAX_TILT: Final = math.pi / 5.5
MAX_SPEED: Final = 6.0  # what the position controller may ask for, m/s
MIN_ARMED_THROTTLE: Final = 0.1
MIN_VELOCITY_THROTTLE: Final = 0.3
MIN_MIX_THROTTLE: Final = 0.05
VELOCITY_Z_DISCOUNT: Final = 0.9999
HOVER_AFTER_S: Final = 0.060  # without a new command
FASTEST_MPS: Final = 300.0
FASTEST_RADPS: Final = 100.0
BODY_RADIUS_M: Final = 0.35
BODY_HEIGHT_M: Final = 0.10
RESTITUTION: Final = 0.55
FRICTION: Final = 0.5


def default_gains() -> Float64:
    """Give SimpleFlight's gains: (controller, term p/i/d, axis)."""
    gains = np.zeros((4, 3, 4))
    gains[G_RATE, 0] = (0.25, 0.25, 0.25, 1.0)
    gains[G_LEVEL, 0] = (2.5, 2.5, 2.5, 1.0)
    gains[G_VELOCITY, 0] = (0.2, 0.2, 0.0, 2.0)
    gains[G_VELOCITY, 1] = (0.0, 0.0, 0.0, 2.0)
    gains[G_POSITION, 0] = (0.25, 0.25, 0.0, 0.25)
    return gains


@compiled
def turn_to_world(state: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Turn a body vector into world axes."""
    w, i, j, k = state[3], state[4], state[5], state[6]
    tx, ty, tz = 2 * (j * z - k * y), 2 * (k * x - i * z), 2 * (i * y - j * x)
    return (
        x + w * tx + j * tz - k * ty,
        y + w * ty + k * tx - i * tz,
        z + w * tz + i * ty - j * tx,
    )


@compiled
def turn_to_body(state: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Turn a world vector into body axes."""
    w, i, j, k = state[3], -state[4], -state[5], -state[6]
    tx, ty, tz = 2 * (j * z - k * y), 2 * (k * x - i * z), 2 * (i * y - j * x)
    return (
        x + w * tx + j * tz - k * ty,
        y + w * ty + k * tx - i * tz,
        z + w * tz + i * ty - j * tx,
    )


@compiled
def angles(state: Any) -> tuple[float, float, float]:
    """Give roll, pitch and yaw, radians."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    sin_pitch = min(1.0, max(-1.0, 2 * (w * y - z * x)))
    return (
        math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        math.asin(sin_pitch),
        math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    )


@compiled
def _pid(state: Any, gains: Any, controller: int, axis: int, error: float, dt: float) -> float:
    """Run one PID whose output is held to -1..1; its memory lives in the state row."""
    slot = controller * 4 + axis
    integral = state[S_INTEGRAL + slot]
    if controller == G_VELOCITY and axis == 3:
        integral *= VELOCITY_Z_DISCOUNT
    integral = min(1.0, max(-1.0, integral + dt * error * gains[controller, 1, axis]))
    slope = (error - state[S_LAST_ERROR + slot]) / dt
    state[S_INTEGRAL + slot] = integral
    state[S_LAST_ERROR + slot] = error
    output = error * gains[controller, 0, axis] + integral + slope * gains[controller, 2, axis]
    return float(min(1.0, max(-1.0, output)))


@compiled
def _rate_control(state: Any, gains: Any, axis: int, goal: float, dt: float) -> float:
    return _pid(state, gains, G_RATE, axis, goal - state[S_RATE + axis], dt)


@compiled
def _level_control(state: Any, gains: Any, axis: int, goal: float, dt: float) -> float:
    turn = (goal - angles(state)[axis] + math.pi) % (2 * math.pi) - math.pi  # the shorter way round
    return _rate_control(state, gains, axis, _pid(state, gains, G_LEVEL, axis, turn, dt) * MAX_RATE, dt)


@compiled
def set_mode(state: Any, mode: Any, axis: int, wanted: int) -> None:
    """Give one axis another controller; a new controller starts without memory."""
    if mode[axis] == wanted:
        return
    mode[axis] = wanted
    for slot in range(axis, 16, 4):
        state[S_INTEGRAL + slot] = 0.0
        state[S_LAST_ERROR + slot] = 0.0


@compiled
def _watch(state: Any, mode: Any, goal: Any) -> None:
    """Notice take-off and rotors off, and hold position when commands stop coming, as the firmware does."""
    power = (state[S_ROTOR] + state[S_ROTOR + 1] + state[S_ROTOR + 2] + state[S_ROTOR + 3]) / 4
    if state[S_FLYING] > 0:
        if power <= MIN_ARMED_THROTTLE and state[S_GROUNDED] > 0:
            state[S_FLYING] = 0.0
    elif power > MIN_ARMED_THROTTLE and abs(state[9]) > 0.01:
        state[S_FLYING] = 1.0
    if state[S_API] > 0 and state[S_FLYING] > 0 and state[S_GOAL_AGE] > HOVER_AFTER_S and state[S_HOLDING] == 0:
        set_mode(state, mode, 0, POSITION)
        set_mode(state, mode, 1, POSITION)
        set_mode(state, mode, 2, RATE)
        set_mode(state, mode, 3, POSITION)
        goal[0], goal[1], goal[2], goal[3] = state[1], state[0], 0.0, state[2]
        state[S_HOLDING] = 1.0


@compiled
def control(state: Any, mode: Any, goal: Any, gains: Any, dt: float) -> None:
    """Turn the goal into four rotor signals, as SimpleFlight does in every step.

    The horizontal velocity goal is turned into body axes as one vector. (The original's position controller turns each
    component alone, so that it cannot hold its place at a yaw of 90 degrees.)
    """
    _watch(state, mode, goal)
    asked_y, asked_x, asked_z = goal[0], goal[1], goal[3]
    if mode[0] == POSITION:
        asked_y = _pid(state, gains, G_POSITION, 0, goal[0] - state[1], dt) * MAX_SPEED
    if mode[1] == POSITION:
        asked_x = _pid(state, gains, G_POSITION, 1, goal[1] - state[0], dt) * MAX_SPEED
    if mode[3] == POSITION:
        asked_z = _pid(state, gains, G_POSITION, 3, goal[3] - state[2], dt) * MAX_SPEED
    if mode[3] != POSITION and mode[3] != VELOCITY:
        asked_z = 0.0
    roll = pitch = yaw = 0.0
    error_x, error_y, error_z = turn_to_body(state, asked_x - state[7], asked_y - state[8], asked_z - state[9])
    if mode[0] == VELOCITY or mode[0] == POSITION:
        tilt = _pid(state, gains, G_VELOCITY, 0, error_y, dt) * MAX_TILT
        roll = _level_control(state, gains, 0, tilt, dt)
    elif mode[0] == LEVEL:
        roll = _level_control(state, gains, 0, goal[0], dt)
    elif mode[0] == RATE:
        roll = _rate_control(state, gains, 0, goal[0], dt)
    if mode[1] == VELOCITY or mode[1] == POSITION:
        tilt = -_pid(state, gains, G_VELOCITY, 1, error_x, dt) * MAX_TILT
        pitch = _level_control(state, gains, 1, tilt, dt)
    elif mode[1] == LEVEL:
        pitch = _level_control(state, gains, 1, goal[1], dt)
    elif mode[1] == RATE:
        pitch = _rate_control(state, gains, 1, goal[1], dt)
    if mode[2] == LEVEL:
        yaw = _level_control(state, gains, 2, goal[2], dt)
    elif mode[2] == RATE:
        yaw = _rate_control(state, gains, 2, goal[2], dt)
    throttle = goal[3]
    if mode[3] == VELOCITY or mode[3] == POSITION:
        throttle = max((1.0 - _pid(state, gains, G_VELOCITY, 3, error_z, dt)) / 2, MIN_VELOCITY_THROTTLE)
    if mode[0] == DIRECT:
        for rotor in range(4):
            state[S_SIGNAL + rotor] = min(1.0, max(0.0, goal[rotor]))
    else:
        _mix(state, roll, pitch, yaw, throttle)


@compiled
def _mix(state: Any, roll: float, pitch: float, yaw: float, throttle: float) -> None:
    """Share roll, pitch, yaw and throttle out to the rotors: front right, rear left, front left, rear right."""
    if throttle < MIN_MIX_THROTTLE:
        for rotor in range(4):
            state[S_SIGNAL + rotor] = max(0.0, throttle)
        return
    state[S_SIGNAL] = throttle - roll + pitch + yaw
    state[S_SIGNAL + 1] = throttle + roll - pitch + yaw
    state[S_SIGNAL + 2] = throttle + roll + pitch - yaw
    state[S_SIGNAL + 3] = throttle - roll - pitch - yaw
    lowest = min(min(state[S_SIGNAL], state[S_SIGNAL + 1]), min(state[S_SIGNAL + 2], state[S_SIGNAL + 3]))
    lift = max(0.0, -lowest)
    highest = max(max(state[S_SIGNAL], state[S_SIGNAL + 1]), max(state[S_SIGNAL + 2], state[S_SIGNAL + 3])) + lift
    scale = max(1.0, highest)
    for rotor in range(4):
        state[S_SIGNAL + rotor] = min(1.0, max(0.0, (state[S_SIGNAL + rotor] + lift) / scale))


@compiled
def move(state: Any, wind: Any, density: float, dt: float) -> None:
    """Move the free body by one step of velocity Verlet; a body at rest on the ground stays until thrust beats weight."""
    signals = 0.0
    for rotor in range(4):
        signals += state[S_ROTOR + rotor]
    ratio = density / AIR_DENSITY_SEA
    thrust = signals * ROTOR_THRUST_N * ratio
    if state[S_GROUNDED] > 0:
        for column in range(S_VELOCITY, S_ROTOR):
            state[column] = 0.0
        if thrust >= MASS_KG * GRAVITY:
            state[S_GROUNDED] = 0.0
        return
    vx, vy, vz = (
        state[7] + state[13] * 0.5 * dt,
        state[8] + state[14] * 0.5 * dt,
        state[9] + state[15] * 0.5 * dt,
    )
    p, q, r = (
        state[10] + state[16] * 0.5 * dt,
        state[11] + state[17] * 0.5 * dt,
        state[12] + state[18] * 0.5 * dt,
    )
    bx, by, bz = turn_to_body(state, vx - wind[0], vy - wind[1], vz - wind[2])
    fx = -DRAG_AREA[0] * density * abs(bx) * bx if abs(bx) > DRAG_MIN_MPS else 0.0
    fy = -DRAG_AREA[1] * density * abs(by) * by if abs(by) > DRAG_MIN_MPS else 0.0
    fz = -DRAG_AREA[2] * density * abs(bz) * bz if abs(bz) > DRAG_MIN_MPS else 0.0
    ax, ay, az = turn_to_world(state, fx / MASS_KG, fy / MASS_KG, (fz - thrust) / MASS_KG)
    az += GRAVITY
    front_right, rear_left = state[S_ROTOR], state[S_ROTOR + 1]
    front_left, rear_right = state[S_ROTOR + 2], state[S_ROTOR + 3]
    force = ROTOR_THRUST_N * ratio
    roll_torque = force * ARM_M * (front_left + rear_left - front_right - rear_right)
    pitch_torque = force * ARM_M * (front_left + front_right - rear_left - rear_right)
    yaw_torque = ROTOR_TORQUE_NM * ratio * (front_right + rear_left - front_left - rear_right)
    ix, iy, iz = INERTIA
    wx = (roll_torque - (q * iz * r - r * iy * q)) / ix
    wy = (pitch_torque - (r * ix * p - p * iz * r)) / iy
    wz = (yaw_torque - (p * iy * q - q * ix * p)) / iz
    state[0] += vx * dt
    state[1] += vy * dt
    state[2] += vz * dt
    _spin(state, p * dt, q * dt, r * dt)
    state[7] += (state[13] + ax) * 0.5 * dt
    state[8] += (state[14] + ay) * 0.5 * dt
    state[9] += (state[15] + az) * 0.5 * dt
    state[10] += (state[16] + wx) * 0.5 * dt
    state[11] += (state[17] + wy) * 0.5 * dt
    state[12] += (state[18] + wz) * 0.5 * dt
    for axis in range(3):  # beyond these the explicit steps would blow up into numbers that are none
        state[S_VELOCITY + axis] = min(FASTEST_MPS, max(-FASTEST_MPS, state[S_VELOCITY + axis]))
        state[S_RATE + axis] = min(FASTEST_RADPS, max(-FASTEST_RADPS, state[S_RATE + axis]))
    state[13], state[14], state[15] = ax, ay, az
    state[16], state[17], state[18] = wx, wy, wz


@compiled
def _spin(state: Any, x: float, y: float, z: float) -> None:
    """Turn the attitude by a small rotation vector in body axes."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle <= 0.0:
        return
    s, c = math.sin(angle / 2) / angle, math.cos(angle / 2)
    bw, bx, by, bz = c, x * s, y * s, z * s
    aw, ax, ay, az = state[3], state[4], state[5], state[6]
    w = aw * bw - ax * bx - ay * by - az * bz
    i = aw * bx + ax * bw + ay * bz - az * by
    j = aw * by - ax * bz + ay * bw + az * bx
    k = aw * bz + ax * by - ay * bx + az * bw
    norm = math.sqrt(w * w + i * i + j * j + k * k)
    state[3], state[4], state[5], state[6] = w / norm, i / norm, j / norm, k / norm


@compiled
def spin_rotors(state: Any, dt: float) -> None:
    """Let the rotors follow their signals with a first-order lag."""
    keep = math.exp(-dt / ROTOR_FILTER_S)
    for rotor in range(4):
        state[S_ROTOR + rotor] = state[S_ROTOR + rotor] * keep + state[S_SIGNAL + rotor] * (1 - keep)


def fresh_state(count: int) -> Float64:
    """Give ``count`` vehicles at their spawn points, level and at rest."""
    state = np.zeros((count, STATE_SIZE))
    state[:, S_QUAT] = 1.0
    state[:, S_COLLIDES] = 1.0
    state[:, S_HIT_WHAT] = -2.0
    return state


def idle_goal(count: int) -> tuple[Int32, Float64]:
    """Give goal modes and goals of vehicles that nobody commands: rotors off."""
    mode = np.full((count, 4), RATE, dtype=np.int32)
    mode[:, 3] = DIRECT
    return mode, np.zeros((count, 4))
