"""Motion of vehicles, walkers and attached things in one tick: numba kernels over the columns of ``ActorTable``.

A vehicle is a kinematic bicycle about its centre, with its wheels on the ground's height map; a body in the air falls.
This suffices for the Traffic Manager; tyres have a friction limit, and there is no suspension and no engine.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Final

import numpy as np

from headless_simulator.jit import Number, int64, kernel
from headless_simulator.scene import Float64, Int32
from headless_simulator.world.ground_grid import GroundGrid, ground_height
from headless_simulator.world.pose import compose_into
from headless_simulator.world.table import Columns, Rows, some_of

GRAVITY_MPS2: Final = 9.81
BRAKE_MPS2: Final = 8.0
HAND_BRAKE_MPS2: Final = 6.0
ROLLING_MPS2: Final = 0.25
DRAG_PER_M: Final = 0.0012
POWER_M2PS3: Final = 75.0  # drive times speed at most: about 90 kW in a car
LIFTED_M: Final = 0.25  # tyres higher than this above the ground have no grip
STEER_RATE_RADPS: Final = 6.0
LATERAL_MPS2: Final = 8.5  # lateral limit of a car's tyres; with friction below 0.87 they slide earlier
SWING_SHARE: Final = 0.5  # of that: no driver lets a car yaw faster
_HALVINGS: Final = 10  # tolerance of the limit angle: a thousandth of a tick's turn
FASTEST_MPS: Final = 60.0  # a larger jump of an actor without physics is a teleport, not motion
CONTACT_M: Final = 0.02
STEP_DOWN_M: Final = 0.4  # a walker steps over a kerb
SLIDE_MPS2: Final = 5.0  # deceleration of a sliding body
JUMP_MPS: Final = 4.2  # upward, as in Unreal's characters
_ALL: Final = -1  # rows

_fast = kernel(error_model="python")  # kernels without new arrays need no reference counts


@_fast
def _speed_after(row: int, dt: float, c: Columns, most_mps2: float) -> float:
    """Return the speed, m/s, after throttle, brakes and drag; the tyres limit acceleration to ``most_mps2``."""
    speed = c.speed[row]
    throttle, brake = min(max(c.control[row, 0], 0.0), 1.0), min(max(c.control[row, 2], 0.0), 1.0)
    pull = min(throttle * min(c.drive[row], POWER_M2PS3 / max(abs(speed), 0.1)), most_mps2)
    speed += (-pull if _backwards(row, c) else pull) * dt
    hold = min(ROLLING_MPS2 + brake * BRAKE_MPS2 + c.hand_brake[row] * HAND_BRAKE_MPS2, most_mps2)
    hold += c.drag[row] * DRAG_PER_M * speed * speed
    if abs(speed) <= hold * dt:
        return 0.0
    return speed - math.copysign(hold * dt, speed)  # type: ignore[no-any-return]


@_fast
def _traction(row: int, c: Columns, ground: GroundGrid) -> float:
    """Return the tyres' largest acceleration, m/s2."""
    p = c.pose[row]
    if p[2] > ground_height(p[0], p[1], p[2], ground) + LIFTED_M:
        return 0.0
    return c.grip[row] * GRAVITY_MPS2  # type: ignore[no-any-return]


@_fast
def _relax(row: int, c: Columns) -> None:
    """Release a control older than a tick, unless the vehicle's controls are sticky."""
    if not c.sticky[row] and not c.control_set[row]:
        c.control[row, :] = 0.0
        c.hand_brake[row], c.reverse[row], c.manual[row] = 0, 0, 0
    c.control_set[row] = 0


@_fast
def _backwards(row: int, c: Columns) -> bool:
    return c.reverse[row] != 0 or (c.manual[row] != 0 and c.gear[row] < 0)  # type: ignore[no-any-return]


@_fast
def _settle(row: int, dt: float, c: Columns, ground: GroundGrid) -> None:
    """Place the wheels on the ground, or let the body fall."""
    p, reach, width = c.pose[row], 0.5 * c.wheelbase[row], 0.8 * c.half[row, 1]
    yaw = math.radians(p[4])
    cy, sy = math.cos(yaw), math.sin(yaw)
    front = ground_height(p[0] + cy * reach, p[1] + sy * reach, p[2], ground)
    back = ground_height(p[0] - cy * reach, p[1] - sy * reach, p[2], ground)
    right = ground_height(p[0] - sy * width, p[1] + cy * width, p[2], ground)
    left = ground_height(p[0] + sy * width, p[1] - cy * width, p[2], ground)
    floor = 0.25 * (front + back + right + left)
    if p[2] > floor + CONTACT_M or c.fall[row] > 0:
        if c.gravity[row]:
            c.fall[row] -= GRAVITY_MPS2 * dt
        p[2] += c.fall[row] * dt
        if p[2] > floor + CONTACT_M:
            return
    p[2], c.fall[row] = floor, 0.0
    p[3] = math.degrees(math.atan2(front - back, 2 * reach))
    p[5] = -math.degrees(math.atan2(right - left, 2 * width))


