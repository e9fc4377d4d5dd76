"""A hand-made world: flat ground at z = 0, one building, and a renderer of flat ground and boxes.

The renderer casts one ray per pixel in numpy with its own formulas, so it cannot share a mistake with the real one.
"""

import math
from collections.abc import Mapping

import numpy as np
from headless_simulator.scene import (
    STATIC_ID,
    TAG,
    Ground,
    Mesh,
    Movers,
    RenderedImage,
    StaticObject,
    Town,
    View,
    Weather,
)

BUILDING = StaticObject(
    object_id=1, name="Building_North_7", tag=TAG["building"], pose=(30, 0, 0, 0, 0, 0),
    box_centre_m=(30, 0, 10), box_half_m=(5, 8, 10),
)  # fmt: skip
HALF = {"vehicle.tesla.model3": (2.4, 1.0, 0.75), "drone.quadrotor": (0.45, 0.45, 0.14)}


class PaperModels:
    blueprints = tuple(HALF)

    def number(self, blueprint: str) -> int:
        if blueprint not in HALF:
            raise ValueError(f"no model for blueprint {blueprint!r}")
        return list(HALF).index(blueprint)

    def scaled_number(self, blueprint: str, scale: tuple[float, float, float]) -> int:
        self.scaled = (blueprint, scale)
        return self.number(blueprint)

    def half_extent(self, blueprint: str) -> tuple[float, float, float]:
        return HALF[blueprint]

    def box_offset(self, blueprint: str) -> tuple[float, float, float]:
        return (0.0, 0.0, 0.0 if blueprint == "drone.quadrotor" else HALF[blueprint][2])


def rotation(pitch: float, yaw: float, roll: float) -> np.ndarray:
    """Return the (3, 3) rotation of an Unreal rotator, degrees, with columns forward, right, up (left-handed)."""
    cp, sp = math.cos(math.radians(pitch)), math.sin(math.radians(pitch))
    cy, sy = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))
    cr, sr = math.cos(math.radians(roll)), math.sin(math.radians(roll))
    return np.array([
        [cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr],
        [cp * sy, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr],
        [sp, -cp * sr, cp * cr],
    ])  # fmt: skip


class PaperRenderer:
    def __init__(self) -> None:
        self.models = PaperModels()

    def render(
        self, view: View, movers: Movers, *, weather, signals, time_s, want_bgra, want_normal=False
    ) -> RenderedImage:
        pitch, yaw, roll = view.pose[3:]
        focal = view.width / 2 / math.tan(math.radians(view.fov_deg) / 2)
        columns, rows = np.meshgrid(np.arange(view.width) + 0.5, np.arange(view.height) + 0.5)
        in_camera = np.stack(
            [np.ones_like(columns), (columns - view.width / 2) / focal, -(rows - view.height / 2) / focal], -1
        )
        depth, ids, tag = self._trace(view.pose[:3], in_camera @ rotation(pitch, yaw, roll).T, movers)
        image = RenderedImage(depth.astype(np.float32), ids, tag)
        if want_bgra:
            shade = np.uint8(255 * max(0.0, weather.sun_altitude_angle) / 90 * (1 - weather.precipitation / 200))
            image.bgra = np.dstack([tag * 5, tag * 3, tag * 2 + shade // 4, np.full_like(tag, 255)])
        if want_normal:
            image.normal = np.zeros((*rows.shape, 3), np.float32)
            image.normal[..., 2] = 1
        return image

    def cast(self, origins_m, directions, max_range_m: float, movers: Movers):
        distance, ids, tag = self._trace(origins_m, directions, movers)
        distance[distance > max_range_m] = np.inf
        return distance.astype(np.float32), ids, tag, np.ones(len(distance), np.float32)

    def _trace(self, origin, rays: np.ndarray, movers: Movers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the (N,) distance of the first hit in units of each ray's length, its id and its tag."""
        depth = np.full(rays.shape[:-1], np.inf)
        ids = np.zeros(rays.shape[:-1], np.uint32)
        tag = np.full(rays.shape[:-1], TAG["sky"], np.uint8)
        with np.errstate(divide="ignore"):
            to_ground = -origin[2] / rays[..., 2]
        hit = (to_ground > 0) & (to_ground < depth)
        depth[hit], tag[hit] = to_ground[hit], TAG["road"]
        boxes = [(BUILDING.object_id | STATIC_ID, BUILDING.box_centre_m, 0.0, BUILDING.box_half_m, TAG["building"])]
        for row, number in enumerate(movers.actor_id.tolist()):
            blueprint = list(HALF)[movers.model[row]]
            px, py, pz, _, turn, _ = movers.pose[row]
            up = self.models.box_offset(blueprint)[2]
            boxes.append((number, (px, py, pz + up), turn, HALF[blueprint], TAG["car"]))
        for code, centre, turn, half, label in boxes:
            near = box_distance(np.array(origin) - np.array(centre), rays, turn, np.array(half))
            hit = near < depth
            depth[hit], ids[hit], tag[hit] = near[hit], code, label
        return depth, ids, tag


def box_distance(origin: np.ndarray, rays: np.ndarray, yaw_deg: float, half: np.ndarray) -> np.ndarray:
    """Return (N,) distances of rays to a box by the slab test; infinite for misses."""
    c, s = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
    turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    start, way = turn @ origin, rays @ turn.T
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (-half - start) / way, (half - start) / way
    enter, leave = np.minimum(low, high).max(-1), np.maximum(low, high).min(-1)
    return np.where((enter <= leave) & (enter > 0), enter, np.inf)


def flat_town() -> Town:
    mesh = Mesh(
        vertices_m=np.array([[-200, -200, 0], [200, -200, 0], [200, 200, 20]], np.float32),
        triangles=np.array([[0, 1, 2]], np.int32), colour_rgb=np.zeros((1, 3), np.uint8), tag=np.ones(1, np.uint8),
        material=np.zeros(1, np.uint8), object_id=np.zeros(1, np.uint32),
    )  # fmt: skip
    return Town(
        name="Paper", opendrive="", spawn_points=np.zeros((0, 6)), mesh=mesh,
        ground=Ground((-200.0, -200.0), 10.0, np.zeros((41, 41), np.float32)), signals=(), objects=(BUILDING,),
        walk_polygons=(), crosswalks=(), speed_limits=np.zeros((0, 3)),
    )  # fmt: skip


class PaperHost:
    """A host with one static car at (10, 5)."""

    def __init__(self) -> None:
        self.town = flat_town()
        self.renderer = PaperRenderer()
        self.models = self.renderer.models
        self.weather = Weather()
        self.time_s, self.frame = 0.0, 7
        self.car = [10.0, 5.0, 0.0, 0.0, 90.0, 0.0]

    def movers(self) -> Movers:
        return Movers(
            np.zeros(1, np.int32), np.array([self.car]), np.array([142], np.uint32), np.zeros((1, 3), np.uint8),
            np.zeros(1, np.uint32),
        )  # fmt: skip

    def actor_types(self) -> Mapping[int, str]:
        return {142: "vehicle.tesla.model3"}

    def signals(self) -> np.ndarray:
        return np.zeros(0, np.uint8)

    def set_weather(self, weather: Weather) -> None:
        self.weather = weather

    def place_actor(self, actor_id: int, pose) -> bool:
        if actor_id != 142:
            return False
        self.car = list(pose)
        return True
