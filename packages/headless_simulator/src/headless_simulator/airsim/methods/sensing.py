"""Methods that read a vehicle's state, kinematics, collisions and sensors, and methods that set its pose."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Self, TypeAlias

import numpy as np

from headless_simulator.airsim import geo, quad, rangefinders, sensors
from headless_simulator.airsim.drone import Drone, Hit
from headless_simulator.airsim.method import AirSimMethod, Handler, call, declared
from headless_simulator.airsim.ned import (
    Quat,
    Vec3,
    add,
    flip_z,
    pose_map,
    quat_multiply,
    rotate,
    rotation_matrix,
    vector_map,
)
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.airsim.values import Pose, pose_of, vector_of
from headless_simulator.errors import BadArgument
from headless_simulator.rpc.arguments import Anything, Reads, Text
from headless_simulator.rpc.messages import PackedFloats
from headless_simulator.scene import Float32, Float64, Int32, Movers

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
    """A KinematicsState: the pose, and values of the vehicle's row by first column."""

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
        "object_name": hit.object_name,
        "object_id": sim.objects.segmentation_id(hit.object_name) if hit.object_name else -1,
    }


def getMultirotorState(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Return collision, kinematics, GPS location and state of a vehicle."""
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
    """Return the last collision and clear its flag."""
    with sim.fleet.lock:
        return _collision_map(sim, sim.fleet.drone(vehicle_name).hit(forget=True))


def simGetVehiclePose(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Return the vehicle's pose in NED from its own origin."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        return pose_map(drone.position_m, drone.quat)


def simSetVehiclePose(sim: Simulation, pose: Pose, _ignore_collision: Anything, vehicle_name: Text = "") -> None:
    """Teleport; NaN parts stay."""
    position, quat = pose
    with sim.fleet.lock:
        sim.fleet.late_poses.set(sim.fleet.drone(vehicle_name), position, quat)


def simGetGroundTruthKinematics(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Return the true kinematics."""
    with sim.fleet.lock:
        return sim.fleet.drone(vehicle_name).kinematics_map()


def simSetKinematics(
    sim: Simulation, state: KinematicsState, _ignore_collision: Anything, vehicle_name: Text = ""
) -> None:
    """Set pose and motion together."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        drone.teleport(*state.pose)
        for column, parts in state.motion.items():
            drone.row[column : column + 3] = parts


def simGetGroundTruthEnvironment(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Return position, gravity and air at the vehicle."""
    with sim.fleet.lock:
        drone = sim.fleet.drone(vehicle_name)
        position = sim.drone_geo(drone)
        return {
            "position": vector_map(drone.position_m),
            "geo_point": geo.geo_map(position),
            "gravity": vector_map((0.0, 0.0, quad.GRAVITY)),
            "air_pressure": geo.pressure_pa(position[2]),
            "temperature": geo.temperature_k(position[2]),
            "air_density": geo.air_density(position[2]),
        }


def getHomeGeoPoint(sim: Simulation, vehicle_name: Text = "") -> dict[str, float]:
    """Return the geographic position of the vehicle's origin."""
    with sim.fleet.lock:
        return geo.geo_map(sim.geo_of(sim.fleet.drone(vehicle_name).spawn_ue_m))


def getRotorStates(sim: Simulation, vehicle_name: Text = "") -> dict[str, Any]:
    """Return thrust, torque and speed of the rotors."""
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


@dataclass(frozen=True, slots=True)
class _Rays:
    """A range sensor at one moment; its rays hit the rendered triangles except its own vehicle."""

    options: Mapping[str, Any]
    mount: tuple[Any, Any]
    pose: tuple[Any, Any]
    origin_ue_m: Vec3
    drones: Movers
    own_number: int
    now_ns: int

    @classmethod
    def of(cls, sim: Simulation, sensor_name: str, vehicle_name: str, kind: str) -> Self:
        """Find a sensor and its current pose."""
        with sim.fleet.lock:
            drone = sim.fleet.drone(vehicle_name)
            options = sensors.find_sensor(drone, sensor_name, kind).options
            mount = rangefinders.mount_of(options)
            position, quat = mount
            pose = add(drone.position_m, rotate(drone.quat, position)), quat_multiply(drone.quat, quat)
            return cls(options, mount, pose, drone.spawn_ue_m, sim.drone_movers(), sim.number_of(drone), drone.now_ns)

    def cast(self, sim: Simulation, directions: Float64, reach_m: float) -> tuple[Float32, Int32]:
        """Cast (N, 3) rays in the sensor's axes (forward, right, down); see ``ImageCapture.cast``."""
        position, quat = self.pose
        world_ue = directions @ rotation_matrix(quat).T * (1.0, 1.0, -1.0)
        origin = add(self.origin_ue_m, flip_z(position))
        return sim.image_capture.cast(origin, world_ue, reach_m, self.drones, without=self.own_number)


def getDistanceSensorData(sim: Simulation, sensor_name: Text = "", vehicle_name: Text = "") -> dict[str, Any]:
    """Read a distance sensor."""
    sensor = _Rays.of(sim, sensor_name, vehicle_name, "distance")
    least_m, most_m = (
        float(sensor.options.get(f"{end}Distance", usual)) for end, usual in (("Min", 0.2), ("Max", 40.0))
    )
    distance_m, _ = sensor.cast(sim, np.array([[1.0, 0.0, 0.0]]), most_m)
    return {
        "time_stamp": sensor.now_ns,
        "distance": min(max(float(distance_m[0]), least_m), most_m),
        "min_distance": least_m,
        "max_distance": most_m,
        "relative_pose": pose_map(*sensor.mount),
    }


def getLidarData(sim: Simulation, sensor_name: Text = "", vehicle_name: Text = "") -> dict[str, Any]:
    """Scan one full rotation of a lidar."""
    sensor = _Rays.of(sim, sensor_name, vehicle_name, "lidar")
    directions = rangefinders.scan_directions(sensor.options)
    distance_m, ids = sensor.cast(sim, directions, float(sensor.options.get("Range", 100.0)))
    met = np.isfinite(distance_m)
    points = directions[met] * distance_m[met, None]
    if sensor.options.get("DataFrame", "VehicleInertialFrame") != "SensorLocalFrame":
        points = points @ rotation_matrix(sensor.pose[1]).T + np.array(sensor.pose[0])
    return {
        "time_stamp": sensor.now_ns,
        "point_cloud": PackedFloats(points.astype(np.float32)) if len(points) else [0.0],
        "pose": pose_map(*sensor.pose),
        "segmentation": ids[met].tolist(),
    }


METHODS: Final[tuple[AirSimMethod, ...]] = (
    *declared(__name__),
    *(call(_reading(*sensor), name=name) for name, sensor in _SENSORS.items()),
)
