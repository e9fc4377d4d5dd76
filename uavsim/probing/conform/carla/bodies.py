"""CARLA probes of bodies: mask ids, boxes and depth of one body at a time, and the sizes of all vehicles."""

from collections.abc import Iterator
from typing import Any, Final

import carla
import numpy as np

from uavsim.errors import SimulatorError
from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.carla.site import ProbeCamera, Site, absent_on_error, bgra_of, shifted
from uavsim.typing import BoolArray, FloatArray

_BODIES: Final = (
    "vehicle.tesla.model3", "vehicle.carlamotors.firetruck", "vehicle.mitsubishi.fusorosa", "vehicle.kawasaki.ninja",
    "vehicle.diamondback.century",
)  # fmt: skip
_BUS: Final = "vehicle.mitsubishi.fusorosa"
_PAIRS: Final = 24
_BEFORE_M: Final = 1.0
_LOOKS_DEG: Final = (0.0, 50.0, 140.0)
_WIDTH, _HEIGHT, _FOV_DEG = 400, 300, 60.0
_DEPTH_M: Final = 1000.0 / (256**3 - 1)


def masks(site: Site) -> Iterator[Answer]:
    """Compare the mask id, tag, box and depth of one body of each class from three sides."""
    for blueprint in _BODIES:
        yield from _masks_of(site, blueprint)
        site.clear()


def _masks_of(site: Site, blueprint: str) -> Iterator[Answer]:
    ask = Ask("masks and boxes")
    cameras = {kind: site.camera(kind, carla.Transform(site.above)) for kind in ("instance_segmentation", "depth")}
    empty = []
    for yaw_deg in _LOOKS_DEG:  # images without the body
        empty.append(_look(site, cameras, yaw_deg, 12.0)[0])
    body, why = absent_on_error(lambda: site.body(blueprint, carla.Transform(site.above)))
    if body is None:
        yield ask.absent(f"{blueprint}: pixels", why)
        return
    site.tick()
    found: dict[str, list[float]] = {name: [] for name in ("inside", "filled", "depth")}
    tags, numbers, pixels = set(), set(), []
    for yaw_deg, before in zip(_LOOKS_DEG, empty, strict=True):
        instance, depth_m = _look(site, cameras, yaw_deg, 12.0)
        mask = (instance != before).any(axis=2)
        pixels.append(int(mask.sum()))
        if not mask.any():
            continue
        tags.add(int(np.bincount(instance[..., 2][mask]).argmax()))
        numbers |= {int(b) + 256 * int(g) for b, g in np.unique(instance[mask][:, :2], axis=0)}
        corners_m = _corners(body, cameras["depth"])
        inside, filled = _in_box(mask, corners_m)
        found["inside"].append(inside)
        found["filled"].append(filled)
        found["depth"].append(float(depth_m[mask].min()) - float(corners_m[:, 2].min()))
    yield ask.at_least(f"{blueprint}: pixels, fewest", min(pixels), 300)
    yield ask.equal(f"{blueprint}: semantic tags", [str(tag) for tag in sorted(tags)])
    yield ask.equal(f"{blueprint}: numbers in blue and green", len(numbers))
    yield ask.equal(f"{blueprint}: blue + 256 green is the actor's id modulo 65536", body.id % 65536 in numbers)
    yield ask.at_least(f"{blueprint}: share of the mask in its box, least", min(found["inside"], default=0.0), 0.97)
    filled = min(found["filled"], default=0.0)
    yield ask.near(f"{blueprint}: sides of the mask's rectangle by the box's, least", filled, 0.12)
    yield ask.at_least(
        f"{blueprint}: nearest depth behind the box's nearest corner, least",
        min(found["depth"], default=-9.0),
        -0.1,
        unit="m",
    )


def hidden(site: Site) -> Iterator[Answer]:
    """Take images of a bus in many places of the town: mask pixels with a depth in front of the bus are wrong."""
    ask = Ask("what masks hide")
    cameras = {kind: site.camera(kind, carla.Transform(site.above)) for kind in ("instance_segmentation", "depth")}
    away = carla.Transform(site.above)
    body = site.body(_BUS, away)
    visible_px = wrong_px = 0
    for eye, target in _pairs(site):
        looks = []
        for pose in (away, carla.Transform(shifted(target.location, z_m=0.3), target.rotation)):
            body.set_transform(pose)
            looks.append(_from(site, cameras, _towards(shifted(eye.location, z_m=3.0), target.location)))
        (empty, _), (instance, depth_m) = looks
        mask = (instance != empty).any(axis=2)
        nearest_m = float(_corners(body, cameras["depth"])[:, 2].min())
        visible_px += int(mask.sum())
        wrong_px += int((depth_m[mask] < nearest_m - _BEFORE_M).sum())
    site.clear()
    yield ask.uncompared("pixels of the bus", visible_px)
    yield ask.at_most("share of them before which depth shows something", wrong_px / max(visible_px, 1), 0.01)


