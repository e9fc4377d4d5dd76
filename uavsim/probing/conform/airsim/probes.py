"""AirSim probes with one drone: placing, flight, clock, images, sensors on the ground, objects."""

import contextlib
import time
from collections.abc import Iterator
from typing import Final

import numpy as np

from uavsim.errors import SimulatorError
from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.simulate.airsim.link import AirSimLink, xyz
from uavsim.typing import FloatArray

_POSES: Final = 40
_STEPS: Final = 20
_STEP_S: Final = 0.06  # a multiple of AirSim's 3 ms
_READ_BACK_S: Final = 2.0
_RESETS: Final = 3
_NEAR_M: Final = 5e-3
_LANDINGS: Final = 4
_IMAGES: Final = {
    0: "scene",
    1: "planar depth",
    2: "perspective depth",
    3: "depth shown",
    5: "segmentation",
    6: "normals",
    7: "infrared",
}


def server(link: AirSimLink) -> Iterator[Answer]:
    """Ask for versions, vehicles and settings."""
    ask = Ask("AirSim server")
    client = link.client
    yield ask.equal("the server takes this client", client.getClientVersion() >= client.getMinRequiredClientVersion())
    yield ask.equal("the client takes this server", client.getServerVersion() >= client.getMinRequiredServerVersion())
    yield ask.at_least("vehicles", len(link.vehicles), 1)
    yield ask.equal("settings are a text", bool(client.getSettingsString()))


def clock(link: AirSimLink) -> Iterator[Answer]:
    """Pause, let half a second pass, and read the clock."""
    ask = Ask("AirSim clock")
    client, name = link.client, link.vehicles[0]
    client.simPause(True)
    stopped = [_stamp_s(link, name) for _ in range(3)]
    client.simContinueForTime(0.5)
    _until_paused(link)
    passed = _stamp_s(link, name) - stopped[-1]
    yield ask.equal("the clock stands while paused", stopped[0] == stopped[-1])
    yield ask.equal("paused again after simContinueForTime", bool(client.simIsPause()))
    yield ask.near("seconds that passed in simContinueForTime(0.5)", passed, 0.02, unit="s")
    steps_s = []
    for _ in range(_STEPS):
        began = _stamp_s(link, name)
        client.simContinueForTime(_STEP_S)
        _until_paused(link)
        steps_s.append(_stamp_s(link, name) - began)
    yield ask.uncompared(f"{_STEPS} steps of simContinueForTime({_STEP_S})", steps_s, unit="s")
    yield ask.at_most("difference of the longest and the shortest of them", max(steps_s) - min(steps_s), 1e-3, unit="s")
    client.simPause(False)


def placing(link: AirSimLink) -> Iterator[Answer]:
    """Set poses of a paused drone, and measure the delay and the error of the pose that is read back."""
    ask = Ask("AirSim placing")
    client, name = link.client, link.vehicles[0]
    first_pose = client.simGetVehiclePose(name)
    client.simPause(True)
    draw, offsets_m, turns_deg, delays_s = np.random.default_rng(16), [], [], []
    for _ in range(_POSES):
        position_m = draw.uniform((-100, -100, -150), (100, 100, -60))
        roll, pitch, yaw = draw.uniform((-0.7, -0.7, -3.1), (0.7, 0.7, 3.1))
        quat = link.vendor.to_quaternion(pitch, roll, yaw)
        vector = link.vendor.Vector3r(*(float(v) for v in position_m))
        client.simSetVehiclePose(link.vendor.Pose(vector, quat), True, name)
        began = time.monotonic()
        pose = client.simGetVehiclePose(name)
        while np.linalg.norm(xyz(pose.position) - position_m) > _NEAR_M and time.monotonic() - began < _READ_BACK_S:
            pose = client.simGetVehiclePose(name)
        delays_s.append(time.monotonic() - began)
        offsets_m.append(float(np.linalg.norm(xyz(pose.position) - position_m)))
        dot = abs(sum(getattr(pose.orientation, k) * getattr(quat, k) for k in ("w_val", "x_val", "y_val", "z_val")))
        turns_deg.append(float(np.degrees(2 * np.arccos(np.minimum(1.0, dot)))))
    client.simSetVehiclePose(first_pose, True, name)
    client.simPause(False)
    yield ask.at_most("until a pose that was set is read back, median", float(np.median(delays_s)), 0.02, unit="s")
    yield ask.at_most(f"place of {_POSES} against the asked one, worst", float(np.max(offsets_m)), 5e-3, unit="m")
    yield ask.at_most(f"turn of {_POSES} against the asked one, worst", float(np.max(turns_deg)), 0.1, unit="degrees")


