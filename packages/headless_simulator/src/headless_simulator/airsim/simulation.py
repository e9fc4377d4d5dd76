"""The state behind AirSim's port: fleet, clock, cameras, objects and weather."""

import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from headless_simulator.airsim import geo
from headless_simulator.airsim.atmosphere import Atmosphere
from headless_simulator.airsim.cameras import Camera, find_camera, vehicle_cameras
from headless_simulator.airsim.clock import ClockThread
from headless_simulator.airsim.drone import Drone
from headless_simulator.airsim.fault_injection import AirSimFaults
from headless_simulator.airsim.fleet import Fleet, Task
from headless_simulator.airsim.host import AirSimHost, Pose6
from headless_simulator.airsim.imaging import ImageCapture, no_movers
from headless_simulator.airsim.ned import Quat, Vec3, add, flip_z, ned_pose, pose_map, ue_pose
from headless_simulator.airsim.objects import SceneObjects
from headless_simulator.airsim.pixels import compile_all
from headless_simulator.airsim.quad import STANDS_M
from headless_simulator.airsim.recording import Recorder
from headless_simulator.airsim.settings import AirSimSettings, VehicleSetting
from headless_simulator.behaviours import IDEAL, Behaviours
from headless_simulator.errors import CallRefused
from headless_simulator.faults import Faults
from headless_simulator.rendering import Rendering
from headless_simulator.scene import TAG, Movers

DRONE_BLUEPRINT: Final = "drone.quadrotor"
DRONE_COLOUR: Final = (40, 40, 44)
FIRST_DRONE_ID: Final = 0x5000_0000
MAX_VEHICLES: Final = 256
MAX_MESSAGES: Final = 1000


class DelayedAnswer:
    """An answer sent at the end of a command; ``begin`` receives the function that sends it."""

    def __init__(self, begin: Callable[[Callable[[Any], None]], None]) -> None:
        self.begin = begin


