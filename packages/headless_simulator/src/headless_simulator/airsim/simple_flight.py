"""SimpleFlight, AirSim's flight controller: converts goals of four axes to four rotor signals in every 3 ms step.

Each axis (roll or y, pitch or x, yaw, throttle or z) has a chain of controllers: position -> velocity -> angle -> rate.
They reproduce AirLib's simple_flight firmware (OffboardApi, CascadeController and below) with its defects, because users
fly them: a controller reads its own axis only, so that a position goal is rotated to body axes component by component,
and ``moveByVelocityZ`` passes the height in metres as a vertical velocity. ``ideal`` removes these two.

State (STATE_SIZE,), modes (4,), goals (4,) and gains (4, 3, 4) are one vehicle's rows of plain arrays, see ``quad``.
"""

# ruff: noqa: PLR0917  (numba kernels take plain arrays, by position)

from __future__ import annotations

import math
from typing import Any, Final, cast

import numpy as np

from headless_simulator.airsim.quad import (
    S_ACTIVE,
    S_API,
    S_FIRST_STEP,
    S_FLYING,
    S_GOAL_AGE,
    S_HOLDING,
    S_INTEGRAL,
    S_LAST_ERROR,
    S_RATE,
    S_RETUNED,
    S_SIGNAL,
    S_STICKS,
    S_STICKS_AGE,
    S_STICKS_NEXT,
    S_VELOCITY,
    angles,
    turn_to_body,
)
from headless_simulator.jit import kernel
from headless_simulator.scene import Float64, Int32

# ---- goal modes of an axis -------------------------------------------------------------------------------------------
RATE: Final = 1
LEVEL: Final = 2
VELOCITY: Final = 3
POSITION: Final = 4
DIRECT: Final = 5

# ---- gains[vehicle, controller, term, axis]; controllers in this order -----------------------------------------------
# NumPy integers: numba compiles a function again for each value of a Python literal.
G_RATE: Final[int] = cast("int", np.int64(0))
G_LEVEL: Final[int] = cast("int", np.int64(1))
G_VELOCITY: Final[int] = cast("int", np.int64(2))
G_POSITION: Final[int] = cast("int", np.int64(3))
ROLL: Final[int] = cast("int", np.int64(0))
PITCH: Final[int] = cast("int", np.int64(1))
YAW: Final[int] = cast("int", np.int64(2))
THROTTLE: Final[int] = cast("int", np.int64(3))

MAX_RATE: Final = 2.5  # rad/s
MAX_TILT: Final = math.pi / 5.5
MAX_STICK_YAW: Final = math.pi
MAX_SPEED: Final = 6.0  # largest velocity goal of the position controller, m/s
MIN_ARMED_THROTTLE: Final = 0.1
IDLE_THROTTLE: Final = MIN_ARMED_THROTTLE / 1.5  # an armed quad turns its rotors slowly
MIN_VELOCITY_THROTTLE: Final = 0.3
MIN_MIX_THROTTLE: Final = MIN_ARMED_THROTTLE / 2
VELOCITY_Z_DISCOUNT: Final = 0.9999
HOVER_AFTER_S: Final = 0.0605  # more than 60 whole milliseconds without a new command
STICKS_AFTER_S: Final = 0.0105  # more than 10 whole milliseconds between two readings of the remote control
STILL: Final = 0.08  # m/s and rad/s: slower than this with idle rotors has landed
TAKING_OFF_MPS: Final = 0.01
PI_SINGLE: Final = float(np.float32(math.pi))  # opposite angles rotate in the same direction as in single precision


def default_gains() -> Float64:
    """Return SimpleFlight's (4, 3, 4) float64 gains: controller, term p/i/d, axis."""
    gains = np.zeros((4, 3, 4))
    gains[G_RATE, 0] = (0.25, 0.25, 0.25, 1.0)
    gains[G_LEVEL, 0] = (2.5, 2.5, 2.5, 1.0)
    gains[G_VELOCITY, 0] = (0.2, 0.2, 0.0, 2.0)
    gains[G_VELOCITY, 1] = (0.0, 0.0, 0.0, 2.0)
    gains[G_POSITION, 0] = (0.25, 0.25, 0.0, 0.25)
    return gains


def idle_goal(count: int) -> tuple[Int32, Float64]:
    """Return the (count, 4) goal modes and goals of vehicles before any command: level, rotors off."""
    mode = np.full((count, 4), LEVEL, dtype=np.int32)
    mode[:, 2], mode[:, 3] = RATE, DIRECT
    return mode, np.zeros((count, 4))


