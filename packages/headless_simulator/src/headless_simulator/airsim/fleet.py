"""AirSim's vehicles, their common clock and their tasks.

One lock guards everything; the clock thread holds it while it integrates, the network threads while they read or
command. Simulated time advances in whole steps of 3 ms, as in AirSim. ``simContinueForTime`` carries the remainder of a
step over to the next call, so that the sum of many calls is exact to a step; with the behaviour ``continue=stepped`` it
drops the remainder, and calls stop alternately a step early and a step late (AirSim issues 3206, 1719).
"""

import math
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.airsim import quad, simple_flight
from headless_simulator.airsim.contact import advance, ground_height
from headless_simulator.airsim.drone import Drone
from headless_simulator.airsim.host import AirSimHost
from headless_simulator.airsim.late_poses import LatePoses
from headless_simulator.airsim.ned import Vec3, add, flip_z, quat_from_euler
from headless_simulator.airsim.obstacles import Obstacles
from headless_simulator.airsim.settings import AirSimSettings, VehicleSetting
from headless_simulator.behaviours import IDEAL, Behaviours
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64

STEP_NS: Final = 3_000_000
COMMAND_NS: Final = 20_000_000  # period of a task's decisions: 50 Hz
FRAME_NS: Final = 20_000_000  # a frame of simContinueForFrames
START_NS: Final = 1_577_836_800_000_000_000  # 2020-01-01: time stamps are the same in every run
LANDED_M: Final = 0.01  # a vehicle that starts lower than this stands on the ground
OBSTACLE_NS: Final = 21_000_000  # period of the search for near obstacles

Task = Generator[int, None, bool]  # yields the time, ns, of its next decision; returns its result


class NoSuchVehicle(CallRefused):
    """A vehicle name that is not flying here."""


@dataclass(slots=True)
class Running:
    """A running task and the callback for its end."""

    steps: Task
    due_ns: int
    done: Callable[[bool | Exception], None]


@dataclass(slots=True)
class Budget:
    """The remaining time of ``simContinueForTime`` and the callback for its end."""

    left_ns: int
    done: Callable[[], None]