def _pairs(site: Site) -> list[tuple[carla.Transform, carla.Transform]]:
    """Return spawn points all over the town, each with another one 40 to 150 m away."""
    pairs: list[tuple[carla.Transform, carla.Transform]] = []
    for eye in site.spawn_points[:: max(1, len(site.spawn_points) // _PAIRS)]:
        far = [p for p in site.spawn_points if 40.0 < p.location.distance(eye.location) < 150.0]
        pairs += [(eye, far[len(pairs) % len(far)])] if far else []
    return pairs


def _towards(eye: carla.Location, target: carla.Location) -> carla.Transform:
    east, south, up = target.x - eye.x, target.y - eye.y, target.z - eye.z
    pitch, yaw = np.degrees(np.arctan2([up, south], [np.hypot(east, south), east]))
    return carla.Transform(eye, carla.Rotation(pitch=float(pitch), yaw=float(yaw)))


def _look(site: Site, cameras: dict[str, ProbeCamera], yaw_deg: float, distance_m: float) -> tuple[Any, FloatArray]:
    """Return instance image, (H, W, 4) BGRA, and depth, (H, W) metres, with the site's centre in view."""
    yaw = np.radians(yaw_deg)
    back = shifted(site.above, -distance_m * float(np.cos(yaw)), -distance_m * float(np.sin(yaw)), 5.0)
    return _from(site, cameras, carla.Transform(back, carla.Rotation(pitch=-18.0, yaw=yaw_deg)))


def _from(site: Site, cameras: dict[str, ProbeCamera], pose: carla.Transform) -> tuple[Any, FloatArray]:
    """Return instance image, (H, W, 4) BGRA, and depth, (H, W) metres, from a place."""
    for camera in cameras.values():
        camera.sensor.set_transform(pose)
    frame = site.tick()
    depth = bgra_of(cameras["depth"].of(frame)).astype(np.float64)
    return bgra_of(cameras["instance_segmentation"].of(frame)), (
        depth[..., 2] + 256 * depth[..., 1] + 65536 * depth[..., 0]
    ) * _DEPTH_M


def _corners(body: Any, camera: ProbeCamera) -> FloatArray:
    """Return the box's corners in the camera's frame, (8, 3) metres."""
    corners = body.bounding_box.get_world_vertices(body.get_transform())
    return camera.camera_points(np.array([[c.x, c.y, c.z] for c in corners]))


def _in_box(mask: BoolArray, corners_cam_m: FloatArray) -> tuple[float, float]:
    """Return the share of the mask in the box's rectangle, and the smaller ratio of the two rectangles' sides."""
    focal = _WIDTH / (2 * np.tan(np.radians(_FOV_DEG) / 2))
    flat = corners_cam_m[:, :2] / corners_cam_m[:, 2:] * focal + np.array([_WIDTH / 2, _HEIGHT / 2])
    low, high = flat.min(axis=0), flat.max(axis=0)
    rows, columns = np.nonzero(mask)
    inside = (columns + 1 >= low[0]) & (columns <= high[0]) & (rows + 1 >= low[1]) & (rows <= high[1])
    sides = np.array([np.ptp(columns[inside]) + 1, np.ptp(rows[inside]) + 1]) if inside.any() else np.zeros(2)
    return float(inside.mean()), float((sides / (high - low)).min())


def blueprints(site: Site) -> Iterator[Answer]:
    """List the blueprints, and measure the boxes of all vehicles and two walkers."""
    ask = Ask("blueprints")
    names = sorted(b.id for b in site.blueprints)
    for kind in ("vehicle", "walker", "sensor", "static", "controller"):
        yield ask.holds_all(f"{kind}s", [name for name in names if name.startswith(f"{kind}.")])
    for name in [n for n in names if n.startswith("vehicle.")] + ["walker.pedestrian.0001", "walker.pedestrian.0010"]:
        body, why = absent_on_error(lambda name=name: site.spawn(name, carla.Transform(site.above)))  # type: ignore[misc]
        if body is None:
            yield ask.absent(f"{name}: half length, width, height", why)
            continue
        box = body.bounding_box
        yield ask.near(
            f"{name}: half length, width, height", [box.extent.x, box.extent.y, box.extent.z], 0.02, unit="m"
        )
        yield ask.near(f"{name}: box's centre", [box.location.x, box.location.y, box.location.z], 0.05, unit="m")
        site.clear()
    if not any(n.startswith("vehicle.") for n in names):
        raise SimulatorError("the server has no vehicles")