def flight(link: AirSimLink) -> Iterator[Answer]:
    """Take off, fly 5 m north, hover, turn, and land; the world runs only while a task runs."""
    ask = Ask("AirSim flight")
    client, name = link.client, link.vehicles[0]
    client.enableApiControl(True, name)
    yield ask.equal("API control is given", bool(client.isApiControlEnabled(name)))
    yield ask.equal("it arms", bool(client.armDisarm(True, name)))
    ground = _settled(link, name)
    client.takeoffAsync(20, name).join()
    up = _ned_m(link, name)
    yield ask.near("height after take-off", float(ground[2] - up[2]), 0.7, unit="m")
    yield ask.equal("landed state in the air", int(client.getMultirotorState(name).landed_state))
    goal = np.array([up[0] + 5.0, up[1], up[2] - 2.0])
    client.moveToPositionAsync(*(float(v) for v in goal), 2.0, vehicle_name=name).join()
    client.hoverAsync(name).join()
    _run(link, 3.0, pause=True)  # the world stands between two calls
    reached = _ned_m(link, name)
    yield ask.at_most(
        "distance to a way point 5 m north and 2 m up", float(np.linalg.norm(reached - goal)), 1.5, unit="m"
    )
    _run(link, 2.0, pause=True)
    yield ask.at_most("drift in 2 s of hovering", float(np.linalg.norm(_ned_m(link, name) - reached)), 0.3, unit="m")
    client.simPause(False)
    client.rotateToYawAsync(90.0, 15, 3, name).join()
    turn = client.simGetVehiclePose(name).orientation
    yaw_deg = float(np.degrees(link.vendor.to_eularian_angles(turn)[2]))
    yield ask.near("yaw after rotateToYaw(90)", yaw_deg, 6.0, unit="degrees")
    _run(link, 2.0, pause=True)
    begin = _ned_m(link, name)
    client.moveByVelocityAsync(0.0, 2.0, 0.0, 2.0, vehicle_name=name)
    _run(link, 2.0, pause=True)
    yield ask.near("way east in 2 s at 2 m/s, from rest", float(_ned_m(link, name)[1] - begin[1]), 1.0, unit="m")
    client.simPause(False)
    low = _ned_m(link, name)
    client.moveToPositionAsync(float(low[0]), float(low[1]), float(ground[2]) - 1.0, 1.0, vehicle_name=name).join()
    for _ in range(_LANDINGS):  # AirSim takes a slow begin of the descent for the ground
        client.landAsync(60, name).join()
        _run(link, 2.0)
        if abs(ground[2] - _ned_m(link, name)[2]) < 0.2:
            break
    yield ask.near("height on landing above the start", float(ground[2] - _ned_m(link, name)[2]), 0.3, unit="m")
    client.armDisarm(False, name)
    _run(link, 1.0)
    yield ask.equal("landed state on the ground, disarmed", int(client.getMultirotorState(name).landed_state))
    client.enableApiControl(False, name)


def resting(link: AirSimLink) -> Iterator[Answer]:
    """Read the sensors of a standing drone."""
    ask = Ask("AirSim sensors at rest")
    client, name = link.client, link.vehicles[0]
    _settled(link, name)
    readings = [client.getImuData(vehicle_name=name) for _ in range(50)]
    force = np.array([xyz(r.linear_acceleration) for r in readings]).mean(axis=0)
    yield ask.near("IMU: forward, right, down", list(force), 0.3, unit="m/s2")
    yield ask.at_most(
        "IMU: turning",
        float(np.abs(np.mean([xyz(r.angular_velocity) for r in readings], axis=0)).max()),
        0.05,
        unit="rad/s",
    )
    barometer, gps = client.getBarometerData(vehicle_name=name), client.getGpsData(vehicle_name=name)
    home = client.getHomeGeoPoint(name)
    yield ask.near("pressure", float(barometer.pressure), 200.0, unit="Pa")
    yield ask.near(
        "barometer's altitude against GNSS's", float(barometer.altitude - gps.gnss.geo_point.altitude), 15.0, unit="m"
    )
    yield ask.at_most(
        "GNSS latitude against home", abs(gps.gnss.geo_point.latitude - home.latitude), 1e-3, unit="degrees"
    )
    field = xyz(client.getMagnetometerData(vehicle_name=name).magnetic_field_body)
    yield ask.near("length of the magnetic field", float(np.linalg.norm(field)), 0.1, unit="gauss")
    yield ask.near(
        "landed: its origin above the place that it spawned at", float(-_ned_m(link, name)[2]), 0.3, unit="m"
    )
    question = "distance sensor down"
    with _refusals(link, question) as refused:
        down_m = float(client.getDistanceSensorData(vehicle_name=name).distance)
    yield ask.absent(question, refused[0]) if refused else ask.near(question, down_m, 0.2, unit="m")


