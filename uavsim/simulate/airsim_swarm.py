"""AirSim through its own client: the only module that imports ``airsim``, and the two ways in which a swarm uses it.

AirSim's calls speak each vehicle's own home frame: NED axes whose origin is where that vehicle spawned. ``AirSimLink`` adds
the spawn offset and the town's measured origin, so that nothing above it knows of either. One client serves one thread.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator, Sequence
from typing import Any

import airsim
import msgpackrpc
import numpy as np

from uavsim.errors import SceneVoid, SimulatorError, SimulatorLost
from uavsim.geometry import frames, unreal
from uavsim.geometry.se3 import SE3
from uavsim.records.modalities import AirSimImage
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.simulate.names import vehicle_name
from uavsim.simulate.ports import Heartbeat
from uavsim.simulate.swarm import PlannedSwarm, on_grid, planned_velocity_mps
from uavsim.typing import AnyArray, FloatArray

__all__ = ["AirSimFlight", "AirSimLink", "AirSimPoses", "pose_close"]

_TIMEOUT_S = 20  # simGetImages is known to hang for ever; the client's own time-out comes before the supervisor's
_RUN_IN_STEPS = 120  # of approach before step 0: the drones start from a standstill, the scene does not
_POSITION_GAIN_PER_S = 2.5  # pulls a drone back to its place; the plan's own velocity is fed forward
_CATCH_UP_MPS = 4.0  # at most, on top of the plan's velocity
_LIFT_STEPS, _LIFT_STEP_S = 24, 0.25  # AirSim rises two metres at half a metre a second
_CLOCK_SLACK = 0.5  # of a step: AirSim's real clock is not exact


class AirSimLink:
    """One connection, to be used by one thread. Its world ``ned`` is metres north-east-down from PlayerStart."""

    def __init__(self, host: str, port: int, *, origin_ue_m: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Connect.

        Raises:
            SimulatorError: nobody answers there.
        """
        self._where = f"{host}:{port}"
        try:
            socket.create_connection((host, port), timeout=5).close()
        except OSError as error:
            raise SimulatorError(f"no AirSim at {self._where} ({error.strerror or error}); is it started?") from error
        self.client: Any = airsim.MultirotorClient(ip=host, port=port, timeout_value=_TIMEOUT_S)
        self._map_SE3_ned = frames.map_SE3_ned(airsim_origin_ue_m=np.asarray(origin_ue_m, dtype=np.float64))
        self._ned_SE3_map = self._map_SE3_ned.inverse()
        with self.translated("connecting"):
            if not self.client.ping():
                raise SimulatorError(f"AirSim at {self._where} does not answer a ping")
            self.vehicles: list[str] = [str(name) for name in self.client.listVehicles()]
            settings = json.loads(self.client.getSettingsString() or "{}")
        self._homes = {
            name: np.array([float(spec.get(axis) or 0.0) for axis in ("X", "Y", "Z")])
            for name, spec in (settings.get("Vehicles") or {}).items()
        }

    @contextlib.contextmanager
    def translated(self, doing: str) -> Iterator[None]:
        """Turn the RPC library's errors into ours."""
        try:
            yield
        except (msgpackrpc.error.TimeoutError, msgpackrpc.error.TransportError, OSError) as error:
            raise SimulatorLost(f"AirSim at {self._where} stopped answering while {doing}: {error}") from error
        except msgpackrpc.error.RPCError as error:
            text = " ".join(str(error).split())
            raise SimulatorError(f"AirSim at {self._where} refused {doing}: {text}") from error

    def require(self, drone_ids: Sequence[int]) -> None:
        """Check that every drone is there.

        Raises:
            SimulatorError: a vehicle is missing in AirSim's settings.
        """
        missing = [vehicle_name(d) for d in drone_ids if vehicle_name(d) not in self.vehicles]
        if missing:
            raise SimulatorError(
                f"AirSim at {self._where} has no vehicle {missing[0]!r} (it has {', '.join(self.vehicles) or 'none'}); "
                "write its settings.json with `uavsim airsim-settings` and restart it"
            )

    def home_ned_m(self, name: str) -> FloatArray:
        """Where a vehicle spawned, (3,) NED metres from PlayerStart."""
        return self._homes.get(name, np.zeros(3))

    def to_map(self, ned_SE3_frd: SE3) -> SE3:
        """Return ``map_SE3_flu``; the attitude by its sign flips, which round nothing."""
        turn = frames.quat_map_from_ned(ned_SE3_frd.quat_wxyz)
        return SE3(turn, self._map_SE3_ned.apply(ned_SE3_frd.translation_m))

    def object_names(self) -> list[str]:
        """List the scene's objects."""
        with self.translated("listing objects"):
            return [str(name) for name in self.client.simListSceneObjects(".*")]

    def object_map_m(self, name: str) -> FloatArray:
        """Where a scene object is, (3,) map; NaN where AirSim does not know it. They are of the world."""
        with self.translated(f"looking for {name}"):
            return self._map_SE3_ned.apply(_xyz(self.client.simGetObjectPose(name).position))

    def from_map(self, map_SE3_flu: SE3) -> SE3:
        """Return ``ned_SE3_frd``, the inverse of ``to_map``."""
        turn = frames.quat_ned_from_map(map_SE3_flu.quat_wxyz)
        return SE3(turn, self._ned_SE3_map.apply(map_SE3_flu.translation_m))

    def world_pose(self, position: Any, orientation: Any, *, home: str) -> SE3:
        """Read a pose of the wire, which is in ``home``'s frame, as ``ned_SE3_frd``.

        Raises:
            SimulatorLost: it is not a number.
        """
        place_m, turn = _xyz(position) + self.home_ned_m(home), _wxyz(orientation)
        if not (np.isfinite(place_m).all() and np.isfinite(turn).all()):
            raise SimulatorLost(f"AirSim's pose of {home} is not a number; restart it")
        return SE3(turn, place_m)

    def put(self, name: str, ned_SE3_frd: SE3) -> None:
        """Place a vehicle."""
        t_m, q = ned_SE3_frd.translation_m - self.home_ned_m(name), ned_SE3_frd.quat_wxyz
        wire = airsim.Pose(
            airsim.Vector3r(*(float(v) for v in t_m)),
            airsim.Quaternionr(float(q[1]), float(q[2]), float(q[3]), float(q[0])),
        )
        with self.translated(f"placing {name}"):
            self.client.simSetVehiclePose(wire, True, name)

    def kinematics(self, name: str) -> tuple[SE3, FloatArray, int]:
        """Return a vehicle's true ``ned_SE3_frd``, its velocity (3,) NED m/s, and AirSim's time stamp in ns."""
        with self.translated(f"reading {name}"):
            state = self.client.getMultirotorState(name)
            truth = self.client.simGetGroundTruthKinematics(name)
        ned_SE3_frd = self.world_pose(truth.position, truth.orientation, home=name)
        return ned_SE3_frd, _xyz(truth.linear_velocity), int(state.timestamp)

    def image_requests(self, wanted: Sequence[tuple[str, AirSimImage]]) -> list[Any]:
        """Make requests from (camera, image) pairs."""
        return [airsim.ImageRequest(camera, image.image_type, image.as_float, False) for camera, image in wanted]

    def images(self, name: str, requests: Sequence[Any]) -> list[Any]:
        """Take all images of one vehicle in one call: AirSim promises one moment for one call only."""
        with self.translated(f"taking {name}'s images"):
            return list(self.client.simGetImages(list(requests), name))

    def lidar(self, name: str, sensor: str) -> Any:
        """Take a lidar's last turn."""
        with self.translated(f"reading {name}'s lidar"):
            return self.client.getLidarData(sensor, name)


