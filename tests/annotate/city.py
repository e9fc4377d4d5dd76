"""A synthetic town drawn by the headless renderer; drawings of each object alone give the true occlusion."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from headless_simulator.models import ModelLibrary
from headless_simulator.models.catalogue import VEHICLES, WALKERS
from headless_simulator.render import Renderer
from headless_simulator.scene import TAG, Mesh, Movers, View, Weather

from tools.common.factories import CAMERAS, OPTICAL_IN_FLU, F, euler_of, make_plan, quaternion_of, ue_matrix
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.records.recording import (
    ActorInfo,
    ActorStates,
    DroneState,
    RecordedFrame,
    Recording,
    SensorReading,
    SessionFacts,
)
from uavsim.records.sensors import Agent, Sensor

MODELS = ModelLibrary()
FORMATION = {0: (0.0, 0.0), 1: (20.0, 0.0), 2: (-20.0, 0.0), 3: (0.0, -20.0), 4: (0.0, 20.0)}


def cuboid_mesh(centre, half, tag: int) -> tuple[np.ndarray, np.ndarray, int]:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half + centre
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6],
             [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]  # fmt: skip
    return corners, np.array(faces), tag


def mesh_of(parts) -> Mesh:
    vertices, triangles, tags, count = [], [], [], 0
    for corners, faces, tag in parts:
        vertices.append(corners)
        triangles.append(faces + count)
        tags.append(np.full(len(faces), tag))
        count += len(corners)
    tag = np.concatenate(tags).astype(np.uint8)
    return Mesh(
        vertices_m=np.concatenate(vertices).astype(np.float32),
        triangles=np.concatenate(triangles).astype(np.int32),
        colour_rgb=np.full((len(tag), 3), 128, np.uint8),
        tag=tag,
        material=np.zeros(len(tag), np.uint8),
        object_id=np.zeros(len(tag), np.uint32),
    )


def quarter(rng: np.random.Generator) -> Mesh:
    """Return the mesh of streets with trees between blocks of houses."""
    ground = (np.array([[-400, -400, 0], [400, -400, 0], [400, 400, 0], [-400, 400, 0.0]]),
              np.array([[0, 1, 2], [0, 2, 3]]), TAG["road"])  # fmt: skip
    parts = [ground]
    for x in range(-120, 121, 48):
        for y in range(-120, 121, 48):
            height = rng.uniform(2, 9)
            parts.append(cuboid_mesh((x, y, height), (14, 14, height), TAG["building"]))
            for _ in range(4):  # at the kerb: the streets' middles are 24 m from the houses'
                beside = np.array([rng.choice([-17.0, 17.0]), rng.uniform(-14, 14)])
                at = np.array([x, y]) + (beside if rng.integers(2) else beside[::-1])
                parts.append(cuboid_mesh((*at, 4.0), (1.6, 1.6, 1.4), TAG["vegetation"]))
                parts.append(cuboid_mesh((*at, 1.3), (0.15, 0.15, 1.3), TAG["vegetation"]))
    return mesh_of(parts)


@dataclass
class City:
    """A recording with the true pixels of each object alone, by (sample, channel, instance)."""

    recording: Recording
    alone_px: dict[tuple[int, str, int], int]


def make_city(folder: Path, *, seed: int, samples: int, vehicles: int = 60, depth: bool = False, drones: int = 5,
              size_px=(800, 450), altitude_m: float = 60.0) -> City:  # fmt: skip
    """Drive vehicles along the streets, and draw all views with all objects and with each object alone."""
    rng = np.random.default_rng(seed)
    sensors = ("rgb", "instance", "depth") if depth else ("rgb", "instance")
    plan = make_plan(samples=samples, sweeps=0, drones=drones, size_px=size_px, sensors=sensors)
    plan = replace(plan, rig=tuple(replace(spec, mount_t_m=(0.0, 0.0, 0.0)) for spec in plan.rig))
    town = Renderer(quarter(rng), MODELS)
    nothing = Renderer(mesh_of([cuboid_mesh((0, 0, -500), (1, 1, 1), TAG["ground"])]), MODELS)
    cast = _cast(rng, vehicles, samples)
    frames, alone = [], {}
    for k in range(samples):
        poses = _poses(cast, k)
        drone_states, shots = [], []
        yaw = 17.0 + 3 * k
        for d in plan.swarm.drone_ids:
            at = np.array([4.0 + 5 * k, -3.0, altitude_m]) + ue_matrix(0, 0, yaw) @ np.array([*FORMATION[d], 0.0])
            map_SE3_flu = SE3(quaternion_of(F @ ue_matrix(0, 0, yaw) @ F), F @ at)
            drone_states.append(DroneState(d, map_SE3_flu, np.zeros(3), map_SE3_flu))
            for spec in plan.cameras:
                channel = plan.channel(camera=spec.name, drone_id=d)
                matrix = ue_matrix(0, 0, yaw) @ ue_matrix(*CAMERAS[spec.name])
                shots.append(_shot(folder, plan, spec, channel, d, k, at, matrix, poses, cast, town, nothing, alone))
        frames.append(
            RecordedFrame(k * 10, plan.start_timestamp_us + k * 500_000, k, k, tuple(drone_states), tuple(shots),
                          _states(poses), (0.0,) * 14)
        )  # fmt: skip
    infos = tuple(_info(i, name) for i, (name, *_) in enumerate(cast, start=1))
    facts = SessionFacts("mock", "", "", "carla", vehicles, vehicles, 0, 0, "actor_id")
    return City(Recording(folder, plan, facts, infos, tuple(frames)), alone)


def _cast(rng, vehicles, samples):
    """Place vehicles on the lanes without contact."""
    kinds = {"car", "van", "truck", "bus", "motorcycle", "bicycle"}
    names = [name for name, spec in VEHICLES.items() if spec.base_type in kinds]
    cast = []
    while len(cast) < vehicles:
        name = list(WALKERS)[len(cast) // 12] if len(cast) % 12 == 0 else names[rng.integers(len(names))]
        lane = 48.0 * rng.integers(-2, 4) + rng.choice([-4.5, -1.5, 1.5, 4.5])
        along, across = rng.uniform(-110, 110), rng.integers(2)
        at = np.array([along, lane, 0.0]) if across else np.array([lane, along, 0.0])
        if name.startswith("walker"):
            at[2] = MODELS.half_extent(name)[2]
        one = (name, at, (0.0 if across else 90.0) + rng.normal(0, 3), rng.uniform(0, 9))
        if all(_apart(one, other, k) for other in cast for k in range(samples)):
            cast.append(one)
    return cast


def _apart(one, other, k) -> bool:
    (a, _), (b, _) = _poses([one, other], k)
    reach = MODELS.half_extent(one[0])[0] + MODELS.half_extent(other[0])[0]
    return bool(np.hypot(*(a - b)[:2]) > reach + 0.8)


def _poses(cast, k):
    poses = []
    for _, at, yaw, speed in cast:
        way = np.array([np.cos(np.radians(yaw)), np.sin(np.radians(yaw)), 0.0])
        poses.append((at + way * speed * 0.5 * k, float(np.float32(yaw))))
    return poses


def _info(instance_id: int, name: str) -> ActorInfo:
    x, y, z = MODELS.box_offset(name)
    spec = VEHICLES.get(name)
    return ActorInfo(
        instance_id, 100 + instance_id, "vehicle" if spec else "walker", name, spec.base_type if spec else "",
        MODELS.half_extent(name), SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.array([x, -y, z])), spec.tag if spec else 12,
    )  # fmt: skip


def _states(poses) -> ActorStates:
    n = len(poses)
    matrices = [ue_matrix(0, 0, yaw) for _, yaw in poses]
    return ActorStates(
        np.arange(1, n + 1),
        SE3(np.array([quaternion_of(F @ m @ F) for m in matrices]), np.array([F @ at for at, _ in poses])),
        np.array([(0.0, 0.0, yaw) for _, yaw in poses]),
        np.zeros((n, 3)),
        np.zeros((n, 3)),
        np.zeros((n, 3)),
    )


def _movers(cast, poses, rows) -> Movers:
    return Movers(
        np.array([MODELS.number(cast[r][0]) for r in rows], np.int32),
        np.array([[*poses[r][0], 0.0, poses[r][1], 0.0] for r in rows]).reshape(-1, 6),
        np.array(rows, np.uint32) + 1,
        np.full((len(rows), 3), 200, np.uint8),
        np.zeros(len(rows), np.uint32),
    )


def _look(renderer, view, movers):
    return renderer.render(view, movers, weather=Weather(), signals=np.zeros(0, np.uint8), time_s=0.0, want_bgra=False)


def _shot(folder, plan, spec, channel, drone, k, at, matrix, poses, cast, town, nothing, alone):
    roll, pitch, yaw = euler_of(matrix) if abs(matrix[2, 0]) < 1 - 1e-12 else _straight_down(matrix)
    view = View((*at, pitch, yaw, roll), spec.camera.width_px, spec.camera.height_px, spec.camera.fov_deg)
    image = _look(town, view, _movers(cast, poses, list(range(len(cast)))))
    ids = np.where(image.ids < 0x8000_0000, image.ids, 0).astype(np.uint16)
    names = {"instance": f"instance/{channel}/{k:06d}.png", "depth": f"depth/{channel}/{k:06d}.png"}
    for name, data in zip(names.values(), (codec.encode_mask_ids(ids, image.tag), codec.encode_depth(image.depth_m)),
                          strict=True):  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for row in range(len(cast)):
        if _may_be_visible(poses[row][0], at, matrix, spec):
            lone = _look(nothing, view, _movers(cast, poses, [row]))
            alone[k, channel, row + 1] = int((lone.ids == row + 1).sum())
    files = {"rgb": "rgb.png", **{name: path for name, path in names.items() if name in spec.modalities}}
    map_SE3_optical = SE3(quaternion_of(F @ matrix @ F @ OPTICAL_IN_FLU), F @ at)
    return SensorReading(Sensor(Agent(drone), spec), map_SE3_optical, (roll, pitch, yaw), files)


def _straight_down(matrix):
    return 0.0, -90.0, float(np.degrees(np.arctan2(-matrix[0, 1], matrix[1, 1])))


def _may_be_visible(at, camera, matrix, spec) -> bool:
    ahead, right, up = matrix.T @ (at - camera)
    reach = 8.0
    return (
        ahead > -reach
        and abs(right) < ahead + reach
        and abs(up) < ahead * spec.camera.height_px / spec.camera.width_px + reach
    )
