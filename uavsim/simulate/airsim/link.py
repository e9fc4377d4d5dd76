"""One connection to an AirSim through its own client: the only module that imports ``airsim`` or a fork's client.

AirSim's calls speak each vehicle's own home frame: NED axes whose origin is where that vehicle spawned. ``AirSimLink`` adds
the spawn offset and the town's measured origin, so that nothing above it knows of either. One client serves one thread.
AirSim's and Cosys-AirSim's clients have the same classes under another name; only one of them is in an environment.
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

_LOOK_S: Final = 0.02  # between two looks at a pose that was set: a frame of the game


class AirSimLink:
    """One connection, to be used by one thread. Its world ``ned`` is metres north-east-down from PlayerStart."""

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
            host: of the server.
            port: of the server.
            origin_ue_m: AirSim's PlayerStart in CARLA's frame.
            client: the vendor's module.
            learn: call ``learn`` at once.
            limit_s: how long each call may take.

        Raises:
            SimulatorError: nobody answers there.
        """
        self._where = f"{host}:{port}"
        try:
            socket.create_connection((host, port), timeout=5).close()
        except OSError as error:
            raise SimulatorError(f"no AirSim at {self._where} ({error.strerror or error}); is it started?") from error
        self.vendor: Any = importlib.import_module(client)
        self.client: Any = self.vendor.MultirotorClient(ip=host, port=port, timeout_value=math.ceil(limit_s))
        self._map_SE3_ned = frames.map_SE3_ned(airsim_origin_ue_m=np.asarray(origin_ue_m, dtype=np.float64))
        self._ned_SE3_map = self._map_SE3_ned.inverse()
        self._loop = asyncio.get_event_loop()  # of the client, which has made one if this thread had none
        others = asyncio.all_tasks(self._loop)  # the client connects with the first call
        with self.translated("connecting"):
            if not self.client.ping():
                raise SimulatorError(f"AirSim at {self._where} does not answer a ping")
        self._readers = asyncio.all_tasks(self._loop) - others
        self.vehicles: list[str] = []
        self._homes: dict[str, FloatArray] = {}
        if learn:
            self.learn()

    def learn(self) -> None:
        """Ask for the vehicles and where they spawned; a merged build answers within a tick only."""
        with self.translated("listing vehicles"):
            self.vehicles = [str(name) for name in self.client.listVehicles()]
            settings = json.loads(self.client.getSettingsString() or "{}")
        self._homes = {
            name: np.array([float(spec.get(axis) or 0.0) for axis in ("X", "Y", "Z")])
            for name, spec in (settings.get("Vehicles") or {}).items()
        }

    def close(self) -> None:
        """End the connection, in its own thread: a server keeps a thread for each, and takes so many only."""
        for reader in self._readers:
            reader.cancel()  # a reader that sees its stream close connects again
        self._loop.run_until_complete(asyncio.gather(*self._readers, return_exceptions=True))
        self.client.client.close()

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
        """Return where a vehicle spawned, (3,) NED metres from PlayerStart."""
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
        """Return where a scene object is, (3,) map; NaN where AirSim does not know it. They are of the world."""
        with self.translated(f"looking for {name}"):
            return self._map_SE3_ned.apply(xyz(self.client.simGetObjectPose(name).position))

    def number_objects(self, name: str, number: int, *, is_regex: bool) -> None:
        """Give an object, or all whose whole name matches in any case, a number in the segmentation."""
        with self.translated(f"numbering {name}"):
            self.client.simSetSegmentationObjectID(name, number, is_regex)

    def from_map(self, map_SE3_flu: SE3) -> SE3:
        """Return ``ned_SE3_frd``, the inverse of ``to_map``."""
        turn = frames.quat_ned_from_map(map_SE3_flu.quat_wxyz)
        return SE3(turn, self._ned_SE3_map.apply(map_SE3_flu.translation_m))

    def world_pose(self, position: Any, orientation: Any, *, home: str) -> SE3:
        """Read a pose of the wire, which is in ``home``'s frame, as ``ned_SE3_frd``.

        Raises:
            SimulatorLost: it is not a number.
        """
        place_m, turn = xyz(position) + self.home_ned_m(home), _wxyz(orientation)
        if not (np.isfinite(place_m).all() and np.isfinite(turn).all()):
            raise SimulatorLost(f"AirSim's pose of {home} is not a number; restart it")
        return SE3(turn, place_m)

    def put(self, name: str, ned_SE3_frd: SE3) -> None:
        """Place a vehicle."""
        t_m, q = ned_SE3_frd.translation_m - self.home_ned_m(name), ned_SE3_frd.quat_wxyz
        wire = self.vendor.Pose(
            self.vendor.Vector3r(*(float(v) for v in t_m)),
            self.vendor.Quaternionr(float(q[1]), float(q[2]), float(q[3]), float(q[0])),
        )
        with self.translated(f"placing {name}"):
            self.client.simSetVehiclePose(wire, True, name)

    def shown(self, name: str) -> SE3:
        """Return the ``ned_SE3_frd`` at which a vehicle is drawn: AirSim moves it with the game's frames."""
        with self.translated(f"reading {name}"):
            pose = self.client.simGetVehiclePose(name)
        return self.world_pose(pose.position, pose.orientation, home=name)

    def flown(self, name: str) -> SE3:
        """Return the ``ned_SE3_frd`` of a vehicle's physics, which a pause of the game does not hold back."""
        return self.kinematics(name)[0]

    def kinematics(self, name: str) -> tuple[SE3, FloatArray, int]:
        """Return a vehicle's true ``ned_SE3_frd``, its velocity (3,) NED m/s, and AirSim's time stamp in ns."""
        with self.translated(f"reading {name}"):
            state = self.client.getMultirotorState(name)
            truth = self.client.simGetGroundTruthKinematics(name)
        ned_SE3_frd = self.world_pose(truth.position, truth.orientation, home=name)
        return ned_SE3_frd, xyz(truth.linear_velocity), int(state.timestamp)

    def image_requests(self, wanted: Sequence[tuple[str, AirSimReader]]) -> list[Any]:
        """Make requests from (camera, image) pairs."""
        return [self.vendor.ImageRequest(camera, image.image_type, image.as_float, False) for camera, image in wanted]

    def images(self, name: str, requests: Sequence[Any]) -> list[Any]:
        """Take all images of one vehicle in one call: one call is of one moment, two calls are not."""
        with self.translated(f"taking {name}'s images"):
            return list(self.client.simGetImages(list(requests), name))

    def lidar(self, name: str, sensor: str) -> Any:
        """Take a lidar's last turn."""
        with self.translated(f"reading {name}'s lidar"):
            return self.client.getLidarData(sensor, name)


