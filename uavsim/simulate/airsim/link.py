"""A connection to AirSim through its own client: the only module that imports ``airsim`` or a fork's client.

AirSim's calls use each vehicle's own home frame: NED axes with the origin at the vehicle's spawn. ``AirSimLink`` adds the
spawn offset and the town's measured origin. A client serves one thread. AirSim's and Cosys-AirSim's clients have the same
classes in modules of different names; an environment has only one of them.
"""

import asyncio
import contextlib
import importlib
import json
import math
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import msgpackrpc
import numpy as np

from uavsim.errors import SceneVoid, SimulatorError, SimulatorLost
from uavsim.geometry import frames
from uavsim.geometry.se3 import SE3
from uavsim.simulate.airsim.limits import CALL_S
from uavsim.simulate.airsim.readers import AirSimReader
from uavsim.simulate.names import vehicle_name
from uavsim.typing import AnyArray, FloatArray

_POLL_S: Final = 0.02  # interval of pose queries: a frame of the game


class AirSimLink:
    """A connection for one thread. Its world frame ``ned`` is metres north-east-down from PlayerStart."""

    def __init__(
        self,
        host: str,
        port: int,
        *,
        origin_ue_m: Sequence[float] = (0.0, 0.0, 0.0),
        client: str = "airsim",
        learn: bool = True,
        limit_s: float = CALL_S,
    ) -> None:
        """Connect.

        Args:
            host: host of the server.
            port: port of the server.
            origin_ue_m: AirSim's PlayerStart in CARLA's frame.
            client: the vendor's module.
            learn: call ``learn`` at once.
            limit_s: time limit of each call.

        Raises:
            SimulatorError: no server answers.
        """
        self._where = f"{host}:{port}"
        try:
            socket.create_connection((host, port), timeout=5).close()
        except OSError as error:
            raise SimulatorError(f"no AirSim at {self._where} ({error.strerror or error}); start it") from error
        self.vendor: Any = importlib.import_module(client)
        self.client: Any = self.vendor.MultirotorClient(ip=host, port=port, timeout_value=math.ceil(limit_s))
        self._map_SE3_ned = frames.map_SE3_ned(airsim_origin_ue_m=np.asarray(origin_ue_m, dtype=np.float64))
        self._ned_SE3_map = self._map_SE3_ned.inverse()
        self._loop = asyncio.get_event_loop()  # of the client, which has made one if this thread had none
        others = asyncio.all_tasks(self._loop)  # the client connects in its first call
        with self.translated("connecting"):
            if not self.client.ping():
                raise SimulatorError(f"AirSim at {self._where} does not answer a ping")
        self._readers = asyncio.all_tasks(self._loop) - others
        self.vehicles: list[str] = []
        self._homes: dict[str, FloatArray] = {}
        if learn:
            self.learn()

    def learn(self) -> None:
        """Query the vehicles and their spawn positions; a merged build answers only within a tick."""
        with self.translated("listing vehicles"):
            self.vehicles = [str(name) for name in self.client.listVehicles()]
            settings = json.loads(self.client.getSettingsString() or "{}")
        self._homes = {
            name: np.array([float(spec.get(axis) or 0.0) for axis in ("X", "Y", "Z")])
            for name, spec in (settings.get("Vehicles") or {}).items()
        }

    def close(self) -> None:
        """Close the connection, in its own thread; a server keeps a thread for each connection and limits their number."""
        for reader in self._readers:
            reader.cancel()  # a reader would reconnect after its stream closes
        self._loop.run_until_complete(asyncio.gather(*self._readers, return_exceptions=True))
        self.client.client.close()

    @contextlib.contextmanager
    def translated(self, doing: str) -> Iterator[None]:
        """Translate the RPC library's errors."""
        try:
            yield
        except (msgpackrpc.error.TimeoutError, msgpackrpc.error.TransportError, OSError) as error:
            raise SimulatorLost(f"AirSim at {self._where} stopped answering while {doing}: {error}") from error
        except msgpackrpc.error.RPCError as error:
            text = " ".join(str(error).split())
            raise SimulatorError(f"AirSim at {self._where} refused {doing}: {text}") from error

    def require(self, drone_ids: Sequence[int]) -> None:
        """Check that AirSim has a vehicle for every drone.

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
        """Return a vehicle's spawn position, (3,) NED metres from PlayerStart."""
        return self._homes.get(name, np.zeros(3))

    def to_map(self, ned_SE3_frd: SE3) -> SE3:
        """Convert a body pose to ``map_SE3_flu``; the attitude is converted exactly, by sign flips."""
        turn = frames.quat_map_from_ned(ned_SE3_frd.quat_wxyz)
        return SE3(turn, self._map_SE3_ned.apply(ned_SE3_frd.translation_m))

    def object_names(self) -> list[str]:
        """List the scene's objects."""
        with self.translated("listing objects"):
            return [str(name) for name in self.client.simListSceneObjects(".*")]

    def object_map_m(self, name: str) -> FloatArray:
        """Return a scene object's position, (3,) map frame, metres; NaN if AirSim does not know it."""
        with self.translated(f"looking for {name}"):
            return self._map_SE3_ned.apply(xyz(self.client.simGetObjectPose(name).position))

    def number_objects(self, name: str, number: int, *, is_regex: bool) -> None:
        """Set the segmentation number of an object, or of all objects with full names that match a pattern in any case."""
        with self.translated(f"numbering {name}"):
            self.client.simSetSegmentationObjectID(name, number, is_regex)

    def from_map(self, map_SE3_flu: SE3) -> SE3:
        """Convert ``map_SE3_flu`` to ``ned_SE3_frd``; the inverse of ``to_map``."""
        turn = frames.quat_ned_from_map(map_SE3_flu.quat_wxyz)
        return SE3(turn, self._ned_SE3_map.apply(map_SE3_flu.translation_m))

    def world_pose(self, position: Any, orientation: Any, *, home: str) -> SE3:
        """Convert a pose of the wire, in ``home``'s frame, to ``ned_SE3_frd``.

        Raises:
            SimulatorLost: the pose has a NaN.
        """
        position_m, turn = xyz(position) + self.home_ned_m(home), _wxyz(orientation)
        if not (np.isfinite(position_m).all() and np.isfinite(turn).all()):
            raise SimulatorLost(f"AirSim's pose of {home} is not a number; restart it")
        return SE3(turn, position_m)

    def put(self, name: str, ned_SE3_frd: SE3) -> None:
        """Set a vehicle's pose."""
        t_m, q = ned_SE3_frd.translation_m - self.home_ned_m(name), ned_SE3_frd.quat_wxyz
        wire = self.vendor.Pose(
            self.vendor.Vector3r(*(float(v) for v in t_m)),
            self.vendor.Quaternionr(float(q[1]), float(q[2]), float(q[3]), float(q[0])),
        )
        with self.translated(f"placing {name}"):
            self.client.simSetVehiclePose(wire, True, name)

    def rendered_pose(self, name: str) -> SE3:
        """Return the ``ned_SE3_frd`` at which a vehicle is rendered, which AirSim updates with the game's frames."""
        with self.translated(f"reading {name}"):
            pose = self.client.simGetVehiclePose(name)
        return self.world_pose(pose.position, pose.orientation, home=name)

    def physics_pose(self, name: str) -> SE3:
        """Return the ``ned_SE3_frd`` of a vehicle's physics, which continues while the game is paused."""
        return self.kinematics(name)[0]

    def kinematics(self, name: str) -> tuple[SE3, FloatArray, int]:
        """Return a vehicle's true ``ned_SE3_frd``, its (3,) NED velocity, m/s, and AirSim's timestamp, ns."""
        with self.translated(f"reading {name}"):
            state = self.client.getMultirotorState(name)
            truth = self.client.simGetGroundTruthKinematics(name)
        ned_SE3_frd = self.world_pose(truth.position, truth.orientation, home=name)
        return ned_SE3_frd, xyz(truth.linear_velocity), int(state.timestamp)

    def image_requests(self, images: Sequence[tuple[str, AirSimReader]]) -> list[Any]:
        """Build requests from (camera, image) pairs."""
        return [self.vendor.ImageRequest(camera, image.image_type, image.as_float, False) for camera, image in images]

    def images(self, name: str, requests: Sequence[Any]) -> list[Any]:
        """Capture all images of a vehicle in one call, at one instant."""
        with self.translated(f"taking {name}'s images"):
            return list(self.client.simGetImages(list(requests), name))

    def lidar(self, name: str, sensor: str) -> Any:
        """Read a lidar's last scan."""
        with self.translated(f"reading {name}'s lidar"):
            return self.client.getLidarData(sensor, name)


