"""CARLA probes of lockstep, poses, timestamps, determinism and rates."""

import statistics
import time
from collections.abc import Iterator
from typing import Final

import carla
import numpy as np

from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.carla.site import STEP_S, ProbeCamera, Site, absent_on_error, bgra_of, shifted

_TICKS: Final = 40
_PLACEMENTS: Final = 200
_SENSOR_TICKS: Final = 20
_STAMPED: Final = (
    "sensor.camera.rgb", "sensor.camera.depth", "sensor.camera.semantic_segmentation", "sensor.camera.instance_segmentation",
    "sensor.camera.optical_flow", "sensor.camera.dvs", "sensor.camera.normals", "sensor.lidar.ray_cast",
    "sensor.lidar.ray_cast_semantic", "sensor.other.radar", "sensor.other.imu", "sensor.other.gnss",
)  # fmt: skip
_LEVELS: Final = 0.5


def lockstep(site: Site) -> Iterator[Answer]:
    """Tick, and compare frames, clock and snapshots."""
    ask = Ask("lockstep")
    first, frames, deltas, elapsed, matching_snapshots, ticks_s = site.tick(), [], [], [], 0, []
    frames.append(first)
    elapsed.append(site.world.get_snapshot().timestamp.elapsed_seconds)
    for _ in range(_TICKS):
        start = time.perf_counter()
        frames.append(site.tick())
        ticks_s.append(time.perf_counter() - start)
        snapshot = site.world.get_snapshot()
        matching_snapshots += snapshot.frame == frames[-1]
        deltas.append(snapshot.timestamp.delta_seconds)
        elapsed.append(snapshot.timestamp.elapsed_seconds)
    yield ask.equal(f"frames of {_TICKS} ticks that follow each other", int(np.sum(np.diff(frames) == 1)))
    yield ask.equal("snapshots of the tick that was made", matching_snapshots)
    yield ask.at_most(
        "a tick's step against the asked one", float(np.abs(np.subtract(deltas, STEP_S)).max()), 1e-6, unit="s"
    )
    yield ask.at_most(
        "the clock against ticks times step", abs(elapsed[-1] - elapsed[0] - _TICKS * STEP_S), 1e-5, unit="s"
    )
    settings = site.world.get_settings()
    yield ask.equal(
        "settings come back as set",
        settings.synchronous_mode and abs((settings.fixed_delta_seconds or 0) - STEP_S) < 1e-9,
    )
    yield ask.uncompared("a tick without cameras, median", statistics.median(ticks_s) * 1e3, unit="ms")


def placements(site: Site) -> Iterator[Answer]:
    """Move a camera to 200 places, and compare each image's pose with the requested one.

    The places are near the road farthest from the origin, because the origin of a large map moves with the spectator.
    """
    ask = Ask("placements")
    draw = np.random.default_rng(16)
    road = max((point.location for point in site.spawn_points), key=lambda p: float(np.hypot(p.x, p.y)))
    middle = shifted(road, 0.0, 0.0, site.above.z)
    site.look_from(middle)
    site.tick()
    camera = site.camera("rgb", carla.Transform(middle), width=64, height=48)
    site.tick()
    of_image_m, of_image_deg, of_actor_m, on_time = [], [], [], 0
    for _ in range(_PLACEMENTS):
        offset_m = draw.uniform((-200, -200, -50), (200, 200, 100))
        target = shifted(middle, *(float(v) for v in offset_m))
        rotation_ue = carla.Rotation(*(float(v) for v in draw.uniform((-89, -179, -179), (89, 179, 179))))
        camera.sensor.set_transform(carla.Transform(target, rotation_ue))
        frame = site.tick()
        image = camera.of(frame)
        error_deg = _rotation_off_deg(image.transform.rotation, rotation_ue)
        of_image_m.append(image.transform.location.distance(target))
        of_image_deg.append(error_deg)
        of_actor_m.append(camera.sensor.get_transform().location.distance(target))
        on_time += of_image_m[-1] < 1e-2 and error_deg < 1e-2
    site.look_from(site.above)
    yield ask.equal(f"images of {_PLACEMENTS} at the place of their tick", on_time)
    yield ask.at_most("an image's place against the asked one, worst", float(np.max(of_image_m)), 1e-3, unit="m")
    yield ask.at_most("an image's turn against the asked one, worst", float(np.max(of_image_deg)), 1e-2, unit="degrees")
    yield ask.at_most("the actor's place against the asked one, worst", float(np.max(of_actor_m)), 1e-3, unit="m")