class AirSimPoses:
    """A swarm that AirSim only shows (topology ``merged``): paused, placed exactly as planned, read back."""

    def __init__(self, host: str, port: int) -> None:
        """Remember where AirSim is; the connection is made with the first scene, whose town tells the origin."""
        self.endpoint = (host, port)
        self.link: AirSimLink | None = None
        self._plan_follower = PlannedSwarm()

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """See ``SwarmPort``."""
        heartbeat("swarm", 0)
        self._plan_follower.begin(plan, heartbeat=heartbeat)
        self.link = link = AirSimLink(*self.endpoint, origin_ue_m=plan.town.airsim_origin_ue_m)
        link.require(plan.swarm.drone_ids)
        with link.translated("pausing"):
            link.client.simPause(True)
        self.advance(0)

    def advance(self, step: int) -> tuple[DroneState, ...]:
        """See ``SwarmPort``; every drone's pose is read back and must be the one that was set."""
        assert self.link is not None
        drones = self._plan_follower.advance(step)
        for drone in drones:
            wanted = self.link.from_map(drone.map_SE3_flu)
            name = vehicle_name(drone.drone_id)
            self.link.put(name, wanted)
            with self.link.translated(f"reading {name}"):
                reply = self.link.client.simGetVehiclePose(name)
            got = self.link.world_pose(reply.position, reply.orientation, home=name)
            if not pose_close(got, wanted):
                off_m = float(np.linalg.norm(got.translation_m - wanted.translation_m))
                raise SceneVoid(f"AirSim shows {name} {off_m:.3f} m from where it was put at step {step}")
        return drones

    def close(self) -> None:
        """See ``SwarmPort``."""
        if self.link is not None:
            with self.link.translated("giving the clock back"):
                self.link.client.simPause(False)


