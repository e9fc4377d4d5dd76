"""Methods that read a vehicle: state, kinematics, collisions, sensors; and those that put it somewhere."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import numpy as np

from headless_simulator.airsim import geo, quad, rangefinders, sensors
from headless_simulator.airsim.drone import Drone, Hit
from headless_simulator.airsim.imaging import ImageRequest
from headless_simulator.airsim.method import AirSimMethod, Handler, call, declared
from headless_simulator.airsim.ned import (
    Quat,
    Vec3,
    add,
    pose_map,
    quat_multiply,
    rotate,
    rotation_matrix,
    vector_map,
)
from headless_simulator.airsim.objects import image_ids
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.airsim.values import Pose, pose_of, vector_of
from headless_simulator.errors import BadArgument
from headless_simulator.rpc.arguments import Anything, Reads, Text
from headless_simulator.rpc.messages import PackedFloats
from headless_simulator.scene import Int32, Movers, RenderedImage

_FASTEST: Final = 1e6
_MOTION: Final = {
    quad.S_VELOCITY: "linear_velocity",
    quad.S_RATE: "angular_velocity",
    quad.S_ACCEL: "linear_acceleration",
    quad.S_RATE_ACCEL: "angular_acceleration",
}
NO_RC: Final = {
    "timestamp": 0, "pitch": 0.0, "roll": 0.0, "throttle": 0.0, "yaw": 0.0, "left_z": 0.0, "right_z": 0.0,
    "switches": 0, "vendor_id": "", "is_initialized": False, "is_valid": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Motion:
    """A KinematicsState: the pose, and what goes into the vehicle's row from which column on."""

    pose: tuple[Vec3, Quat]
    motion: dict[int, Vec3]


def _kinematics(value: Any, name: str) -> _Motion:
    """Read a KinematicsState."""
    pose = pose_of(value, name)
    motion = {column: vector_of(value.get(key), key) for column, key in _MOTION.items()}
    if not all(abs(part) < _FASTEST for parts in motion.values() for part in parts):
        raise BadArgument(f"{name}: velocities and accelerations must be finite and below {_FASTEST:.0f}")
    return _Motion(pose, motion)


KinematicsState: TypeAlias = Annotated[_Motion, Reads(_kinematics)]


def _collision_map(sim: Simulation, hit: Hit) -> dict[str, Any]:
    return {
        "has_collided": hit.has_collided,
        "penetration_depth": hit.depth_m,
        "time_stamp": hit.time_ns,
        "normal": vector_map(hit.normal),
        "impact_point": vector_map(hit.point_m),
        "position": vector_map(hit.position_m),
        "object_name": hit.what,
        "object_id": sim.objects.segmentation_id(hit.what) if hit.what else -1,
    }


def getMultirotorState(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Give all about a vehicle."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        return {
            "collision": _collision_map(sim, drone.hit(forget=False)),
            "kinematics_estimated": drone.kinematics_map(),
            "gps_location": geo.geo_map(sim.drone_geo(drone)),
            "timestamp": drone.now_ns,
            "landed_state": 0 if drone.landed else 1,
            "rc_data": {**NO_RC, **drone.rc},
            "ready": True,
            "ready_message": "",
            "can_arm": True,
        }


