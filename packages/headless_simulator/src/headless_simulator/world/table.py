"""Actor state in columns, one row per actor, for physics, snapshot and renderer."""

from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from headless_simulator.scene import Float64, Int32, UInt8, UInt32

Bools: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
Some = TypeVar("Some", bound=tuple[Any, ...])

OTHER: Final = 0
VEHICLE: Final = 1
WALKER: Final = 2
PROP: Final = 3
SENSOR: Final = 4
LIGHT: Final = 5
SIGN: Final = 6
SPECTATOR: Final = 7
CONTROLLER: Final = 8

_FIRST_CAPACITY: Final = 256


class Columns(NamedTuple):
    """Columns with one entry per row, passed to numba kernels.

    Attributes:
        alive: (C,) bool.
        kind: (C,) uint8, one of the numbers of this module.
        actor_id: (C,) uint32.
        pose: (C, 6) metres and degrees.
        was: (C, 3) location at the last tick, for velocities of externally moved actors.
        velocity, angular, acceleration: (C, 3) m/s, deg/s, m/s2 in world axes.
        speed: (C,) m/s along the vehicle's nose, negative in reverse.
        fall: (C,) m/s vertical, positive up.
        control: (C, 3) throttle, steer, brake.
        hand_brake, reverse, manual: (C,) 0 or 1.
        gear: (C,) int32.
        steer: (C,) radians, current angle of the front wheels.
        physics, gravity, solid: (C,) 0 or 1: moved by the engine; falls; collides.
        placed: (C,) 1 when teleported since the last tick.
        half, offset: (C, 3) bounding box in the actor's frame.
        mass: (C,) kg.
        wheelbase: (C,) metres.
        max_steer: (C,) radians.
        drive: (C,) m/s2 at full throttle.
        grip: (C,) current friction of the tyres; 3.5 is the default, 0 is ice.
        own_grip: (C,) friction of the tyres without triggers.
        drag: (C,) air drag relative to the default.
        sticky: (C,) 1 when a control holds until the next one, 0 when it holds for one tick.
        control_set: (C,) 1 when a control arrived since the last tick.
        model: (C,) int32 model number, -1 without a body.
        colour: (C, 3) uint8.
        lights: (C,) uint32.
        stride: (C, 3) a walker's commanded velocity, m/s.
        jump: (C,) bits of a walker: 1 jump requested, 2 in the air.
        parent: (C,) int32 row of the parent actor, -1 without.
        relative: (C, 6) pose in the parent's frame.
        level: (C,) 1 when only the parent's yaw is followed (spring arm).
        signal: (C,) int32 number of the vehicle's traffic light, -1 without.
        limit: (C,) km/h.
        target_set: (C,) 1 when the next tick applies a target velocity.
        target: (C, 3) target velocity, m/s.
        constant: (C, 4) constant velocity in the actor's frame, then 1 when on.
        spin: (C,) deg/s external yaw rate, decays.
        push: (C, 3) m/s to add in the next tick (impulses, forces).
        aside: (C,) a vehicle's speed to its right, m/s, which its tyres reduce.
        drift: (C, 3) external velocity of a walker or prop, m/s in world axes.
        dormant: (C,) 1 while too far from the ego of a large map: neither moved nor drawn.
    """

    alive: Bools
    kind: UInt8
    actor_id: UInt32
    pose: Float64
    was: Float64
    velocity: Float64
    angular: Float64
    acceleration: Float64
    speed: Float64
    fall: Float64
    control: Float64
    hand_brake: UInt8
    reverse: UInt8
    manual: UInt8
    gear: Int32
    steer: Float64
    physics: UInt8
    gravity: UInt8
    solid: UInt8
    placed: UInt8
    half: Float64
    offset: Float64
    mass: Float64
    wheelbase: Float64
    max_steer: Float64
    drive: Float64
    grip: Float64
    own_grip: Float64
    drag: Float64
    sticky: UInt8
    control_set: UInt8
    model: Int32
    colour: UInt8
    lights: UInt32
    stride: Float64
    jump: UInt8
    parent: Int32
    relative: Float64
    level: UInt8
    signal: Int32
    limit: Float64
    target_set: UInt8
    target: Float64
    constant: Float64
    spin: Float64
    push: Float64
    aside: Float64
    drift: Float64
    dormant: UInt8


_WIDTHS: Final = {
    "pose": 6, "was": 3, "velocity": 3, "angular": 3, "acceleration": 3, "control": 3, "half": 3, "offset": 3,
    "colour": 3, "stride": 3, "relative": 6, "target": 3, "constant": 4, "push": 3, "drift": 3,
}  # fmt: skip
"""Numbers per row of the columns with more than one."""
_ABSENT: Final = ("model", "parent", "signal")  # -1 means none


def some_of(c: Columns, which: type[Some]) -> Some:
    """Return the columns of a named tuple: with all 46 columns, numba compiles each kernel half a second longer."""
    return which(*(getattr(c, name) for name in which._fields))  # type: ignore[attr-defined]


def _columns(capacity: int) -> Columns:
    made: dict[str, Any] = {}
    for name, hint in get_type_hints(Columns).items():
        number = get_args(hint)[-1]  # the number's type since NumPy 2.5, before dtype[number]
        (number,) = get_args(number) or (number,)
        made[name] = np.zeros((capacity, _WIDTHS[name]) if name in _WIDTHS else capacity, number)
    return Columns(**made)


class ActorTable:
    """Growing columns; a row belongs to one actor until it is released, then to another.

    Attributes:
        c: the columns; growth replaces them, so that columns are invalid after a spawn.
    """

    def __init__(self) -> None:
        self.c = _columns(_FIRST_CAPACITY)
        self._free: list[int] = []
        self._used = 0
        self._rows: dict[tuple[int, ...], Rows] = {}  # valid since the last spawn or destruction

    def claim(self, kind: int, actor_id: int) -> int:
        """Return a new alive row, zero except for kind and id."""
        if self._free:
            row = self._free.pop()
        else:
            if self._used == len(self.c.alive):
                self._grow()
            row = self._used
            self._used += 1
        for name, column in self.c._asdict().items():
            column[row] = -1 if name in _ABSENT else 0
        self.c.alive[row], self.c.kind[row], self.c.actor_id[row] = True, kind, actor_id
        self._rows.clear()
        return row

    def release(self, row: int) -> None:
        """Release a row."""
        self.c.alive[row] = False
        self._free.append(row)
        self._rows.clear()

    def rows(self, *kinds: int) -> Rows:
        """Return (N,) rows of living actors of the kinds (default: all), sorted by actor id; read-only."""
        found = self._rows.get(kinds)
        if found is None:
            found = self._rows[kinds] = self._find(kinds)
        return found

    def places(self, kind: int) -> Rows:
        """Return the (K,) positions of a kind's rows in ``rows()``."""
        return np.flatnonzero(self.c.kind[self.rows()] == kind)

    def _find(self, kinds: tuple[int, ...]) -> Rows:
        mask = self.c.alive[: self._used]
        if kinds:
            mask = mask & np.isin(self.c.kind[: self._used], kinds)
        found = np.flatnonzero(mask)
        return found[np.argsort(self.c.actor_id[found], kind="stable")]

    def _grow(self) -> None:
        longer = _columns(2 * len(self.c.alive))
        for name, old in self.c._asdict().items():
            getattr(longer, name)[: len(old)] = old
        self.c = longer
