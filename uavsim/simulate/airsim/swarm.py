"""The two ways in which a swarm uses AirSim: it only shows the drones, or it flies them."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from uavsim.errors import SceneVoid
from uavsim.geometry import frames, unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.simulate.airsim.link import AirSimLink, pose_close
from uavsim.simulate.merged_engine import MergedEngine
from uavsim.simulate.names import vehicle_name
from uavsim.simulate.ports import Heartbeat
from uavsim.simulate.swarm import PlannedSwarm, on_grid, planned_velocity_mps, recorded_flight
from uavsim.typing import FloatArray

__all__ = ["MAIN", "AirSimFlight", "AirSimPoses"]

MAIN = "airsim"  # name of the thread in which the swarm's own client lives
_RUN_IN_STEPS = 120  # of approach before step 0: the drones start from a standstill, the scene does not
_POSITION_GAIN_PER_S = 2.5  # pulls a drone back to its place; the plan's own velocity is fed forward
_CATCH_UP_MPS = 4.0  # at most, on top of the plan's velocity
_LIFT_STEPS, _LIFT_STEP_S = 24, 0.25  # AirSim rises two metres at half a metre a second
_CLOCK_SLACK = 0.5  # of a step: AirSim's real clock is not exact


T = TypeVar("T")


class AirSimPoses:
    """A swarm that AirSim only shows (topology ``merged``): paused, placed exactly as planned, read back.

    Where AirSim's calls wait for a tick, only captured steps reach AirSim: the cameras place the drones then.
    """

    def __init__(self, host: str, port: int, *, engine: MergedEngine) -> None:
        """Remember where AirSim is; the connection is made with the first scene, whose town reports the origin."""
        self.endpoint, self.engine = (host, port), engine
        self.link: AirSimLink | None = None
        self._plan_follower = PlannedSwarm()
        self.drones: tuple[DroneState, ...] = ()

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """See ``SwarmPort``."""
        heartbeat("swarm", 0)
        self.engine.begin(heartbeat)
        self._plan_follower.begin(plan, heartbeat=heartbeat)
        if self.link is not None:
            self._on_main(self.link.close, doing="closing", ticks=False)
        self.link = link = self._on_main(lambda: self._connect(plan), doing="connecting", ticks=False)
        self.pause(True)
        self._on_main(link.learn, doing="listing vehicles")
        link.require(plan.swarm.drone_ids)
        self.advance(0)
        if self.engine.way == "ticks":
            self.pause(False)

    def _connect(self, plan: ScenePlan) -> AirSimLink:
        return AirSimLink(*self.endpoint, origin_ue_m=plan.town.airsim_origin_ue_m, learn=False)

    def _on_main(self, job: Callable[[], T], *, doing: str, ticks: bool = True) -> T:
        return self.engine.ask({MAIN: job}, doing=doing, ticks=ticks)[MAIN]

    def pause(self, paused: bool) -> None:
        """Hold AirSim's vehicles, and in a merged build the game, or let them go on."""

        def call() -> None:
            assert self.link is not None
            with self.link.translated("pausing"):
                self.link.client.simPause(paused)

        self._on_main(call, doing="pausing", ticks=False)

    def clock_ns(self) -> int:
        """Return AirSim's time."""

        def call() -> int:
            assert self.link is not None
            with self.link.translated("reading the clock"):
                return int(self.link.client.getMultirotorState(self.link.vehicles[0]).timestamp)

        return self._on_main(call, doing="reading the clock", ticks=False)

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """See ``SwarmPort``; every drone's pose is read back and must be the one that was set."""
        self.drones = self._plan_follower.advance(step)
        if self.engine.way == "free":
            self._on_main(self._show_all, doing="placing the drones")
        return self.drones

    def _show_all(self) -> None:
        assert self.link is not None
        for drone in self.drones:
            self.show(drone, self.link)

    @staticmethod
    def show(drone: DroneState, link: AirSimLink) -> None:
        """Place a drone, through a client of the calling thread.

        Raises:
            SceneVoid: AirSim shows it elsewhere.
        """
        wanted, name = link.from_map(drone.map_SE3_flu), vehicle_name(drone.drone_id)
        link.put(name, wanted)
        with link.translated(f"reading {name}"):
            reply = link.client.simGetVehiclePose(name)
        got = link.world_pose(reply.position, reply.orientation, home=name)
        if not pose_close(got, wanted):
            off_m = float(np.linalg.norm(got.translation_m - wanted.translation_m))
            raise SceneVoid(f"AirSim shows {name} {off_m:.3f} m from where it was put")

    def close(self) -> None:
        """See ``SwarmPort``."""
        if self.link is not None:
            self.pause(False)
        self.engine.close()


