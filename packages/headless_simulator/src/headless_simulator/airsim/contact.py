"""Contact of a drone body with the ground and with the boxes of nearby buildings, poles and vehicles."""

# ruff: noqa: PLR0917  (numba kernels take plain arrays, by position)

from __future__ import annotations

import math
from typing import Any, Final

from headless_simulator.airsim import quad, simple_flight
from headless_simulator.airsim.quad import (
    BODY_RADIUS_M,
    FRICTION,
    RESTITUTION,
    S_ACCEL,
    S_COLLIDES,
    S_GROUNDED,
    S_HIT,
    S_HIT_AGE,
    S_HIT_DEPTH,
    S_HIT_NORMAL,
    S_HIT_OBSTACLE,
    S_HIT_POINT,
    S_HIT_POSITION,
    S_QUAT,
    S_RATE,
    S_RATE_ACCEL,
    S_TOUCHING,
    S_VELOCITY,
    STANDS_M,
)
from headless_simulator.jit import kernel

GROUND: Final = -1
LEVEL_ENOUGH: Final = 0.25
FLATNESS: Final = BODY_RADIUS_M / STANDS_M
NO_GROUND_M: Final = -1.0e9
FAR_AWAY_M: Final = 1.0e8  # beyond any town; also keeps NaN away from the grid


@kernel(error_model="python")
def ground_height(grid: Any, origin_x: float, origin_y: float, cell: float, x: float, y: float) -> float:
    """Interpolate the ground height (Unreal's z, metres) bilinearly; positions outside the grid take its edge.

    Args:
        grid: (Y, X) heights, metres.
        origin_x: Unreal's x of the first column.
        origin_y: Unreal's y of the first row.
        cell: grid step, metres.
        x: position, metres, Unreal's axes.
        y: position, metres, Unreal's axes.
    """
    rows, columns = grid.shape
    if not (abs(x) < FAR_AWAY_M and abs(y) < FAR_AWAY_M):
        return NO_GROUND_M
    column = min(max((x - origin_x) / cell, 0.0), columns - 1.000001)
    row = min(max((y - origin_y) / cell, 0.0), rows - 1.000001)
    i, j = int(column), int(row)
    u, v = column - i, row - j
    i1, j1 = min(i + 1, columns - 1), min(j + 1, rows - 1)
    top = grid[j, i] * (1 - u) + grid[j, i1] * u
    return float(top * (1 - v) + (grid[j1, i] * (1 - u) + grid[j1, i1] * u) * v)


@kernel(error_model="python")
def touch_ground(state: Any, height: float, spawn_z: float) -> None:
    """Keep a body above the ground; a vertical landing locks it there, level, as AirSim does."""
    height += STANDS_M
    above = spawn_z - state[2] - height
    if above > 0.0:
        return
    if state[S_GROUNDED] > 0:
        state[2] = spawn_z - height
        return
    vx, vy, vz = state[7], state[8], state[9]
    if vz <= 0.0 and above > -0.05:
        return  # taking off
    _note_hit(state, 0.0, 0.0, -1.0, -above, GROUND, STANDS_M)
    state[2] = spawn_z - height
    upright = 1.0 - 2.0 * (
        state[4] * state[4] + state[5] * state[5]
    )  # cosine between the world's and the body's down axis
    if abs(upright) >= 1.0 - LEVEL_ENOUGH and vz > abs(vx) and vz > abs(vy):
        _lock_to_ground(state)
    else:
        state[9] = -vz * RESTITUTION if vz > 0.2 else 0.0
        state[7] *= 1 - FRICTION
        state[8] *= 1 - FRICTION
        _calm(state)


@kernel(error_model="python")
def _lock_to_ground(state: Any) -> None:
    yaw = quad.angles(state)[2]
    state[S_QUAT], state[S_QUAT + 1], state[S_QUAT + 2], state[S_QUAT + 3] = (
        math.cos(yaw / 2),
        0.0,
        0.0,
        math.sin(yaw / 2),
    )
    for axis in range(3):
        state[S_VELOCITY + axis] = 0.0
        state[S_RATE + axis] = 0.0
    _calm(state)
    state[S_GROUNDED] = 1.0


@kernel(error_model="python")
def _calm(state: Any) -> None:
    for axis in range(3):
        state[S_ACCEL + axis] = 0.0
        state[S_RATE_ACCEL + axis] = 0.0
        state[S_RATE + axis] *= 0.9


@kernel(error_model="python")
def _note_hit(state: Any, nx: float, ny: float, nz: float, depth: float, obstacle: int, reach: float) -> None:
    """Record a contact unless it already existed in the previous step."""
    if state[S_TOUCHING] > 0 and state[S_HIT_OBSTACLE] == obstacle:
        state[S_TOUCHING] = 2.0
        return
    state[S_TOUCHING] = 2.0
    state[S_HIT] = 1.0
    state[S_HIT_AGE] = 0.0
    state[S_HIT_DEPTH] = depth
    state[S_HIT_OBSTACLE] = obstacle
    state[S_HIT_NORMAL], state[S_HIT_NORMAL + 1], state[S_HIT_NORMAL + 2] = nx, ny, nz
    for axis in range(3):
        state[S_HIT_POSITION + axis] = state[axis]
        state[S_HIT_POINT + axis] = state[axis] - state[S_HIT_NORMAL + axis] * reach