class AirSimFlight:
    """A swarm that AirSim flies (topology ``bridge``): real attitude and lag, stepped with CARLA's tick."""

    def __init__(self, host: str, port: int) -> None:
        """Remember where AirSim is."""
        self._endpoint = (host, port)
        self._link: AirSimLink | None = None

    def begin(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Go to the start of the route, take off there in the air, and settle, all in AirSim's own time.

        The way from the spawn point to the start of the route is a jump: it is not part of the scene, and a straight
        flight could hit the town.
        """
        self._plan = plan
        self._step_s = plan.step_us / 1e6
        self._link = link = AirSimLink(*self._endpoint, origin_ue_m=plan.town.airsim_origin_ue_m)
        link.require(plan.swarm.drone_ids)
        self._names = [vehicle_name(d) for d in plan.swarm.drone_ids]
        with link.translated("taking off"):
            link.client.simPause(True)
            link.client.reset()
            link.client.simPause(True)  # nothing may fall between the reset and the take-off
            wind_ned = frames.NED_SE3_MAP.rotate(np.array(plan.wind_map_mps))
            link.client.simSetWind(airsim.Vector3r(*(float(v) for v in wind_ned)))
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
                flying = airsim.LandedState.Flying
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
                    drivetrain=airsim.DrivetrainType.MaxDegreeOfFreedom,
                    yaw_mode=airsim.YawMode(is_rate=False, yaw_or_rate=float(yaw_deg[row])),
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


def pose_close(got: SE3, wanted: SE3, *, tolerance_m: float = 5e-3, tolerance_rad: float = 2e-3) -> bool:
    """Tell whether two poses (``ned_SE3_frd``) agree to what float32 on the wire can carry."""
    off_q = 1.0 - abs(float(np.dot(got.quat_wxyz, wanted.quat_wxyz)))
    near = float(np.linalg.norm(got.translation_m - wanted.translation_m)) <= tolerance_m
    return near and off_q <= tolerance_rad**2 / 8


def _limited(velocity_mps: FloatArray, planned_mps: FloatArray) -> FloatArray:
    extra = velocity_mps - planned_mps
    size = float(np.linalg.norm(extra))
    return velocity_mps if size <= _CATCH_UP_MPS else planned_mps + extra * (_CATCH_UP_MPS / size)


def _xyz(vector: Any) -> FloatArray:
    return np.array([vector.x_val, vector.y_val, vector.z_val], dtype=np.float64)


def _wxyz(quaternion: Any) -> AnyArray:
    q = np.array([quaternion.w_val, quaternion.x_val, quaternion.y_val, quaternion.z_val], dtype=np.float64)
    return q / np.linalg.norm(q)