class AirSimFlight:
    """A swarm that AirSim flies (topology ``bridge``): real attitude and lag, stepped with CARLA's tick.

    A flight that was recorded is shown as it was and not flown again: AirSim has no part in it.
    """

    def __init__(self, host: str, port: int, *, client: str = "airsim") -> None:
        """Remember where AirSim is, and which vendor's module speaks to it."""
        self._endpoint, self._client = (host, port), client
        self._link: AirSimLink | None = None

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Go to the start of the route, take off there in the air, and settle, all in AirSim's own time.

        The way from the spawn point to the start of the route is a jump: it is not part of the scene, and a straight
        flight could hit the town.
        """
        self._plan = plan
        self._step_s = plan.step_us / 1e6
        self._shown = PlannedSwarm() if recorded_flight(plan) is not None else None
        if self._shown is not None:
            self._shown.begin(plan, heartbeat=heartbeat)
            return
        if self._link is not None:
            self._link.close()
        self._link = link = AirSimLink(*self._endpoint, origin_ue_m=plan.town.airsim_origin_ue_m, client=self._client)
        link.require(plan.swarm.drone_ids)
        self._names = [vehicle_name(d) for d in plan.swarm.drone_ids]
        with link.translated("taking off"):
            link.client.simPause(True)
            link.client.reset()
            link.client.simPause(True)  # nothing may fall between the reset and the take-off
            wind_ned = frames.NED_SE3_MAP.rotate(np.array(plan.wind_map_mps))
            link.client.simSetWind(link.vendor.Vector3r(*(float(v) for v in wind_ned)))
        self._put_at_start()  # clear of the town; a spawn point may lie inside a building of another map
        with link.translated("arming"):
            for name in self._names:
                link.client.enableApiControl(True, name)
                link.client.armDisarm(True, name)
        self._take_off(heartbeat)
        self._put_at_start()
        self._clock_ns = link.kinematics(self._names[0])[2]
        self._run_in(heartbeat)
        self.worst_lag_m = 0.0

    def _put_at_start(self) -> None:
        assert self._link is not None
        wanted, _ = self._target(-_RUN_IN_STEPS)
        for map_SE3_flu, name in zip(wanted, self._names, strict=True):
            self._link.put(name, self._link.from_map(map_SE3_flu))

    def _take_off(self, heartbeat: Heartbeat) -> None:
        assert self._link is not None
        link = self._link
        with link.translated("taking off"):
            lifts = [link.client.takeoffAsync(vehicle_name=name) for name in self._names]
            waiting = set(self._names)
            for n in range(_LIFT_STEPS):
                link.client.simContinueForTime(_LIFT_STEP_S)
                heartbeat("swarm", n)
                flying = link.vendor.LandedState.Flying
                waiting -= {name for name in waiting if link.client.getMultirotorState(name).landed_state == flying}
            refused = [str(lift.error) for lift in lifts if getattr(lift, "error", None)]
        if waiting:
            why = f": {refused[0]}" if refused else f" within {_LIFT_STEPS * _LIFT_STEP_S:g} s"
            raise SceneVoid(f"{sorted(waiting)[0]} did not take off{why}")

    def _run_in(self, heartbeat: Heartbeat) -> None:
        """Fly the last seconds of a straight approach, so that the scene begins at the route's own speed."""
        for step in range(-_RUN_IN_STEPS, 0):
            self._fly_one_step(step)
            heartbeat("swarm", step + _RUN_IN_STEPS)

    def _target(self, step: int) -> tuple[SE3, FloatArray]:
        """Return where the plan wants the drones: (D,) ``map_SE3_flu`` and (D, 3) m/s; before step 0 straight on."""
        shown = max(step, 0)
        planned = self._plan.swarm.map_SE3_flu[shown]
        velocity = planned_velocity_mps(self._plan, shown)
        place_m = planned.translation_m + velocity * min(step, 0) * self._step_s
        return SE3(planned.quat_wxyz, place_m), velocity

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """See ``SwarmPort``.

        Raises:
            SceneVoid: a drone is farther from its place than the plan allows.
        """
        if self._shown is not None:
            return self._shown.advance(step)
        drones = self._fly_one_step(step)
        for drone in drones:
            gap_m = drone.map_SE3_flu.translation_m - drone.planned_map_SE3_flu.translation_m
            lag_m = float(np.linalg.norm(gap_m))
            self.worst_lag_m = max(self.worst_lag_m, lag_m)
            if lag_m > self._plan.max_formation_error_m:
                raise SceneVoid(
                    f"drone {drone.drone_id} is {lag_m:.1f} m from its place at step {step}; "
                    f"at most {self._plan.max_formation_error_m:g} m are allowed"
                )
        return drones

    def _fly_one_step(self, step: int) -> tuple[DroneState, ...]:
        """Command velocities towards the plan's places at ``step``, let AirSim run one step, and read back."""
        assert self._link is not None
        link = self._link
        wanted, wanted_mps = self._target(step)
        yaw_deg = on_grid(unreal.ue_euler_from_map_q_flu(wanted.quat_wxyz))[:, 2]
        for row, name in enumerate(self._names):
            ned_SE3_frd, _, _ = link.kinematics(name)
            gap_m = wanted[row].translation_m - link.to_map(ned_SE3_frd).translation_m
            command = frames.NED_SE3_MAP.rotate(
                _limited(wanted_mps[row] + _POSITION_GAIN_PER_S * gap_m, wanted_mps[row])
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
            link.client.simContinueForTime(self._step_s)
        return self._read(step)

    def _read(self, step: int) -> tuple[DroneState, ...]:
        assert self._link is not None
        drones = []
        wanted, _ = self._target(step)
        for row, (drone_id, name) in enumerate(zip(self._plan.swarm.drone_ids, self._names, strict=True)):
            ned_SE3_frd, velocity_ned, stamp_ns = self._link.kinematics(name)
            if row == 0:
                self._check_clock(stamp_ns)
            drones.append(
                DroneState(
                    drone_id=drone_id,
                    map_SE3_flu=self._link.to_map(ned_SE3_frd),
                    velocity_map_mps=frames.MAP_SE3_NED.rotate(velocity_ned),
                    planned_map_SE3_flu=wanted[row],
                )
            )
        return tuple(drones)

    def _check_clock(self, stamp_ns: int) -> None:
        went_s = (stamp_ns - self._clock_ns) / 1e9
        self._clock_ns = stamp_ns
        if abs(went_s - self._step_s) > _CLOCK_SLACK * self._step_s:
            raise SceneVoid(f"AirSim advanced {went_s:.4f} s in a step of {self._step_s:.4f} s; set ClockSpeed to 1")

    def close(self) -> None:
        """See ``SwarmPort``."""
        if self._link is not None:
            with self._link.translated("giving the clock back"):
                self._link.client.simPause(False)


def _limited(velocity_mps: FloatArray, planned_mps: FloatArray) -> FloatArray:
    extra = velocity_mps - planned_mps
    size = float(np.linalg.norm(extra))
    return velocity_mps if size <= _CATCH_UP_MPS else planned_mps + extra * (_CATCH_UP_MPS / size)