@kernel(error_model="python")
def touch_boxes(state: Any, spawn: Any, boxes: Any, first: int, last: int) -> None:
    """Push the body, an ellipsoid, out of the boxes that it penetrates, and reflect its velocity.

    Args:
        state: (STATE_SIZE,) row of one vehicle.
        spawn: (3,) Unreal's x, y, z of its origin, metres.
        boxes: (B, 8) centre x, y, z, half x, y, z, cosine and sine of yaw, Unreal's axes, metres.
        first: its first row in ``boxes``.
        last: one past its last row.
    """
    for row in range(first, last):
        x = spawn[0] + state[0] - boxes[row, 0]
        y = spawn[1] + state[1] - boxes[row, 1]
        z = (spawn[2] - state[2] - boxes[row, 2]) * FLATNESS  # heights are stretched until the body is a ball
        c, s = boxes[row, 6], boxes[row, 7]
        ox, oy = c * x + s * y, c * y - s * x
        hx, hy, hz = boxes[row, 3], boxes[row, 4], boxes[row, 5] * FLATNESS
        px, py, pz = min(max(ox, -hx), hx), min(max(oy, -hy), hy), min(max(z, -hz), hz)
        dx, dy, dz = ox - px, oy - py, z - pz
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        if distance >= BODY_RADIUS_M:
            continue
        if distance > 1e-9:
            dx, dy, dz = dx / distance, dy / distance, dz / distance
        else:  # inside: leave through the nearest face
            gx, gy, gz = hx - abs(ox), hy - abs(oy), hz - abs(z)
            nearest = min(gx, gy, gz)
            dx = math.copysign(1.0, ox) if nearest == gx else 0.0
            dy = math.copysign(1.0, oy) if nearest == gy and nearest != gx else 0.0
            dz = math.copysign(1.0, z) if nearest == gz and nearest != gx and nearest != gy else 0.0
            distance = -nearest
        dz *= FLATNESS
        stretch = math.sqrt(dx * dx + dy * dy + dz * dz)
        dx, dy, dz = dx / stretch, dy / stretch, dz / stretch
        _bounce(state, c * dx - s * dy, s * dx + c * dy, -dz, (BODY_RADIUS_M - distance) / stretch, row)


@kernel(error_model="python")
def _bounce(state: Any, nx: float, ny: float, nz: float, depth: float, row: int) -> None:
    reach = math.sqrt((nx * nx + ny * ny) * BODY_RADIUS_M**2 + nz * nz * STANDS_M**2)
    _note_hit(state, nx, ny, nz, depth, row, reach)
    state[0] += nx * depth
    state[1] += ny * depth
    state[2] += nz * depth
    speed_in = state[7] * nx + state[8] * ny + state[9] * nz
    if speed_in >= 0.0:
        return
    on_top = nz < -0.7 and -speed_in < 1.0
    kick = 0.0 if on_top else RESTITUTION
    for axis in range(3):
        normal = nx if axis == 0 else (ny if axis == 1 else nz)
        sliding = state[S_VELOCITY + axis] - speed_in * normal
        state[S_VELOCITY + axis] = sliding * (1 - FRICTION) - kick * speed_in * normal
    if on_top:
        _lock_to_ground(state)
    else:
        _calm(state)


@kernel(error_model="python")
def advance(
    state: Any,
    mode: Any,
    goal: Any,
    gains: Any,
    spawn: Any,
    boxes: Any,
    box_range: Any,
    grid: Any,
    grid_frame: Any,
    wind: Any,
    altitude: Any,
    ideal: bool,
    dt: float,
    steps: int,
) -> None:
    """Advance every vehicle by ``steps`` steps of ``dt`` seconds, in place.

    Args:
        state: (N, STATE_SIZE).
        mode: (N, 4) goal modes.
        goal: (N, 4) goals.
        gains: (N, 4, 3, 4) controller gains.
        spawn: (N, 3) Unreal's x, y, z of each vehicle's origin, metres.
        boxes: (B, 8) obstacles, see ``touch_boxes``.
        box_range: (N, 2) first and one past last obstacle of each vehicle.
        grid: (Y, X) ground heights, metres.
        grid_frame: (3,) origin x, y and step of the grid, metres.
        wind: (3,) NED m/s.
        altitude: (N,) metres above the sea of each vehicle's origin.
        ideal: see ``simple_flight``.
        dt: step, seconds.
        steps: number of steps.
    """
    for _ in range(steps):
        for vehicle in range(state.shape[0]):
            row = state[vehicle]
            row[S_HIT_AGE] += dt
            row[S_TOUCHING] = max(0.0, row[S_TOUCHING] - 1.0)
            quad.move(row, wind, quad.air_density(altitude[vehicle] - row[2]), dt)
            if row[S_COLLIDES] > 0:
                height = ground_height(
                    grid,
                    grid_frame[0],
                    grid_frame[1],
                    grid_frame[2],
                    spawn[vehicle, 0] + row[0],
                    spawn[vehicle, 1] + row[1],
                )
                touch_ground(row, height, spawn[vehicle, 2])
                touch_boxes(row, spawn[vehicle], boxes, box_range[vehicle, 0], box_range[vehicle, 1])
            row[quad.S_GOAL_AGE] += dt
            simple_flight.control(row, mode[vehicle], goal[vehicle], gains[vehicle], ideal, dt)
