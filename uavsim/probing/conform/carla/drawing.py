"""CARLA probes of drawing: ticks with images, settling of the brightness, loading and graphics memory."""

import statistics
import subprocess
import time
from collections.abc import Iterator
from typing import Final

import carla
import numpy as np

from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.carla.site import ProbeCamera, Site, bgra_of, shifted

_TICKS: Final = 20
_CAMERAS: Final = 6
_STOPS: Final = 5
_SIZE: Final = {"width": 1280, "height": 720}
_SETTLING: Final = 30
_JUMP_M: Final = 100.0
_RIG: Final = 25
_LOOKING_DOWN: Final = carla.Rotation(pitch=-60)
_ROUNDS: Final = 3
_SLOWER: Final = 0.1
_QUIET_S: Final = 0.02


def drawing(site: Site) -> Iterator[Answer]:
    """Listen, stop, and disable rendering, and measure which ticks send images and how long they take."""
    ask = Ask("drawing")
    sensors = [_silent_camera(site, yaw_deg=360.0 * k / _CAMERAS) for k in range(_CAMERAS)]
    site.tick()
    idle_s = [max(_ticks_s(site, _TICKS)) for _ in range(_STOPS)]
    cameras = [ProbeCamera(sensor) for sensor in sensors]
    first = site.tick()
    site.tick()
    began = cameras[0].first(1, after=first - 1)[0].frame
    yield ask.equal("ticks after listen() that send nothing", int(began - first))
    after_s, late_images = [], 0
    for _ in range(_STOPS):
        frame = site.tick()
        for camera in cameras:
            camera.of(frame)
            camera.sensor.stop()
        after_s.append(max(_ticks_s(site, _TICKS)))
        late_images += sum(len(camera.drain()) for camera in cameras)
        cameras = [ProbeCamera(sensor) for sensor in sensors]
        site.tick()
    yield ask.equal("images after stop()", late_images)
    # A busy host slows single rounds; a camera that draws once more slows each round after stop().
    quiet_s, slowest_s = statistics.median(idle_s), min(after_s)
    yield ask.uncompared(f"the slowest of {_TICKS} ticks without listeners", quiet_s * 1e3, unit="ms")
    yield ask.uncompared(f"the slowest of {_TICKS} ticks after stop()", slowest_s * 1e3, unit="ms")
    yield ask.equal("a camera draws once more after stop()", slowest_s > 2 * quiet_s + _QUIET_S)
    site.clear()
    yield from _without_rendering(site, ask)


def _without_rendering(site: Site, ask: Ask) -> Iterator[Answer]:
    camera = site.camera("rgb", carla.Transform(site.above), width=64, height=48)
    rounds_s, fewest = [], _TICKS
    for _ in range(_ROUNDS):
        camera.drain()
        _rendering(site, on=False)
        try:
            last = site.tick()
            rounds_s.append(_ticks_s(site, _TICKS))
            fewest = min(fewest, len(camera.first(_TICKS, after=last)))
        finally:
            _rendering(site, on=True)
    early_s, later_s = np.split(np.asarray(rounds_s), 2, axis=1)
    medians_ms = [float(np.median(half_s)) * 1e3 for half_s in (early_s, later_s)]
    yield ask.equal("cameras draw under no_rendering_mode", fewest >= _TICKS - 1)
    yield ask.uncompared("ticks under no_rendering_mode, medians of both halves", medians_ms, unit="ms")
    least_s = float(early_s.min())  # other work on the host only adds to a tick
    slower = float(later_s.min()) - least_s > max(_QUIET_S / 4, _SLOWER * least_s)
    yield ask.equal("ticks under no_rendering_mode get slower", slower)
    site.clear()


def exposure(site: Site) -> Iterator[Answer]:
    """Measure the brightness of a new camera's images, and of those after a jump of 100 m."""
    ask = Ask("exposure")
    low = shifted(site.above, z_m=-190.0)
    camera = site.camera("rgb", carla.Transform(low, _LOOKING_DOWN))
    new = _brightness(site, camera)
    camera.sensor.set_transform(carla.Transform(shifted(low, x_m=_JUMP_M), _LOOKING_DOWN))
    jumped = _brightness(site, camera)
    yield ask.uncompared(f"brightness of images 1 to {_SETTLING} of a new camera", new, unit="levels")
    yield ask.uncompared(f"brightness of images 1 to {_SETTLING} after a jump of {_JUMP_M:g} m", jumped, unit="levels")
    off = max(abs(series[0] - series[-1]) / max(series[-1], 1.0) for series in (new, jumped))
    yield ask.at_most("a first image's brightness against the last one's", off, 0.05)
    site.clear()


def _brightness(site: Site, camera: ProbeCamera) -> list[float]:
    site.tick()  # the first tick after listen() need not send
    means = []
    for _ in range(_SETTLING):
        means.append(float(bgra_of(camera.of(site.tick()))[..., :3].mean()))
    return means


def loading(site: Site) -> Iterator[Answer]:
    """Reload the town, and call once."""
    ask = Ask("loading")
    began = time.perf_counter()
    site.reload()
    loaded_s = time.perf_counter() - began
    began = time.perf_counter()
    site.world.get_map()
    yield ask.uncompared("load_world of its own town", loaded_s, unit="s")
    yield ask.uncompared("the first call after it", time.perf_counter() - began, unit="s")


def memory(site: Site) -> Iterator[Answer]:
    """Measure the graphics memory in use before and after the cameras of a rig of five drones."""
    ask = Ask("graphics memory")
    question = f"in use before and after {_RIG} RGB and {_RIG} instance cameras of 800x450"
    before = _used_mb()
    if before is None:
        yield ask.absent(question, "nvidia-smi is not there, or the server is on another host")
        return
    for kind in ("rgb", "instance_segmentation"):
        for _ in range(_RIG):
            site.camera(kind, carla.Transform(site.above), width=800, height=450)
    for _ in range(3):
        site.tick()
    yield ask.uncompared(question, [before, _used_mb() or 0.0], unit="MB")
    site.clear()


def _used_mb() -> float | None:
    """Return the graphics memory in use on all cards of this host, MB; None without nvidia-smi."""
    command = ("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        return float(np.sum([float(line) for line in done.stdout.split()]))
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _silent_camera(site: Site, *, yaw_deg: float) -> carla.Sensor:
    """Spawn a camera without a listener."""
    size = {"image_size_x": str(_SIZE["width"]), "image_size_y": str(_SIZE["height"])}
    pose = carla.Transform(shifted(site.above, z_m=-150.0), carla.Rotation(pitch=-60, yaw=yaw_deg))
    camera: carla.Sensor = site.spawn("sensor.camera.rgb", pose, **size)
    return camera


def _ticks_s(site: Site, count: int) -> list[float]:
    took_s = []
    for _ in range(count):
        began = time.perf_counter()
        site.tick()
        took_s.append(time.perf_counter() - began)
    return took_s


def _rendering(site: Site, *, on: bool) -> None:
    settings = site.world.get_settings()
    settings.no_rendering_mode = not on
    site.world.apply_settings(settings)