@_fast
def _steer_share(speed: float) -> float:
    """Return the share of the full steering angle at a speed, m/s: CARLA's default steering curve."""
    if speed < 5.0:
        return 1.0
    return max(0.5, 1.0 - 0.016 * (speed - 5.0))


@_fast
def _follow(row: int, dt: float, c: Columns) -> None:
    """Derive the velocity of an externally moved actor from its displacement, unless that is a teleport."""
    p = c.pose[row]
    total = 0.0
    for axis in range(3):
        total += (p[axis] - c.was[row, axis]) ** 2
    real = math.sqrt(total) <= FASTEST_MPS * dt
    for axis in range(3):
        now = (p[axis] - c.was[row, axis]) / dt if real else 0.0
        c.acceleration[row, axis] = (now - c.velocity[row, axis]) / dt if real else 0.0
        c.velocity[row, axis] = now
        c.angular[row, axis] = 0.0
        c.was[row, axis] = p[axis]


@_fast
def _take_over_orders(row: int, c: Columns) -> None:
    """Apply target velocities and impulses of the last tick to the velocity."""
    if c.target_set[row] or c.push[row, 0] != 0.0 or c.push[row, 1] != 0.0:
        yaw = math.radians(c.pose[row, 4])
        cy, sy = math.cos(yaw), math.sin(yaw)
        if c.target_set[row]:
            c.speed[row] = c.target[row, 0] * cy + c.target[row, 1] * sy
            c.aside[row] = c.target[row, 1] * cy - c.target[row, 0] * sy
            c.fall[row] = c.target[row, 2]
            c.target_set[row] = 0
        c.speed[row] += c.push[row, 0] * cy + c.push[row, 1] * sy
        c.aside[row] += c.push[row, 1] * cy - c.push[row, 0] * sy
    c.fall[row] += c.push[row, 2]
    c.push[row, :] = 0.0


@_fast
def _turning(steer: float, wheelbase: float) -> tuple[float, float]:
    """Return the sideslip angle, radians, and the curvature, 1/m, for an angle of the front wheels, radians."""
    tangent = math.tan(steer)
    slip = math.atan(0.5 * tangent)
    return slip, math.cos(slip) * tangent / wheelbase


@_fast
def _holds(now: tuple[float, float], then: tuple[float, float], step_m: float, most_rad: float) -> bool:
    """Return whether the change between two ``_turning`` over ``step_m`` turns the course by at most ``most_rad``."""
    (slip, bend), (next_slip, next_bend) = now, then
    swing = next_slip - slip
    return abs(swing) <= SWING_SHARE * most_rad and abs(0.5 * step_m * (bend + next_bend) + swing) <= most_rad


@_fast
def _steered(now: float, aim: float, step_m: float, wheelbase: float, most_rad: float) -> float:
    """Return the angle of the front wheels after a tick on their way from ``now`` to ``aim``.

    The tyres' grip limits the angle, like sliding, and its rate: over ``step_m`` in this tick the course turns by
    ``most_rad`` at most.
    """
    slide = math.atan(most_rad * wheelbase / max(abs(step_m), 1e-4))
    held, aim = min(max(now, -slide), slide), min(max(aim, -slide), slide)
    began = _turning(held, wheelbase)
    if _holds(began, _turning(aim, wheelbase), step_m, most_rad):
        return aim
    for _ in range(_HALVINGS):
        middle = 0.5 * (held + aim)
        if _holds(began, _turning(middle, wheelbase), step_m, most_rad):
            held = middle
        else:
            aim = middle
    return held


@_fast
def _slower(speed: float, loss: float) -> float:
    """Return a signed speed with its magnitude reduced by ``loss``, at least 0."""
    return speed - math.copysign(min(loss, abs(speed)), speed)