def images(link: AirSimLink) -> Iterator[Answer]:
    """Take every kind of image once; compare the two depths in a corner."""
    ask = Ask("AirSim images")
    client, name, vendor = link.client, link.vehicles[0], link.vendor
    for kind, kind_name in _IMAGES.items():
        yield _image(ask, link, kind, kind_name)
    client.simPause(True)
    planar, perspective = client.simGetImages([vendor.ImageRequest("0", k, True, False) for k in (1, 2)], name)
    fov_deg = float(client.simGetCameraInfo("0", name).fov)
    client.simPause(False)
    yield ask.near("field of view of camera 0", fov_deg, 0.5, unit="degrees")
    width, height = planar.width, planar.height
    near = np.array(planar.image_data_float).reshape(height, width)
    far = np.array(perspective.image_data_float).reshape(height, width)
    focal = width / (2 * np.tan(np.radians(fov_deg) / 2))
    x, y = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
    slant = np.sqrt(1 + (x**2 + y**2) / focal**2)
    in_range = (near < 200) & (near > 0)
    off = np.abs(far[in_range] / near[in_range] / slant[in_range] - 1) if in_range.any() else np.array([9.0])
    yield ask.at_most("perspective depth against planar, median", float(np.median(off)), 0.01)


def _image(ask: Ask, link: AirSimLink, kind: int, kind_name: str) -> Answer:
    question, as_float = f"{kind_name}: width, height, values a pixel", kind in {1, 2}
    with _refusals(link, question) as refused:
        image = link.client.simGetImages([link.vendor.ImageRequest("0", kind, as_float, False)], link.vehicles[0])[0]
    if refused:
        return ask.absent(question, refused[0])
    values = len(image.image_data_float) if as_float else len(image.image_data_uint8)
    return ask.equal(question, [image.width, image.height, values // max(1, image.width * image.height)])


def objects(link: AirSimLink) -> Iterator[Answer]:
    """List the scene's objects, and number one."""
    ask = Ask("AirSim objects")
    client = link.client
    names = client.simListSceneObjects(".*")
    yield ask.at_least("objects of the scene", len(names), 10)
    probe = names[0]
    yield ask.equal("a number is taken", bool(client.simSetSegmentationObjectID(probe, 42, False)))
    yield ask.equal("the number comes back", int(client.simGetSegmentationObjectID(probe)))
    yield ask.equal(
        "the pose of an object that is not there is no number",
        bool(np.isnan(xyz(client.simGetObjectPose("uavsim_no_such_object").position)).all()),
    )


def reset(link: AirSimLink) -> Iterator[Answer]:
    """Reset three times. This is the last probe: a real build may hang in it and need a restart."""
    ask, hung = Ask("AirSim reset"), ""
    seconds: list[float] = []
    while len(seconds) < _RESETS and not hung:
        began = time.monotonic()
        try:
            with link.translated("resetting"):
                link.client.reset()
        except SimulatorError as error:
            hung = str(error)
        seconds.append(time.monotonic() - began)
    yield ask.uncompared("seconds of each reset()", seconds, unit="s")
    yield ask.equal(f"reset() answers {_RESETS} times", not hung)


@contextlib.contextmanager
def _refusals(link: AirSimLink, doing: str) -> Iterator[list[str]]:
    """Collect the server's errors instead of raising them."""
    refused: list[str] = []
    try:
        with link.translated(doing):
            yield refused
    except SimulatorError as error:
        refused.append(str(error))


def _stamp_s(link: AirSimLink, name: str) -> float:
    return int(link.client.getMultirotorState(name).timestamp) / 1e9


def _ned_m(link: AirSimLink, name: str) -> FloatArray:
    return xyz(link.client.simGetGroundTruthKinematics(name).position)


def _run(link: AirSimLink, seconds: float, *, pause: bool = False) -> None:
    """Run the world for some seconds of its clock, then pause it, or let it run freely."""
    link.client.simPause(True)
    link.client.simContinueForTime(seconds)
    _until_paused(link)
    link.client.simPause(pause)


def _until_paused(link: AirSimLink) -> None:
    """Poll until the world is paused; ``simContinueForTime`` may return at once."""
    for _ in range(20000):
        if link.client.simIsPause():
            return


def _settled(link: AirSimLink, name: str) -> FloatArray:
    """Wait until the drone stands; returns its (3,) place."""
    last = _ned_m(link, name)
    for _ in range(20):
        _run(link, 0.5)
        now = _ned_m(link, name)
        if float(np.abs(now - last).max()) < 1e-3:
            break
        last = now
    return now