class Fleet:
    """The vehicles and their clock.

    Args:
        host: the world.
        settings: vehicles, clock speed, wind.
        player_start_m: Unreal's x, y, z of the origin of global NED, metres.
        behaviours: emulated server behaviours.
    """

    def __init__(
        self,
        host: AirSimHost,
        settings: AirSimSettings,
        *,
        player_start_m: Vec3,
        behaviours: Behaviours = IDEAL,
    ) -> None:
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.host, self.settings = host, settings
        self._read_town(player_start_m)
        self.now_ns = START_NS
        self.paused = False
        self.budget: Budget | None = None
        self._remainder_ns = 0  # unused time of the last budget, less than a step
        self._stepped, self._adds_step = behaviours["continue"] == "stepped", True
        self.late_poses = LatePoses(stale=behaviours["set-pose"] == "stale", frame=lambda: host.frame)
        self.wind_mps = np.array(settings.wind_mps, dtype=np.float64)
        self.drones: dict[str, Drone] = {}
        self._rows: list[Drone] = []
        self._tasks: dict[str, Running] = {}
        self._obstacles_due_ns = 0
        self._clear_arrays()
        for vehicle in settings.vehicles:
            self.add_vehicle(vehicle)

    def _clear_arrays(self) -> None:
        self.state = quad.fresh_state(0)
        self.mode, self.goal = simple_flight.idle_goal(0)
        self.gains = np.zeros((0, 4, 3, 4))
        self.spawn_m = np.zeros((0, 3))
        self._boxes: Float64 = np.zeros((0, 8))
        self._box_range = np.zeros((0, 2), dtype=np.int64)

    def _read_town(self, player_start_m: Vec3) -> None:
        self.player_start_m = player_start_m
        self.obstacles = Obstacles(self.host)
        ground = self.host.town.ground
        self._grid = np.ascontiguousarray(ground.height_m, dtype=np.float64)
        self._grid_frame = np.array([*ground.origin_m, ground.cell_m])

    def enter_town(self, player_start_m: Vec3) -> None:
        """Reset the fleet in the host's current town."""
        with self.lock:
            self._read_town(player_start_m)
            for drone in self.drones.values():
                self.spawn_m[drone.number] = add(player_start_m, flip_z(drone.setting.position_m))
            self.reset()

    # ---- vehicles ----------------------------------------------------------------------------------------------------

    def add_vehicle(self, vehicle: VehicleSetting) -> None:
        """Add a vehicle at its start pose; under the lock or before the clock runs."""
        state, (mode, goal) = quad.fresh_state(1), simple_flight.idle_goal(1)
        yaw_deg = 0.0 if math.isnan(vehicle.yaw_deg) else vehicle.yaw_deg
        turn = (math.radians(a) for a in (vehicle.roll_deg, vehicle.pitch_deg, yaw_deg))
        state[0, quad.S_QUAT : quad.S_QUAT + 4] = quat_from_euler(*turn)
        state[0, quad.S_COLLIDES] = vehicle.collisions
        spawn = np.array([add(self.player_start_m, flip_z(vehicle.position_m))])
        self.state = np.concatenate([self.state, state])
        self.mode, self.goal = np.concatenate([self.mode, mode]), np.concatenate([self.goal, goal])
        self.gains = np.concatenate([self.gains, simple_flight.default_gains()[None]])
        self.spawn_m = np.concatenate([self.spawn_m, spawn])
        self._box_range = np.zeros((len(self.state), 2), dtype=np.int64)
        self._obstacles_due_ns = 0
        drone = Drone(self, vehicle, len(self.state) - 1)
        drone.start_quat = tuple(state[0, quad.S_QUAT : quad.S_QUAT + 4])
        self.drones[vehicle.name] = drone
        self._settle(drone)
        self._rows.append(drone)

    def drone(self, name: str) -> Drone:
        """Find a vehicle; the empty name means the first one.

        Raises:
            NoSuchVehicle: no vehicle has that name.
        """
        if not name and self.drones:
            return next(iter(self.drones.values()))
        if name not in self.drones:
            known = ", ".join(self.drones) or "none"
            raise NoSuchVehicle(f"vehicle '{name}' does not exist; vehicles: {known}")
        return self.drones[name]

    def reset(self) -> None:
        """Return every vehicle to its start, end its tasks and revoke API control."""
        with self.lock:
            for name in list(self._tasks):
                self._end(name, result=False)
            self.late_poses.forget()
            for drone in self.drones.values():
                drone.reset()
                self._settle(drone)
            self._obstacles_due_ns = 0

    def _settle(self, drone: Drone) -> None:
        """Place a vehicle that starts on or below the ground on it, at rest."""
        x, y, z = drone.spawn_ue_m
        origin_x, origin_y, cell = (float(part) for part in self._grid_frame)
        height = ground_height(self._grid, origin_x, origin_y, cell, x, y) + quad.STANDS_M
        if self.settings.flies and drone.setting.collisions and z - height <= LANDED_M:
            drone.row[2] = z - height
            drone.row[quad.S_GROUNDED] = 1.0

    # ---- tasks -------------------------------------------------------------------------------------------------------

    def start_task(self, name: str, steps: Task, done: Callable[[bool | Exception], None]) -> None:
        """Start a task; the vehicle's previous task ends with False. ``done`` is called once, from any thread."""
        with self.lock:
            self._end(name, result=False)
            self._tasks[name] = Running(steps, self.now_ns, done)
            self._resume_task(name)
            self.changed.notify_all()

    def cancel(self, name: str) -> None:
        """End a vehicle's task with False."""
        with self.lock:
            self._end(name, result=False)

    def _end(self, name: str, *, result: bool | Exception) -> None:
        running = self._tasks.pop(name, None)
        if running is not None:
            running.steps.close()
            running.done(result)

    def _resume_task(self, name: str) -> None:
        """Run a task until its next wait; pass its result or its error to ``done``."""
        running = self._tasks[name]
        try:
            running.due_ns = next(running.steps)
        except StopIteration as stop:
            self._end(name, result=bool(stop.value))
        except Exception as error:  # noqa: BLE001  (goes to who waits for the task's end, which distinguishes bugs from mistakes)
            self._end(name, result=error)

    # ---- time --------------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """True if simulated time passes."""
        return not self.paused or self.budget is not None

    def pause(self, paused: bool) -> None:
        """Stop or start time; this ends a running ``simContinueForTime``."""
        with self.lock:
            self.paused = paused
            self._obstacles_due_ns = 0  # the flight must not depend on the time of the pause
            self._end_budget()
            self._remainder_ns = 0
            self.changed.notify_all()

    def continue_for(self, span_ns: int, done: Callable[[], None]) -> None:
        """Run for ``span_ns`` in whole steps, pause, then call ``done``."""
        with self.lock:
            self._end_budget()
            self.paused = True
            self._obstacles_due_ns = 0
            self.budget = Budget(self._to_run_ns(max(0, span_ns)), done)
            self._end_spent_budget()
            self.changed.notify_all()

    def _to_run_ns(self, span_ns: int) -> int:
        if not self._stepped:
            return span_ns + self._remainder_ns
        self._adds_step = not self._adds_step
        steps = span_ns // STEP_NS + 1 if self._adds_step else -(-span_ns // STEP_NS) - 1
        return max(0, steps) * STEP_NS

    def _end_budget(self) -> None:
        if self.budget is not None:
            finished, self.budget = self.budget, None
            finished.done()

    def run_for(self, span_ns: int) -> None:
        """Advance by the whole steps in ``span_ns``, at most to the end of a budget; under the lock."""
        left_ns = span_ns if self.budget is None else min(span_ns, self.budget.left_ns)
        while left_ns >= STEP_NS:
            self._resume_due_tasks()
            self._update_obstacles()
            steps = self._steps_until_due(left_ns)
            self._integrate(steps)
            self.now_ns += STEP_NS * steps
            left_ns -= STEP_NS * steps
            if self.budget is not None:
                self.budget.left_ns -= STEP_NS * steps
        self._end_spent_budget()

    def _end_spent_budget(self) -> None:
        if self.budget is not None and self.budget.left_ns < STEP_NS:
            self._resume_due_tasks()  # a command that ends with the budget ends now
            self._remainder_ns = self.budget.left_ns
            self._end_budget()

    def _resume_due_tasks(self) -> None:
        for name in [n for n, task in self._tasks.items() if task.due_ns <= self.now_ns]:
            if name in self._tasks:
                self._resume_task(name)

    def _update_obstacles(self) -> None:
        if self.now_ns >= self._obstacles_due_ns:
            self._boxes, self._box_range = self.obstacles.near(self.spawn_m, self.state)
            self._obstacles_due_ns = self.now_ns + OBSTACLE_NS

    def _steps_until_due(self, left_ns: int) -> int:
        """Return the number of steps until the next task or obstacle update is due."""
        due_ns = min((task.due_ns for task in self._tasks.values()), default=self.now_ns + left_ns)
        due_ns = min(due_ns, self._obstacles_due_ns)
        until_due = max(1, -(-(due_ns - self.now_ns) // STEP_NS))
        return min(until_due, left_ns // STEP_NS)

    def _integrate(self, steps: int) -> None:
        if not self.settings.flies or not len(self.state):
            return
        self._advance(steps)
        span_s = STEP_NS * steps * 1e-9
        for row in np.flatnonzero((self.state[:, quad.S_HIT] > 0) & (self.state[:, quad.S_HIT_AGE] < span_s)):
            obstacle = int(self.state[row, quad.S_HIT_OBSTACLE])
            self._rows[row].hit_name = self.obstacles.name(obstacle)
            self._rows[row].hit_ns = self.now_ns + STEP_NS * steps - round(self.state[row, quad.S_HIT_AGE] * 1e9)

    def _advance(self, steps: int) -> None:
        advance(
            self.state,
            self.mode,
            self.goal,
            self.gains,
            self.spawn_m,
            self._boxes,
            self._box_range,
            self._grid,
            self._grid_frame,
            self.wind_mps,
            self.settings.origin_geo[2] + self.spawn_m[:, 2] - self.player_start_m[2],
            self.settings.ideal_controller,
            STEP_NS * 1e-9,
            steps,
        )

    def compile(self) -> None:
        """Compile the flight kernels with zero steps, so that no client waits for it."""
        self._advance(0)