def await_pose(read: Callable[[str], SE3], name: str, wanted: SE3, *, within_s: float) -> None:
    """Look until a vehicle is where it was put: AirSim answers the pose before for a while.

    Args:
        read: returns the vehicle's ``ned_SE3_frd``: ``AirSimLink.shown`` or ``AirSimLink.flown``.
        name: of the vehicle.
        wanted: ``ned_SE3_frd`` that was set.
        within_s: how long to look.

    Raises:
        SceneVoid: it is elsewhere at the end of that time.

    Source: AirSim issues 3049 and 1246.
    """
    end = time.monotonic() + within_s
    while not pose_close(got := read(name), wanted):
        if time.monotonic() > end:
            off_m = float(np.linalg.norm(got.translation_m - wanted.translation_m))
            raise SceneVoid(f"AirSim shows {name} {off_m:.3f} m from where it was put, {within_s:g} s later")
        time.sleep(_LOOK_S)


def pose_close(got: SE3, wanted: SE3, *, tolerance_m: float = 5e-3, tolerance_rad: float = 2e-3) -> bool:
    """Return whether two poses (``ned_SE3_frd``) agree to what float32 on the wire can carry."""
    off_q = 1.0 - abs(float(np.dot(got.quat_wxyz, wanted.quat_wxyz)))
    near = float(np.linalg.norm(got.translation_m - wanted.translation_m)) <= tolerance_m
    return near and off_q <= tolerance_rad**2 / 8


def xyz(vector: Any) -> FloatArray:
    """Read a vector of the wire, (3,)."""
    return np.array([vector.x_val, vector.y_val, vector.z_val], dtype=np.float64)


def _wxyz(quaternion: Any) -> AnyArray:
    q = np.array([quaternion.w_val, quaternion.x_val, quaternion.y_val, quaternion.z_val], dtype=np.float64)
    return q / np.linalg.norm(q)