@kernel(error_model="python")
def _pid(state: Any, gains: Any, controller: int, axis: int, error: float, dt: float) -> float:
    """Run one PID with output clipped to -1..1; the first step has neither integral nor derivative."""
    slot = controller * 4 + axis
    output = error * gains[controller, 0, axis]
    if state[S_FIRST_STEP + axis] == 0:
        integral = state[S_INTEGRAL + slot]
        if controller == G_VELOCITY and axis == 3:
            integral *= VELOCITY_Z_DISCOUNT
        state[S_INTEGRAL + slot] = min(1.0, max(-1.0, integral + dt * error * gains[controller, 1, axis]))
        output += (error - state[S_LAST_ERROR + slot]) / dt * gains[controller, 2, axis]
        state[S_LAST_ERROR + slot] = error
    return float(min(1.0, max(-1.0, output + state[S_INTEGRAL + slot])))


@kernel(error_model="python")
def _rate_control(state: Any, gains: Any, axis: int, goal: float, dt: float) -> float:
    return _pid(state, gains, G_RATE, axis, goal - state[S_RATE + axis], dt)


@kernel(error_model="python")
def _turn(measured: float, goal: float) -> float:
    """Return the shorter rotation from one angle to another, radians."""
    measured, goal = measured % (2 * PI_SINGLE), goal % (2 * PI_SINGLE)
    if measured - goal > PI_SINGLE:
        measured -= 2 * PI_SINGLE
    elif measured - goal < -PI_SINGLE:
        goal -= 2 * PI_SINGLE
    return goal - measured


@kernel(error_model="python")
def _level_control(state: Any, gains: Any, axis: int, goal: float, dt: float) -> float:
    turn = _turn(angles(state)[axis], goal)
    return _rate_control(state, gains, axis, _pid(state, gains, G_LEVEL, axis, turn, dt) * MAX_RATE, dt)


@kernel(error_model="python")
def aim_by_sticks(state: Any, mode: Any, goal: Any) -> None:
    """Set the goals of the last reading of the remote control."""
    rates = state[S_STICKS] > 0
    mode[0], mode[1] = (RATE, RATE) if rates else (LEVEL, LEVEL)
    mode[2], mode[3] = RATE, DIRECT
    for axis in range(4):
        goal[axis] = state[S_STICKS + 1 + axis]


@kernel(error_model="python")
def _read_sticks(state: Any, mode: Any, goal: Any, dt: float) -> None:
    """Read the remote control periodically; it flies the vehicle while no client has control."""
    state[S_STICKS_AGE] += dt
    if state[S_STICKS_AGE] > STICKS_AFTER_S:
        state[S_STICKS_AGE] = 0.0
        for column in range(5):
            state[S_STICKS + column] = state[S_STICKS_NEXT + column]
    if state[S_API] == 0:
        aim_by_sticks(state, mode, goal)


@kernel(error_model="python")
def _watch(state: Any, mode: Any, goal: Any) -> None:
    """Hold position when commands stop, and detect landing and take-off, as the firmware does."""
    if state[S_API] > 0 and state[S_FLYING] > 0 and state[S_GOAL_AGE] > HOVER_AFTER_S and state[S_HOLDING] == 0:
        mode[0], mode[1], mode[2], mode[3] = POSITION, POSITION, RATE, POSITION
        goal[0], goal[1], goal[2], goal[3] = state[1], state[0], 0.0, state[2]
        state[S_HOLDING] = 1.0
    power = (state[S_SIGNAL] + state[S_SIGNAL + 1] + state[S_SIGNAL + 2] + state[S_SIGNAL + 3]) / 4
    if state[S_FLYING] > 0 and power <= MIN_ARMED_THROTTLE:
        still = True
        for axis in range(3):
            still = still and abs(state[S_RATE + axis]) < STILL and abs(state[S_VELOCITY + axis]) < STILL
        if still:
            state[S_FLYING] = 0.0
    if state[S_FLYING] == 0 and power > MIN_ARMED_THROTTLE and abs(state[9]) > TAKING_OFF_MPS:
        state[S_FLYING] = 1.0


@kernel(error_model="python")
def _reset_if_changed(state: Any, mode: Any, axis: int) -> None:
    """Reset an axis's controller if its mode or the gains changed."""
    if state[S_ACTIVE + axis] == mode[axis] and state[S_RETUNED] == 0:
        state[S_FIRST_STEP + axis] = 0.0
        return
    state[S_ACTIVE + axis] = mode[axis]
    state[S_FIRST_STEP + axis] = 1.0
    for slot in range(axis, 16, 4):
        state[S_INTEGRAL + slot] = 0.0
        state[S_LAST_ERROR + slot] = 0.0