def simGetCollisionInfo(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Give the last collision and forget that it happened."""
    with sim.fleet.lock:
        return _collision_map(sim, sim.fleet.drone(vehicle_name).hit(forget=True))


def simGetVehiclePose(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Give the pose, NED from the vehicle's own origin."""
    with sim.fleet.lock:
        return sim.fleet.drone(vehicle_name).pose_wire()


def simSetVehiclePose(sim: Simulation, pose: Pose, _ignore_collision: Anything, vehicle_name: Text = "") -> None:
    """Teleport; NaN parts stay."""
    position, quat = pose
    with sim.fleet.lock:
        sim.fleet.late_poses.set(sim.fleet.drone(vehicle_name), position, quat)


def simGetGroundTruthKinematics(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Give the true motion."""
    with sim.fleet.lock:
        return sim.fleet.drone(vehicle_name).kinematics_map()


def simSetKinematics(
    sim: Simulation, state: KinematicsState, _ignore_collision: Anything, vehicle_name: Text = ""
) -> None:
    """Set pose and motion at once."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        drone.place(*state.pose)
        for column, parts in state.motion.items():
            drone.row[column : column + 3] = parts


def simGetGroundTruthEnvironment(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Give the air around it."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        place = sim.drone_geo(drone)
        return {
            "position": vector_map(drone.position_m),
            "geo_point": geo.geo_map(place),
            "gravity": vector_map((0.0, 0.0, quad.GRAVITY)),
            "air_pressure": geo.pressure_pa(place[2]),
            "temperature": geo.temperature_k(place[2]),
            "air_density": geo.air_density(place[2]),
        }


def getHomeGeoPoint(sim: Simulation, vehicle_name: Text = "") -> dict[str, float]:
    """Give the place of the vehicle's origin."""
    with sim.fleet.lock:
        return geo.geo_map(sim.geo_of(sim.fleet.drone(vehicle_name).spawn_ue_m))


def getRotorStates(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Give thrust, torque and speed of the rotors."""
    max_speed = 6396.667 / 60 * 2 * math.pi
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        signals = [float(s) for s in drone.row[quad.S_ROTOR : quad.S_ROTOR + 4]]
        return {
            "rotors": [
                {
                    "thrust": signal * quad.ROTOR_THRUST_N,
                    "torque_scaler": signal * quad.ROTOR_TORQUE_NM * (-1 if index < 2 else 1),
                    "speed": math.sqrt(max(signal, 0.0)) * max_speed,
                }
                for index, signal in enumerate(signals)
            ],
            "timestamp": drone.now_ns,
        }


_SENSORS: Final[dict[str, tuple[str, Callable[[Simulation, Drone], dict[str, Any]]]]] = {  # what each reads
    "getImuData": ("imu", lambda _, drone: sensors.imu(drone)),
    "getBarometerData": ("barometer", lambda sim, drone: sensors.barometer(drone, sim.drone_geo(drone))),
    "getMagnetometerData": ("magnetometer", lambda _, drone: sensors.magnetometer(drone)),
    "getGpsData": ("gps", lambda sim, drone: sensors.gps(drone, sim.drone_geo(drone))),
}


def _reading(kind: str, read: Callable[[Simulation, Drone], dict[str, Any]]) -> Handler:
    def get(sim: Simulation, sensor_name: Text = "", vehicle_name: Text = "") -> dict[str, Any]:
        with sim.fleet.lock:
            drone = sim.fleet.drone(vehicle_name)
            sensors.find_sensor(drone, sensor_name, kind)
            return read(sim, drone)

    return get


def _render_request(sim: Simulation, drones: Movers) -> rangefinders.RenderRequest:
    def render(request: ImageRequest) -> tuple[RenderedImage, Int32]:
        image, movers = sim.image_capture.render(request, drones)
        with sim.object_lock:
            tables = sim.objects.lookup(movers)
        return image, image_ids(image.ids, image.tag, tables)

    return render


def _mounted(drone: Drone, mount: tuple[Any, Any]) -> tuple[Any, Any]:
    position, quat = mount
    return add(drone.position_m, rotate(drone.quat, position)), quat_multiply(drone.quat, quat)


def getDistanceSensorData(sim: Simulation, sensor_name: Text = "", vehicle_name: Text = "") -> dict[str, Any]:
    """Read a distance sensor."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        setting = sensors.find_sensor(drone, sensor_name, "distance")
        mount = rangefinders.mount_of(setting.options)
        pose, origin, without = _mounted(drone, mount), drone.spawn_ue_m, sim.number_of(drone)
        drones, now_ns = sim.drone_movers(), drone.now_ns
    limits = (float(setting.options.get("MinDistance", 0.2)), float(setting.options.get("MaxDistance", 40.0)))
    return {
        "time_stamp": now_ns,
        "distance": rangefinders.distance_m(_render_request(sim, drones), pose, origin, limits, without=without),
        "min_distance": limits[0],
        "max_distance": limits[1],
        "relative_pose": pose_map(*mount),
    }


def getLidarData(sim: Simulation, sensor_name: Text = "", vehicle_name: Text = "") -> dict[str, Any]:
    """Take one whole turn of a lidar."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        options = sensors.find_sensor(drone, sensor_name, "lidar").options
        pose = _mounted(drone, rangefinders.mount_of(options))
        origin, without, now_ns = drone.spawn_ue_m, sim.number_of(drone), drone.now_ns
        drones = sim.drone_movers()
    directions = rangefinders.scan_directions(options)
    reach_m = float(options.get("Range", 100.0))
    points, ids = rangefinders.scan(_render_request(sim, drones), pose, origin, directions, reach_m, without=without)
    if options.get("DataFrame", "VehicleInertialFrame") != "SensorLocalFrame":
        points = points @ rotation_matrix(pose[1]).T + np.array(pose[0])
    return {
        "time_stamp": now_ns,
        "point_cloud": PackedFloats(points.astype(np.float32)) if len(points) else [0.0],
        "pose": pose_map(*pose),
        "segmentation": ids.tolist(),
    }


METHODS: Final[tuple[AirSimMethod, ...]] = (
    *declared(__name__),
    *(call(_reading(*sensor), name=name) for name, sensor in _SENSORS.items()),
)