@_fast
def _drive(row: int, dt: float, c: Columns, ground: GroundGrid) -> None:
    p = c.pose[row]
    _take_over_orders(row, c)
    _relax(row, c)
    most_mps2 = _traction(row, c, ground)
    v = _speed_after(row, dt, c, most_mps2)
    if c.gravity[row]:  # a massless body has no tyre load
        c.aside[row] = _slower(c.aside[row], most_mps2 * dt)
    if c.constant[row, 3] != 0.0:
        v, c.aside[row] = c.constant[row, 0], c.constant[row, 1]
        if c.constant[row, 2] != 0.0:
            c.fall[row] = c.constant[row, 2]
    aim = min(max(c.control[row, 1], -1.0), 1.0) * c.max_steer[row] * _steer_share(abs(v))
    aim = c.steer[row] + min(max(aim - c.steer[row], -STEER_RATE_RADPS * dt), STEER_RATE_RADPS * dt)
    most_rad = min(most_mps2, LATERAL_MPS2) * dt / max(abs(v), 1e-3)
    c.steer[row] = _steered(c.steer[row], aim, v * dt, c.wheelbase[row], most_rad)
    slip, bend = _turning(c.steer[row], c.wheelbase[row])
    rate = v * bend
    rate += math.radians(c.spin[row])
    c.spin[row] *= 0.9
    yaw = math.radians(p[4])
    course, level = yaw + slip + 0.5 * rate * dt, math.cos(math.radians(p[3]))
    p[0] += v * level * math.cos(course) * dt
    p[1] += v * level * math.sin(course) * dt
    if c.aside[row] != 0.0:
        p[0] -= c.aside[row] * math.sin(yaw) * dt
        p[1] += c.aside[row] * math.cos(yaw) * dt
    p[4] = 180.0 - (180.0 - math.degrees(yaw + rate * dt)) % 360.0  # 180 stays 180, as in Unreal
    _settle(row, dt, c, ground)
    c.speed[row] = v
    if not c.manual[row]:
        at_rest = abs(v) < 0.01 and c.control[row, 0] <= 0
        c.gear[row] = -1 if _backwards(row, c) else (0 if at_rest else 1 + min(4, int(abs(v) / 7.0)))


@_fast
def step_vehicles(rows: Rows, dt: float, c: Columns, ground: GroundGrid) -> None:
    """Advance vehicles in (N,) rows by one tick; ``velocity`` becomes displacement over time."""
    for row in rows:
        if not c.physics[row]:
            _follow(row, dt, c)
            c.speed[row], c.aside[row], c.fall[row], c.placed[row], c.target_set[row] = 0.0, 0.0, 0.0, 0, 0
            c.push[row, :] = 0.0
            continue
        yaw = c.pose[row, 4]
        if c.placed[row]:
            for axis in range(3):
                c.was[row, axis] = c.pose[row, axis]
        _drive(row, dt, c, ground)
        for axis in range(3):
            now = (c.pose[row, axis] - c.was[row, axis]) / dt
            c.acceleration[row, axis] = (now - c.velocity[row, axis]) / dt
            c.velocity[row, axis] = now
            c.was[row, axis] = c.pose[row, axis]
            c.angular[row, axis] = 0.0
        c.angular[row, 2] = ((c.pose[row, 4] - yaw + 180.0) % 360.0 - 180.0) / dt
        c.placed[row] = 0


@_fast
def _drifts(row: int, c: Columns) -> bool:
    """Apply new velocities and impulses of a walker or prop; returns whether it drifts."""
    if c.target_set[row]:
        c.drift[row], c.target_set[row] = c.target[row], 0
    if c.constant[row, 3] != 0.0:
        yaw = math.radians(c.pose[row, 4])
        x, y = c.constant[row, 0], c.constant[row, 1]
        c.drift[row, 0] = x * math.cos(yaw) - y * math.sin(yaw)
        c.drift[row, 1] = x * math.sin(yaw) + y * math.cos(yaw)
        c.drift[row, 2] = c.constant[row, 2] if c.constant[row, 2] != 0.0 else c.drift[row, 2]
    for axis in range(3):
        c.drift[row, axis] += c.push[row, axis]
        c.push[row, axis] = 0.0
    return c.drift[row, 0] != 0.0 or c.drift[row, 1] != 0.0 or c.drift[row, 2] != 0.0  # type: ignore[no-any-return]


@_fast
def _drift(row: int, dt: float, c: Columns, ground: GroundGrid) -> None:
    """Move a body by its drift velocity: it slides until friction stops it, flies, and falls."""
    p = c.pose[row]
    for axis in range(3):
        p[axis] += c.drift[row, axis] * dt
    floor = ground_height(p[0], p[1], p[2], ground) + c.half[row, 2] - c.offset[row, 2]
    if p[2] > floor + CONTACT_M:
        if c.gravity[row]:
            c.drift[row, 2] -= GRAVITY_MPS2 * dt
        return
    p[2], c.drift[row, 2] = floor, 0.0
    speed = math.hypot(c.drift[row, 0], c.drift[row, 1])
    remaining = _slower(speed, SLIDE_MPS2 * dt) / max(speed, 1e-9)
    c.drift[row, 0] *= remaining
    c.drift[row, 1] *= remaining