@kernel(error_model="python")
def _velocity_goal(state: Any, mode: Any, goal: Any, gains: Any, axis: int, dt: float) -> tuple[float, float, float]:
    """Return the world velocity (x, y, z), m/s, that an axis's velocity controller receives as its goal."""
    if mode[axis] == VELOCITY:
        return goal[1], goal[0], goal[3]  # the third goal may be a height: see the module
    position = state[1] if axis == 0 else (state[0] if axis == 1 else state[2])
    speed = _pid(state, gains, G_POSITION, axis, goal[axis] - position, dt) * MAX_SPEED
    return (speed if axis == 1 else 0.0), (speed if axis == 0 else 0.0), (speed if axis == 3 else 0.0)


@kernel(error_model="python")
def _ideal_velocity(
    velocity_goal: tuple[float, float, float], state: Any, mode: Any, goal: Any, gains: Any, axis: int
) -> tuple[float, float, float]:
    """Return the NED velocity goal, m/s, computed for all axes together: the difference of ``ideal`` from AirSim."""
    x, y, z = velocity_goal
    if axis != 1:
        x = goal[1] if mode[1] == VELOCITY else 0.0
        if mode[1] == POSITION:
            x = min(1.0, max(-1.0, (goal[1] - state[0]) * gains[G_POSITION, 0, 1])) * MAX_SPEED
    if axis != 0:
        y = goal[0] if mode[0] == VELOCITY else 0.0
        if mode[0] == POSITION:
            y = min(1.0, max(-1.0, (goal[0] - state[1]) * gains[G_POSITION, 0, 0])) * MAX_SPEED
    if axis != 3:
        z = goal[3] if mode[3] == VELOCITY else 0.0
        if mode[3] == POSITION:
            z = min(1.0, max(-1.0, (goal[3] - state[2]) * gains[G_POSITION, 0, 3])) * MAX_SPEED
    return x, y, z


@kernel(error_model="python")
def _control_axis(state: Any, mode: Any, goal: Any, gains: Any, axis: int, ideal: bool, dt: float) -> float:
    """Run the controllers of one axis; returns roll, pitch, yaw or throttle."""
    kind = mode[axis]
    if kind == RATE:
        return _rate_control(state, gains, axis, goal[axis], dt)
    if kind == LEVEL:
        return _level_control(state, gains, axis, goal[axis], dt)
    if kind == DIRECT:
        return float(goal[axis])
    velocity_goal = _velocity_goal(state, mode, goal, gains, axis, dt)
    if ideal:
        velocity_goal = _ideal_velocity(velocity_goal, state, mode, goal, gains, axis)
    x, y, z = turn_to_body(state, velocity_goal[0] - state[7], velocity_goal[1] - state[8], velocity_goal[2] - state[9])
    if axis == 3:
        return max((1.0 - _pid(state, gains, G_VELOCITY, THROTTLE, z, dt)) / 2, MIN_VELOCITY_THROTTLE)
    if axis == 0:
        return _level_control(state, gains, ROLL, _pid(state, gains, G_VELOCITY, ROLL, y, dt) * MAX_TILT, dt)
    return _level_control(state, gains, PITCH, -_pid(state, gains, G_VELOCITY, PITCH, x, dt) * MAX_TILT, dt)


@kernel(error_model="python")
def control(state: Any, mode: Any, goal: Any, gains: Any, ideal: bool, dt: float) -> None:
    """Convert the goal to four rotor signals in ``state``."""
    _read_sticks(state, mode, goal, dt)
    _watch(state, mode, goal)
    for axis in range(4):
        _reset_if_changed(state, mode, axis)
    state[S_RETUNED] = 0.0
    roll = _control_axis(state, mode, goal, gains, ROLL, ideal, dt)
    pitch = _control_axis(state, mode, goal, gains, PITCH, ideal, dt)
    yaw = _control_axis(state, mode, goal, gains, YAW, ideal, dt)
    throttle = _control_axis(state, mode, goal, gains, THROTTLE, ideal, dt)
    if mode[0] == DIRECT and mode[1] == DIRECT and mode[2] == DIRECT and mode[3] == DIRECT:
        state[S_SIGNAL], state[S_SIGNAL + 1] = roll, pitch
        state[S_SIGNAL + 2], state[S_SIGNAL + 3] = yaw, throttle
    else:
        _mix(state, roll, pitch, yaw, throttle)


@kernel(error_model="python")
def _mix(state: Any, roll: float, pitch: float, yaw: float, throttle: float) -> None:
    """Mix roll, pitch, yaw and throttle into the rotors: front right, rear left, front left, rear right."""
    if throttle < MIN_MIX_THROTTLE:
        for rotor in range(4):
            state[S_SIGNAL + rotor] = throttle
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
