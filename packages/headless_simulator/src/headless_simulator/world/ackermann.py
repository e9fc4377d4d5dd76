"""CARLA's Ackermann controller: pedals and steering per tick from a target speed and angle.

Two PID controllers in series, as in ``FAckermannController``: the first changes the target acceleration by the speed error,
the second changes a pedal by the acceleration error. Both outputs are clipped to -1..1.
"""

from dataclasses import dataclass, field
from typing import Final

from headless_simulator.world.table import Columns

GAINS: Final = (0.15, 0.0, 0.25, 0.01, 0.0, 0.01)  # proportional, integral, derivative: of speed, then of acceleration
STANDS_MPS: Final = 0.1
MOST_MPS2: Final = 3.0  # of throttle and brake, without a requested acceleration
LEAST_MPS2: Final = -8.0


def _within(value: float, low: float, high: float) -> float:
    return max(low, min(high, value))


@dataclass(slots=True)
class _Pid:
    integral: float = 0.0
    last: float = 0.0

    def run(self, gains: tuple[float, ...], target: float, now: float, dt: float) -> float:
        proportional, integral, derivative = gains
        self.integral = _within(self.integral + integral * (target - now) * dt, -1.0, 1.0)
        slope, self.last = (now - self.last) / dt, now
        return _within(proportional * (target - now) + self.integral - derivative * slope, -1.0, 1.0)


@dataclass(slots=True)
class Ackermann:
    """The controller of one vehicle.

    Attributes:
        steer: target angle of the front wheels, radians, to the right.
        steer_speed: steering rate, rad/s; 0 for immediate.
        speed: target, m/s; negative in reverse.
        acceleration: largest absolute acceleration, m/s2; 0 for the default.
        gains: as ``GAINS``.
        active: whether it drives: from its call until a plain control.
    """

    steer: float = 0.0
    steer_speed: float = 0.0
    speed: float = 0.0
    acceleration: float = 0.0
    gains: tuple[float, ...] = GAINS
    active: bool = False
    _speed_pid: _Pid = field(default_factory=_Pid)
    _acceleration_pid: _Pid = field(default_factory=_Pid)
    _target_mps2: float = 0.0
    _pedal: float = 0.0
    _was_mps: float = 0.0
    _now_mps2: float = 0.0

    def release(self) -> None:
        """Stop driving and reset the state except the gains."""
        self.active = False
        self._speed_pid, self._acceleration_pid = _Pid(), _Pid()
        self._target_mps2 = self._pedal = self._was_mps = self._now_mps2 = 0.0

    def drive(self, row: int, c: Columns, dt: float) -> None:
        """Write the control of the vehicle in ``row`` for a tick of ``dt`` seconds."""
        if c.control_set[row]:  # a plain control arrived since
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
        target_mps = self.speed
        if abs(now) < STANDS_MPS:
            c.reverse[row] = self.speed < 0
        elif now * self.speed < 0:
            target_mps = 0.0  # it must stop before it reverses direction
        self._press(target_mps, now, dt)
        pedal = -self._pedal if c.reverse[row] else self._pedal
        c.control[row, 0], c.control[row, 2] = max(0.0, pedal), max(0.0, -pedal)

    def _steered(self, now_rad: float, most: float, dt: float) -> float:
        aim, step = _within(self.steer, -most, most), abs(self.steer_speed) * dt
        if abs(self.steer_speed) < 0.001 or abs(aim - now_rad) < step:
            return aim
        return now_rad + (step if aim > now_rad else -step)

    def _press(self, target_mps: float, now_mps: float, dt: float) -> None:
        self._target_mps2 += self._speed_pid.run(self.gains[:3], target_mps, now_mps, dt)
        most = abs(self.acceleration)
        low, high = (LEAST_MPS2, MOST_MPS2) if most < 0.0001 else (-most, most)
        self._target_mps2 = _within(self._target_mps2, low, high)
        self._pedal += self._acceleration_pid.run(self.gains[3:], self._target_mps2, self._now_mps2, dt)
        self._pedal = _within(self._pedal, -1.0, 1.0)
