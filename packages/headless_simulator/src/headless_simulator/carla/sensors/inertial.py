"""IMU and GNSS."""

import math
from dataclasses import dataclass
from typing import Final

import msgpack
import numpy as np

from headless_simulator.carla.sensors.moment import Body, Moment, Reading
from headless_simulator.carla.sensors.rays import generator, number
from headless_simulator.scene import Float64
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import rotation
from headless_simulator.world.world import World

IMU: Final = "sensor.other.imu"
GNSS: Final = "sensor.other.gnss"


@dataclass(frozen=True, slots=True)
class Motion:
    """The sensor's (3,) acceleration, m/s2, and angular velocity, deg/s, in world axes, and its (6,) noise."""

    acceleration: Float64
    angular_deg: Float64
    noise: Float64


def gather_imu(world: World, actor: Actor, _delta_s: float) -> Motion:
    """Return the motion of the sensor's parent."""
    c = world.table.c
    return Motion(c.acceleration[actor.row].copy(), c.angular[actor.row].copy(), generator(actor).normal(size=6))


def imu(reading: Reading, moment: Moment) -> list[Body]:
    """Return [accelerometer m/s2, gyroscope rad/s, compass rad from north]; north is minus y, as in CARLA."""
    motion: Motion = reading.state
    pose, actor = reading.pose, reading.actor
    to_sensor = rotation(pose[3], pose[4], pose[5]).T
    accelerometer = to_sensor @ (motion.acceleration + np.array([0.0, 0.0, moment.imu_gravity_mps2]))
    gyroscope = to_sensor @ np.radians(motion.angular_deg)
    for n, axis in enumerate("xyz"):
        accelerometer[n] += number(actor, f"noise_accel_stddev_{axis}", 0.0) * motion.noise[n]
        gyroscope[n] += number(actor, f"noise_gyro_bias_{axis}", 0.0)
        gyroscope[n] += number(actor, f"noise_gyro_stddev_{axis}", 0.0) * motion.noise[3 + n]
    compass = math.radians(pose[4] + 90.0) % (2 * math.pi)
    return [(msgpack.packb([accelerometer.tolist(), gyroscope.tolist(), compass]),)]


@dataclass(frozen=True, slots=True)
class Origin:
    """The town's georeference, and this tick's (3,) standard normal noise."""

    latitude_deg: float
    longitude_deg: float
    noise: Float64


def gather_gnss(world: World, actor: Actor, _delta_s: float) -> Origin:
    """Return the town's georeference and the noise of this tick."""
    return Origin(*world.town.georeference, generator(actor).normal(size=3))


def gnss(reading: Reading, moment: Moment) -> list[Body]:
    """Return [latitude, longitude, altitude], degrees and metres."""
    origin: Origin = reading.state
    x, y, z = reading.pose[:3]
    latitude, longitude = moment.version.geolocation(
        x, y, latitude_deg=origin.latitude_deg, longitude_deg=origin.longitude_deg
    )
    values = [latitude, longitude, z]
    for n, axis in enumerate(("lat", "lon", "alt")):
        values[n] += number(reading.actor, f"noise_{axis}_bias", 0.0)
        values[n] += number(reading.actor, f"noise_{axis}_stddev", 0.0) * float(origin.noise[n])
    return [(msgpack.packb(values),)]