class Simulation:
    """The state shared by AirSim's methods.

    Args:
        host: the world.
        settings: parsed settings.json.
        faults: fault injection.
        rendering: rendering options.
        behaviours: emulated server behaviours.
    """

    def __init__(
        self,
        host: AirSimHost,
        settings: AirSimSettings,
        *,
        faults: AirSimFaults | None = None,
        rendering: Rendering = Rendering(),  # noqa: B008  (frozen)
        behaviours: Behaviours = IDEAL,
    ) -> None:
        self.behaviours = behaviours
        self.host, self.settings, self._rendering = host, settings, rendering
        self.faults = faults or AirSimFaults(Faults())
        self._town = host.town
        self.player_start_m = settings.player_start_m or default_player_start(host, settings)
        self.fleet = Fleet(host, settings, player_start_m=self.player_start_m, behaviours=behaviours)
        self.resets = 0
        self.clock = ClockThread(self.fleet, every_turn=self._on_turn)
        self.object_lock = threading.RLock()
        self.objects = SceneObjects(host, initial_ids=settings.initial_segmentation_ids)
        self.image_capture = self._image_capture()
        self.weather_lock = threading.RLock()
        self.atmosphere = Atmosphere(host, settings.origin_geo)
        self.cameras: dict[str, dict[str, Camera]] = {}
        self.external = {name: Camera.of(name, setting) for name, setting in settings.external_cameras.items()}
        self.detection_filters: dict[tuple[Any, ...], Any] = {}
        self.messages: list[str] = []
        self.lens: dict[tuple[str, ...], Any] = {}
        self.recorder = Recorder(self.fleet, settings)
        for vehicle in settings.vehicles:
            self._register(vehicle)

    def _image_capture(self) -> ImageCapture:
        return ImageCapture(self.host, self.objects, object_lock=self.object_lock, rendering=self._rendering)

    def start(self) -> None:
        """Compile the kernels, then start time."""
        self.fleet.compile()
        compile_all()
        with self.weather_lock:
            self.atmosphere.configure(self.settings.time_of_day, self.fleet.now_ns)
        self.clock.start()

    def follow_town(self) -> None:
        """Reset everything after the host loads another town, as AirSim does when Unreal loads a level."""
        if self.host.town is self._town:
            return
        with self.fleet.lock, self.object_lock:
            if self.host.town is self._town:
                return
            self._town = self.host.town
            self.player_start_m = self.settings.player_start_m or default_player_start(self.host, self.settings)
            drones, self.objects = (
                self.objects.drones,
                SceneObjects(self.host, initial_ids=self.settings.initial_segmentation_ids),
            )
            self.objects.drones.update(drones)
            self.image_capture = self._image_capture()
            self.fleet.enter_town(self.player_start_m)

    def catch_up(self) -> None:
        """Follow the host to another town, and apply due poses."""
        self.follow_town()
        with self.fleet.lock:
            self.fleet.late_poses.show_due()

    def _on_turn(self, now_ns: int) -> None:
        self.catch_up()
        with self.weather_lock:
            self.atmosphere.tick(now_ns)

    def start_command(self, vehicle: str, make: Callable[[Drone], Task]) -> DelayedAnswer:
        """Start a flight command; the answer is sent at its end.

        Raises:
            CallRefused: no client has API control. (AirSim's SimpleFlight would wait indefinitely instead.)
        """
        if not self.settings.flies:
            raise CallRefused("SimMode is ComputerVision, which has no flight; use simSetVehiclePose")

        def begin(send: Callable[[Any], None]) -> None:
            with self.fleet.lock:
                drone = self.fleet.drone(vehicle)
                if not drone.api:
                    raise CallRefused(
                        f"ApiControl is not enabled for '{drone.name}': call enableApiControl(True) first"
                    )
                self.fleet.start_task(drone.name, make(drone), send)

        return DelayedAnswer(begin)

    def stop(self) -> None:
        """Stop time and recording."""
        self.recorder.stop()
        self.clock.stop()

    # ---- vehicles and cameras ----------------------------------------------------------------------------------------

    def _register(self, vehicle: VehicleSetting) -> None:
        self.cameras[vehicle.name] = vehicle_cameras(vehicle, self.settings)
        self.objects.drones[vehicle.name] = FIRST_DRONE_ID + len(self.objects.drones)

    def add_vehicle(self, vehicle: VehicleSetting) -> bool:
        """Add a vehicle at run time; False if its name is taken or there are too many."""
        with self.fleet.lock, self.object_lock:
            if vehicle.name in self.fleet.drones or not vehicle.name or len(self.fleet.drones) >= MAX_VEHICLES:
                return False
            self.fleet.add_vehicle(vehicle)
            self._register(vehicle)
            return True

    def camera(self, name: Any, vehicle: str, *, external: bool) -> Camera:
        """Find a camera of a vehicle, or an external one."""
        if external:
            return find_camera(self.external, name, owner="ExternalCameras")
        drone = self.fleet.drone(vehicle)
        return find_camera(self.cameras[drone.name], name, owner=drone.name)

    def camera_pose(self, camera: Camera, vehicle: str, *, external: bool) -> tuple[Vec3, Quat, Vec3]:
        """Return a camera's NED position, wxyz quaternion, and NED origin in Unreal's axes, metres; under the fleet's lock."""
        if external:
            position, quat = camera.pose()
            return position, quat, self.player_start_m
        drone = self.fleet.drone(vehicle)
        position, quat = camera.pose(drone.position_m, drone.quat)
        return position, quat, drone.spawn_ue_m

    def number_of(self, drone: Drone) -> int:
        """Return the actor id of a drone's body in images."""
        return self.objects.drones[drone.name]

    def drone_movers(self) -> Movers:
        """Return the bodies of the drones as movers; under the fleet's lock."""
        if not self.settings.flies:
            return no_movers()
        drones = list(self.fleet.drones.values())
        return Movers(
            model=np.full(len(drones), self.host.models.number(DRONE_BLUEPRINT), dtype=np.int32),
            pose=np.array([self.ue_pose_of(drone) for drone in drones], dtype=np.float64).reshape(-1, 6),
            actor_id=np.array([self.number_of(drone) for drone in drones], dtype=np.uint32),
            colour_rgb=np.full((len(drones), 3), DRONE_COLOUR, dtype=np.uint8),
            lights=np.zeros(len(drones), dtype=np.uint32),
        )

    # ---- places ------------------------------------------------------------------------------------------------------

    def ue_pose_of(self, drone: Drone) -> Pose6:
        """Return a drone's pose (Unreal's axes, metres, degrees)."""
        return ue_pose(drone.position_m, drone.quat, origin_ue_m=drone.spawn_ue_m)

    def global_pose_map(self, pose: Pose6) -> dict[str, Any]:
        """Encode an Unreal pose as the wire's Pose in global NED (from PlayerStart)."""
        return pose_map(*ned_pose(pose, origin_ue_m=self.player_start_m))

    def geo_of(self, ue_m: Vec3) -> geo.Geo:
        """Return the geographic position of a point in Unreal's axes."""
        x, y, z = ue_m
        px, py, pz = self.player_start_m
        return geo.geo_from_ned((x - px, y - py, pz - z), self.settings.origin_geo)

    def drone_geo(self, drone: Drone) -> geo.Geo:
        """Return a drone's geographic position."""
        return self.geo_of(add(drone.spawn_ue_m, flip_z(drone.position_m)))

    def reset(self) -> None:
        """Reset vehicles and cameras; CARLA's traffic stays."""
        self.fleet.reset()
        for name, drone in self.fleet.drones.items():
            self.cameras[name] = vehicle_cameras(drone.setting, self.settings)


def default_player_start(host: AirSimHost, settings: AirSimSettings) -> Vec3:
    """Return PlayerStart (Unreal's axes, metres) for settings that do not define it.

    With vehicles in the settings it is the town's origin, so that both ports share one frame. Without, it is the highest
    roof, because such programs assume the free air of AirSim's open fields.
    """
    roofs = [item for item in host.town.objects if item.tag == TAG["building"]]
    if settings.has_vehicles or not roofs:
        return 0.0, 0.0, 0.0
    highest = max(roofs, key=lambda item: item.box_centre_m[2] + item.box_half_m[2])
    x, y, z = highest.box_centre_m
    return x, y, z + highest.box_half_m[2] + STANDS_M
