"""CARLA's Ackermann controller: at every tick, pedals and steering from a wanted speed and angle.

Two PID controllers one behind the other, as ``FAckermannController`` has them: the first adds to a wanted acceleration by what
is missing of the speed, the second to a pedal by what is missing of that acceleration. Both outputs are cut to -1 to 1.
"""

from dataclasses import dataclass, field
from typing import Final

from headless_simulator.world.table import Columns

GAINS: Final = (0.15, 0.0, 0.25, 0.01, 0.0, 0.01)  # proportional, integral, derivative: of speed, then of acceleration
STANDS_MPS: Final = 0.1
MOST_MPS2: Final = 3.0  # of throttle and brake, where no acceleration is asked for
LEAST_MPS2: Final = -8.0


def _within(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


@dataclass(slots=True)
class _Pid:
    integral: float = 0.0
    last: float = 0.0

    def run(self, gains: tuple[float, ...], wanted: float, now: float, dt: float) -> float:
        proportional, integral, derivative = gains
        self.integral = _within(self.integral + integral * (wanted - now) * dt, -1.0, 1.0)
        slope, self.last = (now - self.last) / dt, now
        return _within(proportional * (wanted - now) + self.integral - derivative * slope, -1.0, 1.0)


@dataclass(slots=True)
class Ackermann:
    """The controller of one vehicle.

    Attributes:
        steer: wanted angle of the front wheels, radians, to the right.
        steer_speed: how fast they turn there, rad/s; 0 for at once.
        speed: wanted, m/s; negative in reverse.
        acceleration: m/s2 either way at most; 0 for what it usually is.
        gains: as ``GAINS``.
        active: whether it drives: from a call of it until a plain control comes.
    """

    steer: float = 0.0
    steer_speed: float = 0.0
    speed: float = 0.0
    acceleration: float = 0.0
    gains: tuple[float, ...] = GAINS
    active: bool = False
    _speed_pid: _Pid = field(default_factory=_Pid)
    _acceleration_pid: _Pid = field(default_factory=_Pid)
    _wanted_mps2: float = 0.0
    _pedal: float = 0.0
    _was_mps: float = 0.0
    _now_mps2: float = 0.0

    def release(self) -> None:
        """Drive no more, and forget what was; the gains stay."""
        self.active = False
        self._speed_pid, self._acceleration_pid = _Pid(), _Pid()
        self._wanted_mps2 = self._pedal = self._was_mps = self._now_mps2 = 0.0

    def drive(self, row: int, c: Columns, dt: float) -> None:
        """Write the control of the vehicle in ``row`` for a tick of ``dt`` seconds."""
        if c.control_set[row]:  # a plain control came since
            self.release()
            return
        now = float(c.speed[row])
        self._now_mps2 = (4.0 * self._now_mps2 + (now - self._was_mps) / dt) / 5.0
        self._was_mps = now
        most = float(c.max_steer[row])
        c.control[row, 1] = self._steered(float(c.control[row, 1]) * most, most, dt) / most if most else 0.0
        c.control_set[row] = 1
        if abs(now) < STANDS_MPS and abs(self.speed) < STANDS_MPS:
            c.control[row, 0], c.control[row, 2] = 0.0, 1.0
            return
        wanted = self.speed
        if abs(now) < STANDS_MPS:
            c.reverse[row] = self.speed < 0
        elif now * self.speed < 0:
            wanted = 0.0  # it has to stand before it goes the other way
        self._press(wanted, now, dt)
        pedal = -self._pedal if c.reverse[row] else self._pedal
        c.control[row, 0], c.control[row, 2] = max(0.0, pedal), max(0.0, -pedal)

    def _steered(self, now_rad: float, most: float, dt: float) -> float:
        aim, step = _within(self.steer, -most, most), abs(self.steer_speed) * dt
        if abs(self.steer_speed) < 0.001 or abs(aim - now_rad) < step:
            return aim
        return now_rad + (step if aim > now_rad else -step)

    def _press(self, wanted_mps: float, now_mps: float, dt: float) -> None:
        self._wanted_mps2 += self._speed_pid.run(self.gains[:3], wanted_mps, now_mps, dt)
        most = abs(self.acceleration)
        low, high = (LEAST_MPS2, MOST_MPS2) if most < 0.0001 else (-most, most)
        self._wanted_mps2 = _within(self._wanted_mps2, low, high)
        self._pedal += self._acceleration_pid.run(self.gains[3:], self._wanted_mps2, self._now_mps2, dt)
        self._pedal = _within(self._pedal, -1.0, 1.0)