@_fast
def step_props(rows: Rows, dt: float, c: Columns, ground: GroundGrid) -> None:
    """Advance moving props in (N,) rows by one tick; other props keep their pose."""
    for row in rows:
        if c.physics[row] and _drifts(row, c):
            _drift(row, dt, c, ground)


@_fast
def step_walkers(rows: Rows, dt: float, c: Columns, ground: GroundGrid) -> None:
    """Advance walkers in (N,) rows by one tick: commanded velocity, or the velocity of their teleports.

    As in CARLA, a character without physics also follows its control: only falling needs physics.
    """
    for row in rows:
        p = c.pose[row]
        moving = c.stride[row, 0] != 0.0 or c.stride[row, 1] != 0.0
        if c.physics[row] and _drifts(row, c):
            _drift(row, dt, c, ground)
        elif c.placed[row] == 0 and (c.physics[row] or moving or c.jump[row]):
            if moving:
                p[0] += c.stride[row, 0] * dt
                p[1] += c.stride[row, 1] * dt
                p[4] = math.degrees(math.atan2(c.stride[row, 1], c.stride[row, 0]))
            floor = ground_height(p[0], p[1], p[2], ground) + c.half[row, 2]
            if c.jump[row] == 1 and c.fall[row] == 0.0 and p[2] <= floor + CONTACT_M:
                c.jump[row], c.fall[row] = 3, JUMP_MPS
            if c.jump[row] & 2:
                p[2] += (c.fall[row] - 0.5 * GRAVITY_MPS2 * dt) * dt
                c.fall[row] -= GRAVITY_MPS2 * dt
                if p[2] <= floor:
                    p[2], c.fall[row] = floor, 0.0
                    c.jump[row] &= 1
            elif c.gravity[row] and p[2] > floor + STEP_DOWN_M:
                c.fall[row] -= GRAVITY_MPS2 * dt
                p[2] = max(floor, p[2] + c.fall[row] * dt)
            else:
                p[2], c.fall[row] = floor, 0.0
        _follow(row, dt, c)
        c.placed[row] = 0


@_fast
def step(movers: tuple[Rows, Rows, Rows], dt: float, c: Columns, ground: GroundGrid) -> None:
    """Advance vehicles, walkers and props by one tick, in one call because passing the columns is expensive."""
    vehicles, walkers, props = movers
    step_vehicles(vehicles, dt, c, ground)
    step_walkers(walkers, dt, c, ground)
    step_props(props, dt, c, ground)


_Attached = namedtuple("_Attached", "alive parent level relative pose velocity angular acceleration")
"""Columns of the table with attachment and motion."""


def carry(row: int, c: Columns) -> None:
    """Move an attached actor with its parent."""
    _carry(row, some_of(c, _Attached))


def carry_all(c: Columns) -> None:
    """Move all attached actors with their parents, parents first."""
    _carry(_ALL, some_of(c, _Attached))


@kernel(error_model="python")
def _carry_one(row: Number, c: _Attached, above: Float64) -> None:
    parent = c.parent[row]
    for k in range(6):
        above[k] = np.float32(c.pose[parent, k])  # as drawn and reported (``movers``)
    if c.level[row]:
        above[3], above[5] = 0.0, 0.0
    compose_into(above, c.relative[row], c.pose[row])
    for axis in range(3):  # numbers one by one: array assignments take numba seconds to compile
        c.velocity[row, axis] = c.velocity[parent, axis]
        c.angular[row, axis] = c.angular[parent, axis]
        c.acceleration[row, axis] = c.acceleration[parent, axis]


@kernel(error_model="python")
def _carry(only: int, c: _Attached) -> None:
    deepest, depth, above = 0, 1, np.empty(6)
    if only != _ALL:
        _carry_one(only, c, above)
        return
    for row in range(len(c.alive)):
        if c.alive[row] and c.parent[row] >= 0:
            deepest = max(deepest, _depth(row, c.parent))
    while depth <= deepest:
        for row in range(len(c.alive)):
            if c.alive[row] and c.parent[row] >= 0 and _depth(row, c.parent) == depth:
                _carry_one(row, c, above)
        depth += 1


@_fast
def _depth(row: Number, parents: Int32) -> int:
    """Return the number of ancestors of an actor."""
    found, above = 0, int64(parents[row])
    while above >= 0:
        found += 1
        above = int64(parents[above])
    return found
