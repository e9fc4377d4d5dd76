"""Conversion of physics parameters from the wire format to a recording's."""

from typing import Any

import numpy as np
import numpy.typing as npt

from headless_simulator.carla.recorder.layout import PhysicsControl, single
from headless_simulator.carla.values import vector
from headless_simulator.errors import BadArgument
from headless_simulator.rpc.arguments import array, flag, number


def from_wire(actor_id: int, rows: list[Any]) -> PhysicsControl | None:
    """Convert the array of ``get_physics_control``; None if a client set an invalid physics control."""
    try:
        torque, *engine, com, steering, wheels = array(rows, "physics control", least=17)[:16]
        max_rpm, inertia, full, engaged, free, auto_box, _switch_s, clutch, ratio, gears, mass, drag = engine
        head = _array([[max_rpm, inertia, full, engaged, free]], 5)[0].tolist()
        rest = _array([[clutch, ratio, mass, drag]], 4)[0].tolist()
        wheel_rows = [
            [*array(row, "wheel", least=10)[:9], *vector(row[9], "position")] for row in array(wheels, "wheels")
        ]
        return PhysicsControl(
            actor_id,
            (*head, flag(auto_box, "use_gear_auto_box"), *rest, *vector(com, "center_of_mass")),
            _array(torque, 2),
            _array(gears, 3),
            _array(steering, 2),
            _array(wheel_rows, 12),
        )
    except (BadArgument, ValueError, OverflowError):
        return None


def _array(rows: Any, columns: int) -> npt.NDArray[np.float32]:
    numbers = [[number(v, "number") for v in array(row, "row", least=columns)[:columns]] for row in array(rows, "rows")]
    return single(numbers).astype(np.float32).reshape(-1, columns)
