"""AirSim as a swarm backend: it only renders the drones (``AirSimPoses``), or flies them (``AirSimFlight``)."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from uavsim.errors import InputError, SceneVoid, SimulatorLost
from uavsim.geometry import frames, unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.simulate.airsim.limits import CALL_S, image_sizes_px, images_limit_s
from uavsim.simulate.airsim.link import AirSimLink, await_pose, xyz
from uavsim.simulate.merged_engine import MergedEngine
from uavsim.simulate.names import vehicle_name
from uavsim.simulate.ports import Heartbeat
from uavsim.simulate.swarm import PlannedSwarm, on_grid, planned_velocity_mps, recorded_flight
from uavsim.typing import FloatArray

MAIN = "airsim"  # thread of the swarm's own client
_APPROACH_STEPS = 120  # of approach before step 0: drones start from a standstill, scenes do not
_POSITION_GAIN_PER_S = 2.5  # of the position error; the planned velocity is fed forward
_CATCH_UP_MPS = 4.0  # maximum correction of the planned velocity
_REST_STEPS, _REST_STEP_S = 40, 0.25  # a drone that flew at 15 m/s needs 5 s to stop
_REST_MPS = 0.1
_CLOCK_SLACK = 0.5  # of a step: maximum deviation of AirSim's clock from the plan
_FIRST_ANSWER_S = 10.0
_PHYSICS_STEP_NS = 3_000_000  # AirSim's time resolution: smaller deviations cannot be corrected


T = TypeVar("T")


class AirSimPoses:
    """A swarm that AirSim only renders (topology ``merged``): paused, set to the planned poses, read back.

    Where AirSim's calls wait for a tick, only captured steps reach AirSim: the sensors set the drones' poses then.
    """

    def __init__(self, host: str, port: int, *, engine: MergedEngine) -> None:
        """Store AirSim's address; the first scene opens the connection, because its town has the origin."""
        self.endpoint, self.engine = (host, port), engine
        self.link: AirSimLink | None = None
        self._plan_follower = PlannedSwarm()
        self.drones: tuple[DroneState, ...] = ()

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """See ``SwarmPort``."""
        heartbeat("swarm", 0)
        self._read_back_s = plan.pose_read_back_s
        self.engine.begin(heartbeat)
        self._plan_follower.begin(plan, heartbeat=heartbeat)
        if self.link is not None:
            self._on_main(self.link.close, doing="closing", ticks=False)
        self.link = link = self._on_main(lambda: self._connect(plan), doing="connecting", ticks=False)
        self.pause(True)
        try:
            self._on_main(link.learn, doing="listing vehicles")
            link.require(plan.swarm.drone_ids)
            self.advance(0)
        except SimulatorLost:  # it would not answer
            raise
        except BaseException:
            self.pause(False)
            raise
        if self.engine.way == "ticks":
            self.pause(False)

    def _connect(self, plan: ScenePlan) -> AirSimLink:
        return AirSimLink(
            *self.endpoint,
            origin_ue_m=plan.town.airsim_origin_ue_m,
            learn=False,
            limit_s=images_limit_s(image_sizes_px(plan), base_s=self.engine.deadlines.airsim_s),
        )

    def _on_main(self, job: Callable[[], T], *, doing: str, ticks: bool = True) -> T:
        return self.engine.ask({MAIN: job}, doing=doing, ticks=ticks)[MAIN]

    def pause(self, paused: bool) -> None:
        """Pause or continue AirSim's vehicles, and in a merged build the game."""

        def call() -> None:
            assert self.link is not None
            with self.link.translated("pausing"):
                self.link.client.simPause(paused)

        self._on_main(call, doing="pausing", ticks=False)

    def clock_ns(self) -> int:
        """Return AirSim's time, ns."""

        def call() -> int:
            assert self.link is not None
            with self.link.translated("reading the clock"):
                return int(self.link.client.getMultirotorState(self.link.vehicles[0]).timestamp)

        return self._on_main(call, doing="reading the clock", ticks=False)

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """See ``SwarmPort``; every drone's pose is read back and compared with the one that was set."""
        self.drones = self._plan_follower.advance(step)
        if self.engine.way == "free":
            self._on_main(self._show_all, doing="placing the drones")
        return self.drones

    def _show_all(self) -> None:
        assert self.link is not None
        for drone in self.drones:
            self.show(drone, self.link)

    def show(self, drone: DroneState, link: AirSimLink) -> None:
        """Set a drone's pose through a client of the calling thread, while another thread passes the required ticks.

        Raises:
            SceneVoid: AirSim still renders the drone elsewhere.
        """
        target, name = link.from_map(drone.map_SE3_flu), vehicle_name(drone.drone_id)
        link.put(name, target)
        await_pose(link.rendered_pose, name, target, within_s=self._read_back_s)

    def close(self) -> None:
        """See ``SwarmPort``."""
        if self.link is not None:
            self.pause(False)
        self.engine.close()


