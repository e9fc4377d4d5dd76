"""Quadrotor dynamics: mass, rotors, air and drag, in fixed steps; ``simple_flight`` commands the rotors.

The parameters are those of AirSim's generic quad (AirLib MultiRotorParams, RotorParams, FastPhysicsEngine): mass 1 kg, arms
0.2275 m in an X, four rotors of 4.18 N, drag on the faces of the body box. The code is our own; it works on plain arrays so
that numba compiles it and a swarm of 32 costs microseconds a step. Frames: NED of the vehicle's spawn point, body FRD.

Row of ``state`` (one vehicle): see the ``S_*`` numbers. The same inputs give the same bits: no threads, no fast-math.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from headless_simulator.jit import kernel
from headless_simulator.scene import Float64

# ---- columns of a state row ------------------------------------------------------------------------------------------
S_POSITION: Final = 0  # 3, metres
S_QUAT: Final = 3  # 4, wxyz
S_VELOCITY: Final = 7  # 3, m/s
S_RATE: Final = 10  # 3, body rad/s
S_ACCEL: Final = 13  # 3, m/s2
S_RATE_ACCEL: Final = 16  # 3, body rad/s2
S_FILTER: Final = 19  # 4, signal behind the first-order filter, 0..1
S_SIGNAL: Final = 23  # 4, the firmware's output; the filter clips it to 0..1
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
S_HIT_OBSTACLE: Final = 74  # -1 ground, else the obstacle's row
S_HIT_AGE: Final = 75  # seconds since it happened
S_TOUCHING: Final = 76  # something was touched in the last step
S_COLLIDES: Final = 77  # collisions are on
S_HOLDING: Final = 78  # holds position because no command came
S_ROTOR: Final = 79  # 4, the rotor's own output 0..1: the filter's, one step later
S_ACTIVE: Final = 83  # 4, the controller that each axis has now
S_FIRST_STEP: Final = 87  # 4, the controller has not run yet
S_RETUNED: Final = 91  # gains were changed: every controller is reset
S_STICKS: Final = 92  # 5, the firmware's last reading of the remote control: rates instead of angles, and four goals
S_STICKS_NEXT: Final = 97  # 5, the remote control's current state
S_STICKS_AGE: Final = 102  # seconds since the last reading
STATE_SIZE: Final = 103

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
AIR_DENSITY_SEA: Final = 101_325.0 / 287.053 / 288.15  # of the rotors' rated thrust
EARTH_RADIUS_KM: Final = 6378.137
TROPOPAUSE_KM: Final = 11.0

FASTEST_MPS: Final = 300.0
FASTEST_RADPS: Final = 10_000.0
BODY_RADIUS_M: Final = 0.35
STANDS_M: Final = 0.1465  # half the height of the mesh of AirSim's pawn: its origin is the middle, and the mesh stands
RESTITUTION: Final = 0.55
FRICTION: Final = 0.5


@kernel(error_model="python")
def turn_to_world(state: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Rotate a vector from body FRD to NED; ``state`` is the vehicle's (STATE_SIZE,) row."""
    w, i, j, k = state[3], state[4], state[5], state[6]
    tx, ty, tz = 2 * (j * z - k * y), 2 * (k * x - i * z), 2 * (i * y - j * x)
    return (
        x + w * tx + j * tz - k * ty,
        y + w * ty + k * tx - i * tz,
        z + w * tz + i * ty - j * tx,
    )


@kernel(error_model="python")
def turn_to_body(state: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Rotate a vector from NED to body FRD; ``state`` is the vehicle's (STATE_SIZE,) row."""
    w, i, j, k = state[3], -state[4], -state[5], -state[6]
    tx, ty, tz = 2 * (j * z - k * y), 2 * (k * x - i * z), 2 * (i * y - j * x)
    return (
        x + w * tx + j * tz - k * ty,
        y + w * ty + k * tx - i * tz,
        z + w * tz + i * ty - j * tx,
    )


@kernel(error_model="python")
def angles(state: Any) -> tuple[float, float, float]:
    """Return roll, pitch and yaw, radians, of a (STATE_SIZE,) row."""
    w, x, y, z = state[3], state[4], state[5], state[6]
    sin_pitch = min(1.0, max(-1.0, 2 * (w * y - z * x)))
    return (
        math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        math.asin(sin_pitch),
        math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
    )


@kernel(error_model="python")
def air_density(altitude_m: float) -> float:
    """Return the density of AirSim's standard atmosphere, kg/m3; constant above 11 km.

    Source: AirLib EarthUtils, getGeopotential, getStandardTemperature, getStandardPressure.
    """
    km = max(altitude_m / 1000.0, -1.0)
    height_km = min(EARTH_RADIUS_KM * km / (EARTH_RADIUS_KM + km), TROPOPAUSE_KM)
    kelvin = 288.15 - 6.5 * height_km
    return float(101_325.0 * math.pow(288.15 / kelvin, -5.255877) / 287.053 / kelvin)


@kernel(error_model="python")
def _turn_rotors(state: Any, dt: float) -> tuple[float, float, float, float]:
    """Advance the rotors towards their signals; returns the outputs, 0 to 1, that produce thrust in this step.

    As in AirLib's RotorActuator, a signal passes the first-order filter in one step, becomes the rotor's output in the
    next, and produces thrust in the third.
    """
    keep = math.exp(-dt / ROTOR_FILTER_S)
    pushes = (state[S_ROTOR], state[S_ROTOR + 1], state[S_ROTOR + 2], state[S_ROTOR + 3])
    for rotor in range(4):
        state[S_ROTOR + rotor] = state[S_FILTER + rotor]
        signal = min(1.0, max(0.0, state[S_SIGNAL + rotor]))
        state[S_FILTER + rotor] = state[S_FILTER + rotor] * keep + signal * (1 - keep)
    return pushes


@kernel(error_model="python")
def move(state: Any, wind: Any, density: float, dt: float) -> None:
    """Move the free body by one step of velocity Verlet; a body at rest on the ground stays until thrust beats weight."""
    front_right, rear_left, front_left, rear_right = _turn_rotors(state, dt)
    ratio = density / AIR_DENSITY_SEA
    thrust = (front_right + rear_left + front_left + rear_right) * ROTOR_THRUST_N * ratio
    if state[S_GROUNDED] > 0:
        for column in range(S_VELOCITY, S_FILTER):
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
    state[13], state[14], state[15] = ax, ay, az
    state[16], state[17], state[18] = wx, wy, wz
    for axis in range(3):  # the explicit steps would diverge beyond these
        if abs(state[S_VELOCITY + axis]) > FASTEST_MPS:
            state[S_VELOCITY + axis] = math.copysign(FASTEST_MPS, state[S_VELOCITY + axis])
            state[S_ACCEL + axis] = 0.0
        if abs(state[S_RATE + axis]) > FASTEST_RADPS:
            state[S_RATE + axis] = math.copysign(FASTEST_RADPS, state[S_RATE + axis])
            state[S_RATE_ACCEL + axis] = 0.0


@kernel(error_model="python")
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


def fresh_state(count: int) -> Float64:
    """Return the (count, STATE_SIZE) float64 state of vehicles at their spawn points, level and at rest."""
    state = np.zeros((count, STATE_SIZE))
    state[:, S_QUAT] = 1.0
    state[:, S_COLLIDES] = 1.0
    state[:, S_HIT_OBSTACLE] = -2.0
    state[:, S_STICKS_AGE] = 1.0
    return state
