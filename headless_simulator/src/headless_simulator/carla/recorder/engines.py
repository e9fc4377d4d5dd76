"""Physics parameters of a vehicle between the wire's arrays and a recording's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from headless_simulator.carla import values
from headless_simulator.carla.recorder.layout import PhysicsControl, single
from headless_simulator.carla.values import BadArgument


def from_wire(actor_id: int, rows: list[Any]) -> PhysicsControl | None:
    """Take over ``get_physics_control``'s array; None when a client set what is no physics control."""
    try:
        torque, *engine, com, steering, wheels = values.items(rows, least=17)[:16]
        max_rpm, inertia, full, engaged, free, auto_box, _switch_s, clutch, ratio, gears, mass, drag = engine
        head = _array([[max_rpm, inertia, full, engaged, free]], 5)[0].tolist()
        rest = _array([[clutch, ratio, mass, drag]], 4)[0].tolist()
        wheel_rows = [[*values.items(row, least=10)[:9], *values.vector(row[9])] for row in values.items(wheels)]
        return PhysicsControl(
            actor_id,
            (*head, values.flag(auto_box), *rest, *values.vector(com)),
            _array(torque, 2),
            _array(gears, 3),
            _array(steering, 2),
            _array(wheel_rows, 12),
        )
    except (BadArgument, ValueError, OverflowError):
        return None


def _array(rows: Any, columns: int) -> npt.NDArray[np.float32]:
    numbers = [[values.number(v) for v in values.items(row, least=columns)[:columns]] for row in values.items(rows)]
    return single(numbers).astype(np.float32).reshape(-1, columns)