def await_pose(read: Callable[[str], SE3], name: str, target: SE3, *, within_s: float) -> None:
    """Wait until a vehicle reaches its set pose: AirSim returns the previous pose for a while.

    Args:
        read: returns the vehicle's ``ned_SE3_frd``: ``AirSimLink.rendered_pose`` or ``AirSimLink.physics_pose``.
        name: name of the vehicle.
        target: ``ned_SE3_frd`` that was set.
        within_s: time limit.

    Raises:
        SceneVoid: the vehicle is elsewhere after the limit.

    Source: AirSim issues 3049 and 1246.
    """
    end = time.monotonic() + within_s
    while not pose_close(pose := read(name), target):
        if time.monotonic() > end:
            off_m = float(np.linalg.norm(pose.translation_m - target.translation_m))
            raise SceneVoid(f"AirSim reports {name} {off_m:.3f} m from its set pose after {within_s:g} s")
        time.sleep(_POLL_S)


def pose_close(pose: SE3, target: SE3, *, tolerance_m: float = 5e-3, tolerance_rad: float = 2e-3) -> bool:
    """Return whether two poses (``ned_SE3_frd``) agree within the precision of float32 on the wire."""
    off_q = 1.0 - abs(float(np.dot(pose.quat_wxyz, target.quat_wxyz)))
    near = float(np.linalg.norm(pose.translation_m - target.translation_m)) <= tolerance_m
    return near and off_q <= tolerance_rad**2 / 8


def xyz(vector: Any) -> FloatArray:
    """Convert a vector of the wire to (3,)."""
    return np.array([vector.x_val, vector.y_val, vector.z_val], dtype=np.float64)


def _wxyz(quaternion: Any) -> AnyArray:
    q = np.array([quaternion.w_val, quaternion.x_val, quaternion.y_val, quaternion.z_val], dtype=np.float64)
    return q / np.linalg.norm(q)