def _rotation_off_deg(one: carla.Rotation, other: carla.Rotation) -> float:
    """Return the angle between two rotations, degrees, by their matrices: Euler angles are not unique."""
    a, b = (np.asarray(carla.Transform(carla.Location(), r).get_matrix())[:3, :3] for r in (one, other))
    sine = np.linalg.norm(a - b) / (2 * np.sqrt(2))  # |A - B| = 2 sqrt(2) sin(angle / 2)
    return float(np.degrees(2 * np.arcsin(min(1.0, sine))))


def stamps(site: Site) -> Iterator[Answer]:
    """Listen to each kind of sensor for some ticks: one reading per tick, with its frame and time."""
    for kind in _STAMPED:
        yield from _stamps_of(site, kind)
        site.clear()


def _stamps_of(site: Site, kind: str) -> Iterator[Answer]:
    ask = Ask("stamps")
    sensor, why = absent_on_error(lambda: site.spawn(kind, carla.Transform(site.above, carla.Rotation(pitch=-60))))
    if sensor is None:
        yield ask.absent(f"readings of {kind} in {_SENSOR_TICKS} ticks", why)
        return
    camera = ProbeCamera(sensor)
    before = site.tick()  # a sensor may begin a tick late
    times: dict[int, float] = {}
    for _ in range(_SENSOR_TICKS):
        frame = site.tick()
        times[frame] = site.world.get_snapshot().timestamp.elapsed_seconds
    if kind == "sensor.camera.dvs":  # sends changes only; nothing moves here
        site.tick()
        readings = camera.drain()
        yield ask.at_most(f"readings of {kind} in {_SENSOR_TICKS} ticks", len(readings), _SENSOR_TICKS + 1)
    else:
        readings = camera.first(_SENSOR_TICKS, after=before)
        got_frames = [r.frame for r in readings]
        yield ask.equal(f"readings of {kind} in {_SENSOR_TICKS} ticks", len(readings))
        yield ask.equal(f"frames of {kind}: one a tick, in order", got_frames == sorted(times))
    stamp_of_frame = {r.frame: r.timestamp for r in readings}
    off = [abs(stamp_of_frame[f] - times[f]) for f in stamp_of_frame if f in times]
    yield ask.at_most(f"stamps of {kind} against the tick's time, worst", max(off, default=0.0), 1e-6, unit="s")


def determinism(site: Site) -> Iterator[Answer]:
    """Take two images from one place, with an image from another place between."""
    ask = Ask("determinism")
    here = carla.Transform(shifted(site.above, z_m=-150.0), carla.Rotation(pitch=-70))
    away = carla.Transform(shifted(site.above, x_m=30.0, z_m=-120.0), carla.Rotation(pitch=-50, yaw=90))
    for kind in ("depth", "semantic_segmentation", "instance_segmentation", "rgb"):
        camera = site.camera(kind, here)
        site.tick()
        camera.drain()
        looks = []
        for pose in (here, away, here):
            camera.sensor.set_transform(pose)
            looks.append(bgra_of(camera.of(site.tick())).astype(np.int16))
        off = np.abs(looks[0] - looks[2])
        yield ask.at_most(f"{kind}: mean difference of two looks", float(off.mean()), _LEVELS, unit="levels")
        yield ask.at_most(f"{kind}: share of pixels that differ", float((off.max(axis=2) > 0).mean()), 0.001)
        yield ask.at_least(
            f"{kind}: mean difference to another place", float(np.abs(looks[0] - looks[1]).mean()), 0.1, unit="levels"
        )
        site.clear()


def rates(site: Site) -> Iterator[Answer]:
    """Measure the rate of five cameras with UAV3D's size."""
    ask = Ask("rates")
    low = shifted(site.above, z_m=-190.0)
    looks = [carla.Transform(low, carla.Rotation(pitch=-45, yaw=72.0 * k)) for k in range(5)]
    cameras = [site.camera("rgb", look, width=800, height=450) for look in looks]
    site.tick()
    start = time.perf_counter()
    for _ in range(_SENSOR_TICKS):
        frame = site.tick()
        for camera in cameras:
            camera.of(frame)
    yield ask.uncompared(
        "images of 800x450 a second, five cameras", _SENSOR_TICKS * 5 / (time.perf_counter() - start), unit="1/s"
    )