class AirSimFlight:
    """A swarm that AirSim flies (topology ``bridge``), with real attitude and lag, stepped with CARLA's tick.

    A replay shows the recorded flight and does not use AirSim.
    """

    def __init__(self, host: str, port: int, *, client: str = "airsim", call_s: float = CALL_S) -> None:
        """Store AirSim's address, the vendor's client module, and the time limit of a call."""
        self._endpoint, self._client, self._call_s = (host, port), client, call_s
        self._link: AirSimLink | None = None

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Move to the start of the route, come to rest in the air, and fly an approach, all in AirSim's own time.

        The move from the spawn point, or from the end of the previous scene, is a jump: it is not part of the scene, and a
        straight flight could hit the town.
        """
        self._plan = plan
        self._step_s = plan.step_us / 1e6
        self._replay = PlannedSwarm() if recorded_flight(plan) is not None else None
        if self._replay is not None:
            self._replay.begin(plan, heartbeat=heartbeat)
            return
        if self._link is None:
            self._refuse_merged_build()
        else:
            self._link.close()
        self._link = link = AirSimLink(
            *self._endpoint, origin_ue_m=plan.town.airsim_origin_ue_m, client=self._client, limit_s=self._call_s
        )
        link.require(plan.swarm.drone_ids)
        self._names = [vehicle_name(d) for d in plan.swarm.drone_ids]
        if self._soft_reset(heartbeat):
            self._reset()
            restless = self._soft_reset(heartbeat)
            if restless:
                raise SceneVoid(
                    f"{restless[0]} did not come to rest in the air within {_REST_STEPS * _REST_STEP_S:g} s, "
                    "not even after AirSim's reset()"
                )
        self._set_wind(plan.wind_map_mps)
        self._put_at_start()
        self._clock_ns, self._ahead_ns = link.kinematics(self._names[0])[2], 0
        self._fly_approach(heartbeat)
        self.worst_lag_m = 0.0

    def _refuse_merged_build(self) -> None:
        """Refuse a merged build, because its answers wait for CARLA's next tick.

        Raises:
            InputError: AirSim answers a ping, which needs no tick, but not a query of vehicles.
        """
        link = AirSimLink(*self._endpoint, client=self._client, learn=False, limit_s=min(self._call_s, _FIRST_ANSWER_S))
        try:
            link.learn()
        except SimulatorLost as error:
            raise InputError(
                f"AirSim at {':'.join(map(str, self._endpoint))} answers a ping but does not list its vehicles: in one "
                "process with CARLA it waits for CARLA's ticks; use --topology merged, or run AirSim in a separate process "
                "(mock-sim: --separate-worlds)"
            ) from error
        finally:
            link.close()

    def _soft_reset(self, heartbeat: Heartbeat) -> list[str]:
        """Bring the drones to rest near the start, from the ground or from flight; returns those that do not come to rest.

        A jump keeps a drone's velocity, and a disarmed drone falls, so they are armed and brake after it. The jump replaces a
        take-off.
        """
        assert self._link is not None
        link = self._link
        with link.translated("ending the flight before"):
            link.client.simPause(True)
            for name in self._names:
                link.client.cancelLastTask(name)
                link.client.enableApiControl(True, name)
                link.client.armDisarm(False, name)
        self._set_wind((0.0, 0.0, 0.0))  # drones drift in wind
        self._put_at_start()
        with link.translated("arming"):
            for name in self._names:
                link.client.armDisarm(True, name)
                link.client.moveByVelocityAsync(
                    0.0, 0.0, 0.0, duration=2 * _REST_STEPS * _REST_STEP_S, vehicle_name=name
                )
        return self._wait_for_rest(heartbeat)

    def _wait_for_rest(self, heartbeat: Heartbeat) -> list[str]:
        """Advance time until all drones hover; returns those that do not."""
        assert self._link is not None
        link = self._link
        restless = self._names
        with link.translated("coming to rest"):
            for n in range(_REST_STEPS):
                link.client.simContinueForTime(_REST_STEP_S)
                heartbeat("swarm", n)
                restless = [name for name in restless if not _hovers(link, name)]
                if not restless:
                    break
        return restless

    def _reset(self) -> None:
        """Reset AirSim, as the last resort: it hangs a merged build after two to six times, which the link's limit ends.

        Source: carla-air-testbed, measurements of 2026-07-31 to 2026-08-05.
        """
        assert self._link is not None
        with self._link.translated("resetting"):
            self._link.client.reset()

    def _set_wind(self, wind_map_mps: tuple[float, float, float]) -> None:
        assert self._link is not None
        wind_ned = frames.NED_SE3_MAP.rotate(np.array(wind_map_mps))
        with self._link.translated("setting the wind"):
            self._link.client.simSetWind(self._link.vendor.Vector3r(*(float(v) for v in wind_ned)))

    def _put_at_start(self) -> None:
        """Set the poses of all drones, and wait until they are reached."""
        assert self._link is not None
        link = self._link
        target, _ = self._target(-_APPROACH_STEPS)
        start = {name: link.from_map(pose) for name, pose in zip(self._names, target, strict=True)}
        for name, ned_SE3_frd in start.items():
            link.put(name, ned_SE3_frd)
        for name, ned_SE3_frd in start.items():
            await_pose(link.physics_pose, name, ned_SE3_frd, within_s=self._plan.pose_read_back_s)

    def _fly_approach(self, heartbeat: Heartbeat) -> None:
        """Fly a straight approach, so that the scene starts at the route's speed."""
        for step in range(-_APPROACH_STEPS, 0):
            self._fly_one_step(step)
            heartbeat("swarm", step + _APPROACH_STEPS)

    def _target(self, step: int) -> tuple[SE3, FloatArray]:
        """Return the planned (D,) ``map_SE3_flu`` and (D, 3) velocities, m/s; before step 0 straight backwards."""
        planned_step = max(step, 0)
        planned = self._plan.swarm.map_SE3_flu[planned_step]
        velocity = planned_velocity_mps(self._plan, planned_step)
        position_m = planned.translation_m + velocity * min(step, 0) * self._step_s
        return SE3(planned.quat_wxyz, position_m), velocity

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """See ``SwarmPort``.

        Raises:
            SceneVoid: a drone is farther from its planned position than the plan allows.
        """
        if self._replay is not None:
            return self._replay.advance(step)
        drones = self._fly_one_step(step)
        for drone in drones:
            gap_m = drone.map_SE3_flu.translation_m - drone.planned_map_SE3_flu.translation_m
            lag_m = float(np.linalg.norm(gap_m))
            self.worst_lag_m = max(self.worst_lag_m, lag_m)
            if lag_m > self._plan.max_formation_error_m:
                raise SceneVoid(
                    f"drone {drone.drone_id} is {lag_m:.1f} m from its planned position at step {step}; "
                    f"at most {self._plan.max_formation_error_m:g} m are allowed"
                )
        return drones

    def _fly_one_step(self, step: int) -> tuple[DroneState, ...]:
        """Command velocities towards the planned positions of ``step``, let AirSim run a step, and read back."""
        assert self._link is not None
        link = self._link
        target, target_mps = self._target(step)
        yaw_deg = on_grid(unreal.ue_euler_from_map_q_flu(target.quat_wxyz))[:, 2]
        for row, name in enumerate(self._names):
            ned_SE3_frd, _, _ = link.kinematics(name)
            gap_m = target[row].translation_m - link.to_map(ned_SE3_frd).translation_m
            command = frames.NED_SE3_MAP.rotate(
                _limited(target_mps[row] + _POSITION_GAIN_PER_S * gap_m, target_mps[row])
            )
            with link.translated(f"steering {name}"):
                link.client.moveByVelocityAsync(
                    *(float(v) for v in command),
                    duration=10 * self._step_s,
                    drivetrain=link.vendor.DrivetrainType.MaxDegreeOfFreedom,
                    yaw_mode=link.vendor.YawMode(is_rate=False, yaw_or_rate=float(yaw_deg[row])),
                    vehicle_name=name,
                )
        with link.translated("stepping"):
            link.client.simContinueForTime(self._run_duration_s())
        return self._read(step)

    def _run_duration_s(self) -> float:
        """Return the duration to run, seconds: a step, corrected by AirSim's deviation in earlier steps."""
        owed_ns = self._ahead_ns if abs(self._ahead_ns) >= _PHYSICS_STEP_NS else 0
        return max(0.0, self._step_s - owed_ns / 1e9)

    def _read(self, step: int) -> tuple[DroneState, ...]:
        assert self._link is not None
        drones = []
        target, _ = self._target(step)
        for row, (drone_id, name) in enumerate(zip(self._plan.swarm.drone_ids, self._names, strict=True)):
            ned_SE3_frd, velocity_ned, stamp_ns = self._link.kinematics(name)
            if row == 0:
                self._check_clock(stamp_ns)
            drones.append(
                DroneState(
                    drone_id=drone_id,
                    map_SE3_flu=self._link.to_map(ned_SE3_frd),
                    velocity_map_mps=frames.MAP_SE3_NED.rotate(velocity_ned),
                    planned_map_SE3_flu=target[row],
                )
            )
        return tuple(drones)

    def _check_clock(self, stamp_ns: int) -> None:
        """Measure AirSim's deviation from the planned time; the next step corrects it."""
        self._clock_ns += self._plan.step_us * 1000
        self._ahead_ns = stamp_ns - self._clock_ns
        ahead_s = self._ahead_ns / 1e9
        if abs(ahead_s) > _CLOCK_SLACK * self._step_s:
            raise SceneVoid(
                f"AirSim's clock is {ahead_s:+.4f} s off after a step of {self._step_s:.4f} s; set ClockSpeed to 1"
            )

    def close(self) -> None:
        """See ``SwarmPort``."""
        if self._link is not None:
            with self._link.translated("releasing the clock"):
                self._link.client.simPause(False)


def _hovers(link: AirSimLink, name: str) -> bool:
    state = link.client.getMultirotorState(name)
    speed_mps = float(np.linalg.norm(xyz(state.kinematics_estimated.linear_velocity)))
    return bool(state.landed_state == link.vendor.LandedState.Flying) and speed_mps < _REST_MPS


def _limited(velocity_mps: FloatArray, planned_mps: FloatArray) -> FloatArray:
    extra = velocity_mps - planned_mps
    size = float(np.linalg.norm(extra))
    return velocity_mps if size <= _CATCH_UP_MPS else planned_mps + extra * (_CATCH_UP_MPS / size)
