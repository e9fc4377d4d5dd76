"""Synthetic recordings without a simulator: ray-traced boxes on a plane between houses.

They are irregular: odd timestamps, tilted drones and vehicles, boxes off their actors' origins, unequal sizes, an actor that
disappears and a distant one. All geometry is in the simulator's left-handed frame, by formulas independent of
``uavsim.geometry`` so that errors there show.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from uavsim.geometry.se3 import SE3
from uavsim.images import codec, points
from uavsim.ingredients.corner_cases.case_plans import CornerCasesPlan
from uavsim.ingredients.traffic import TrafficPlan, WalkersPlan
from uavsim.records.plan import (
    ImageFormat,
    ScenePlan,
    SwarmTrajectory,
    TownSite,
    WeatherTrack,
)
from uavsim.records.recording import (
    ActorInfo,
    ActorStates,
    DroneState,
    RecordedFrame,
    Recording,
    SensorReading,
    SessionFacts,
)
from uavsim.records.sensors import Agent, CameraParams, LidarParams, Sensor, SensorSpec

F = np.diag([1.0, -1.0, 1.0])
OPTICAL_IN_FLU = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
UE_TO_OPTICAL = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])

CAMERAS = {"FRONT": (0.0, -45.0, 0.0), "BACK": (0.0, -45.0, 180.0), "LEFT": (0.0, -45.0, -90.0),
           "RIGHT": (0.0, -45.0, 90.0), "BOTTOM": (0.0, -90.0, 0.0)}  # fmt: skip
FORMATION = {0: (0.0, 0.0), 1: (9.0, 0.0), 2: (-9.0, 0.0), 3: (0.0, -9.0), 4: (0.0, 9.0)}
START_US = 1_701_672_639_377_349


@dataclass(frozen=True)
class Mover:
    """One actor of the synthetic world, in the simulator's frame: position and velocity at time 0, angles in degrees."""

    blueprint: str
    base_type: str
    tag: int
    half: tuple[float, float, float]
    box_offset: tuple[float, float, float]
    at: tuple[float, float, float]
    rpy: tuple[float, float, float]
    speed: float = 0.0
    yaw_rate: float = 0.0
    kind: str = "vehicle"
    alive: tuple[float, float] = (-1.0, 1e9)  # seconds
    attributes: dict[str, str] = field(default_factory=dict)


def _car(at, yaw, speed=0.0, **more) -> Mover:
    return Mover("vehicle.tesla.model3", "car", 14, (2.396, 1.082, 0.744), (0.03, 0.01, 0.74), (*at, 0.02),
                 (-0.7, 1.2, yaw), speed, **more)  # fmt: skip


def street() -> list[Mover]:
    """Return actors of every class, moving and standing."""
    return [
        _car((6.0, 2.5), 12.0, 5.0),
        Mover("vehicle.lincoln.mkz_2020", "car", 14, (2.45, 0.96, 0.75), (0.0, 0.0, 0.71), (-5.0, -6.0, 0.0),
              (0.0, 0.0, -131.0), 3.0, 9.0),
        Mover("vehicle.mercedes.sprinter", "van", 14, (2.95, 0.99, 1.28), (0.1, 0.0, 1.27), (9.0, -8.0, 0.0),
              (0.0, 0.0, 77.0)),
        Mover("vehicle.carlamotors.carlacola", "truck", 15, (2.6, 1.31, 1.23), (0.0, 0.0, 1.22), (-14.0, 7.0, 0.0),
              (0.0, 0.0, 170.0), 1.0),
        Mover("vehicle.mitsubishi.fusorosa", "bus", 16, (5.1, 1.97, 2.1), (0.2, 0.0, 2.09), (0.0, 14.0, 0.0),
              (0.0, 0.0, 3.0)),
        Mover("vehicle.yamaha.yzf", "motorcycle", 18, (1.1, 0.43, 0.77), (0.0, 0.0, 0.76), (-3.0, 4.0, 0.0),
              (4.0, 0.0, 44.0), 2.0),
        Mover("vehicle.diamondback.century", "bicycle", 19, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3.0, -3.0, 0.0),
              (0.0, 0.0, -20.0), 1.5),
        Mover("walker.pedestrian.0007", "", 12, (0.19, 0.19, 0.93), (0.0, 0.0, 0.0), (1.0, 6.0, 0.93),
              (0.0, 0.0, 60.0), 1.3, kind="walker"),
        _car((14.0, 6.0), -65.0, 0.0, attributes={"role_name": "parked"}),
        _car((-9.0, -13.0), 25.0, 4.0, alive=(-1.0, 0.7)),
        _car((140.0, 20.0), 180.0, 18.0),
        _car((16.5, -2.0), 90.0, 0.0),  # behind the house from some drones
    ]  # fmt: skip


HOUSES = (((19.5, -2.0, 4.0), (1.5, 6.0, 4.0)), ((-18.0, -4.0, 3.0), (2.0, 3.0, 3.0)))  # centre, half size; no turn


def ue_matrix(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return the (3, 3) rotation of CARLA's Transform.get_matrix by its documented formula; angles in degrees."""
    r, p, y = np.radians([roll, pitch, yaw])
    cr, sr, cp, sp, cy, sy = np.cos(r), np.sin(r), np.cos(p), np.sin(p), np.cos(y), np.sin(y)
    return np.array(
        [
            [cp * cy, cy * sp * sr - sy * cr, -cy * sp * cr - sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, -sy * sp * cr + cy * sr],
            [sp, -cp * sr, cp * cr],
        ]
    )


def matrix_of(quat_wxyz: Sequence[float]) -> np.ndarray:
    """Return the (3, 3) rotation of a quaternion by the formula of COLMAP's page."""
    w, x, y, z = quat_wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """Return the (4,) quaternion w, x, y, z of a (3, 3) rotation by the eigenvector method, w >= 0."""
    m = matrix
    k = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0],
            [m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
            [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1], 0],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m.trace()],
        ]
    )
    vectors = np.linalg.eigh(k / 3.0)[1]
    q = vectors[[3, 0, 1, 2], 3]
    return q if q[0] >= 0 else -q


def make_plan(
    *,
    scene: str = "scene_00",
    scene_index: int = 0,
    dataset: str = "tiny",
    version: str = "v1.0-mini",
    splits: tuple[str, ...] = ("uav_train",),
    samples: int = 3,
    sweeps: int = 1,
    drones: int = 5,
    size_px: tuple[int, int] = (192, 108),
    cameras: tuple[str, ...] = tuple(CAMERAS),
    sensors: tuple[str, ...] = ("rgb", "instance"),
    images: str = "png",
    town: str = "Town10HD",
    lidar: bool = False,
    corner_cases: CornerCasesPlan | None = None,
) -> ScenePlan:
    """Return a plan with tilted drones on a curve at 25 m."""
    step_us, every = 50_000, 10
    steps = (samples - 1) * every
    ids = tuple(range(drones))
    places = np.zeros((steps + 1, drones, 3))
    turns = np.zeros((steps + 1, drones, 4))
    for k in range(steps + 1):
        for d in ids:
            at, rpy = drone_pose(d, k * step_us / 1e6)
            places[k, d] = F @ at
            turns[k, d] = quaternion_of(F @ ue_matrix(*rpy) @ F)
    return ScenePlan(
        dataset=dataset,
        scene_name=scene,
        scene_index=scene_index,
        description="A made-up street.",
        town=TownSite(town, town, (-60.0, -60.0, 60.0, 60.0), 0.0, mask_origin_map_m=(-60.0, -60.0)),
        route_name="row1_col2",
        formation_name="cross",
        rig_name="uav3d",
        topology="carla",
        seed=7,
        start_timestamp_us=START_US + scene_index * 100_000_000,
        step_us=step_us,
        warmup_ticks=0,
        samples=samples,
        keyframe_every_steps=every,
        sweeps_per_keyframe=sweeps,
        rig=(
            *(SensorSpec(n, (0.1, -0.05, 0.02), CAMERAS[n], CameraParams(*size_px, 90.0), sensors) for n in cameras),
            *((LIDAR,) if lidar else ()),
        ),
        swarm=SwarmTrajectory(ids, SE3(turns, places)),
        weather=WeatherTrack("clear_noon", (0,), np.linspace(0.0, 13.0, 14)[None]),
        images=ImageFormat(images),  # type: ignore[arg-type]
        splits=splits,
        version=version,
        ingredients={"traffic": TrafficPlan(11), "walkers": WalkersPlan(1)}
        | ({} if corner_cases is None else {"corner_cases": corner_cases}),
    )


LIDAR = SensorSpec(
    "", (0.2, -0.1, -0.3), (3.0, -20.0, 50.0), LidarParams(16, 200.0, 8000, 20.0, -10.0, -90.0), ("lidar",)
)


def _scan(folder: Path, plan: ScenePlan, drone_id: int, step: int, shots: list[SensorReading]) -> SensorReading:
    """Return a lidar reading made of every fifth pixel of the drone's depth images."""
    at, rpy = drone_pose(drone_id, step * plan.step_us / 1e6)
    body = ue_matrix(*rpy)
    origin_m, turn = F @ (at + body @ F @ np.array(LIDAR.mount_t_m)), F @ body @ ue_matrix(*LIDAR.mount_rpy_deg) @ F
    clouds, owners = [], []
    for shot in shots:
        ids, tags = codec.mask_ids_and_tags(folder / shot.files["instance"])
        depth = codec.decode_depth(folder / shot.files["depth"])
        v, u = (axis.ravel() for axis in np.mgrid[2 : ids.shape[0] : 5, 2 : ids.shape[1] : 5])
        finite = np.isfinite(depth[v, u])
        v, u = v[finite], u[finite]
        rays = np.stack([u + 0.5, v + 0.5, np.ones(len(u))]) * depth[v, u]
        map_m = shot.map_SE3_sensor.apply((np.linalg.inv(shot.camera.intrinsic) @ rays).T)
        clouds.append((map_m - origin_m) @ turn)
        owners.append(np.stack([ids[v, u], tags[v, u]], axis=1))
    cloud = np.concatenate(clouds)
    channel = f"LIDAR_id_{drone_id}"
    files = {
        "lidar": f"lidar/{channel}/{step:06d}.pcd.bin",
        "lidar_instance": f"lidar_instance/{channel}/{step:06d}.bin",
    }
    data = points.encode_points(np.concatenate([cloud, np.full((len(cloud), 2), 3.0)], axis=1))
    write_files(folder, dict(zip(files.values(), (data, points.encode_owners(np.concatenate(owners))), strict=True)))
    sensor = Sensor(Agent(drone_id), LIDAR)
    return SensorReading(sensor, SE3(quaternion_of(turn), origin_m), euler_of(F @ turn @ F), files)


def write_files(folder: Path, contents: dict[str, bytes]) -> None:
    """Write files of a recording, by their names in it."""
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def drone_pose(drone_id: int, time_s: float) -> tuple[np.ndarray, tuple[float, float, float]]:
    """Return the simulator's (3,) location, metres, and (roll, pitch, yaw), degrees."""
    yaw = 31.0 + 4.0 * time_s
    dx, dy = FORMATION[drone_id]
    centre = np.array([2.0 + 3.0 * time_s, -1.0 + 2.0 * time_s, 25.0 + 0.3 * drone_id])
    rpy = (1.5 * np.cos(time_s + drone_id), 2.0 * np.sin(time_s + drone_id), yaw)
    return centre + ue_matrix(0, 0, yaw) @ np.array([dx, dy, 0.0]), rpy


def make_recording(folder: Path, *, movers: list[Mover] | None = None, houses=HOUSES, **choices) -> Recording:
    """Draw and return a recording; ``choices`` are those of ``make_plan``."""
    plan = make_plan(**choices)
    cast = street() if movers is None else movers
    frames = []
    for step in plan.capture_steps:
        time_s = step * plan.step_us / 1e6
        key = step % plan.keyframe_every_steps == 0
        states, poses = _states(cast, time_s)
        drones = tuple(_drone(plan, d, step) for d in plan.swarm.drone_ids)
        shots = tuple(
            _shot(folder, plan, spec, d, step, poses, cast, houses)
            for d in plan.swarm.drone_ids
            for spec in plan.cameras
        )
        frames.append(
            RecordedFrame(
                step=step,
                timestamp_us=plan.start_timestamp_us + step * plan.step_us,
                simulator_frame=900 + step,
                sample_index=step // plan.keyframe_every_steps if key else None,
                drones=drones,
                readings=shots
                + tuple(
                    _scan(folder, plan, d, step, [s for s in shots if s.sensor.agent.number == d])
                    for d in plan.swarm.drone_ids
                    if choices.get("lidar")
                ),
                actors=states,
                weather=tuple(plan.weather.values[0].tolist()),
            )
        )
    facts = SessionFacts("mock", "0.9.16", "0.9.16", "carla", 11, 11, 1, 1, "actor_id")
    infos = tuple(_info(i, m) for i, m in enumerate(cast, start=1))
    return Recording(folder=folder, plan=plan, facts=facts, actors=infos, frames=tuple(frames))


def _info(instance_id: int, mover: Mover) -> ActorInfo:
    x, y, z = mover.box_offset
    return ActorInfo(
        instance_id=instance_id,
        simulator_actor_id=500 + 3 * instance_id,
        kind=mover.kind,
        blueprint=mover.blueprint,
        base_type=mover.base_type,
        half_extent_m=mover.half,
        actor_SE3_box=SE3(np.array([1.0, 0.0, 0.0, 0.0]), np.array([x, -y, z])),
        semantic_tag=mover.tag,
        attributes={"color": "10,20,30", **mover.attributes},
    )


def _states(cast: list[Mover], time_s: float) -> tuple[ActorStates, dict[int, tuple[np.ndarray, np.ndarray]]]:
    rows, poses = [], {}
    for i, m in enumerate(cast, start=1):
        if not m.alive[0] <= time_s <= m.alive[1]:
            continue
        heading = np.array([np.cos(np.radians(m.rpy[2])), np.sin(np.radians(m.rpy[2])), 0.0])
        at = np.array(m.at) + heading * m.speed * time_s
        euler = np.array([m.rpy[0], m.rpy[1], m.rpy[2] + m.yaw_rate * time_s]).astype(np.float32).astype(float)
        matrix = ue_matrix(*euler)
        poses[i] = (at, matrix)
        spin = np.array([0.0, 0.0, np.radians(m.yaw_rate)])
        rows.append((i, F @ at, quaternion_of(F @ matrix @ F), euler, F @ heading * m.speed, -F @ spin))
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[]] * 6
    widths = (3, 4, 3, 3, 3)
    t, q, e, v, s = (np.array(c, dtype=float).reshape(len(rows), w) for c, w in zip(columns[1:], widths, strict=True))
    states = ActorStates(np.array(columns[0], dtype=np.int64), SE3(q, t), e, v, s, np.zeros((len(rows), 3)))
    return states, poses


def _drone(plan: ScenePlan, drone_id: int, step: int) -> DroneState:
    map_SE3_flu = plan.swarm.map_SE3_flu[step, drone_id]
    return DroneState(drone_id, map_SE3_flu, np.array([3.0, -2.0, 0.0]), map_SE3_flu)


def camera_pose_ue(spec: SensorSpec, drone_id: int, time_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the camera's (3,) location, metres, and (3, 3) rotation in the simulator's frame."""
    at, rpy = drone_pose(drone_id, time_s)
    body = ue_matrix(*rpy)
    return at + body @ F @ np.array(spec.mount_t_m), body @ ue_matrix(*spec.mount_rpy_deg)


def _shot(folder, plan, spec, drone_id, step, poses, cast, houses) -> SensorReading:
    channel = plan.channel(camera=spec.name, drone_id=drone_id)
    at, matrix = camera_pose_ue(spec, drone_id, step * plan.step_us / 1e6)
    width_px, height_px = spec.camera.width_px, spec.camera.height_px
    focal = width_px / 2.0
    intrinsic = np.array([[focal, 0, width_px / 2], [0, focal, height_px / 2], [0, 0, 1.0]])
    ids, tags, depth = draw_view(at, matrix, intrinsic, (width_px, height_px), poses, cast, houses)
    shade = np.stack([40 + 17 * (ids % 12), 200 - 11 * (tags % 17), 60 + 9 * (ids % 20)], axis=-1).astype(np.uint8)
    shade[..., 1] ^= np.uint8(step % 16)  # no two frames alike
    suffix = "jpg" if plan.images.kind == "jpeg" else "png"
    names = {
        "rgb": f"rgb/{channel}/{step:06d}.{suffix}",
        "instance": f"instance/{channel}/{step:06d}.png",
    } | ({"depth": f"depth/{channel}/{step:06d}.png"} if "depth" in spec.modalities else {})
    data = {
        "rgb": codec.encode_jpeg(shade) if plan.images.kind == "jpeg" else codec.encode_png(shade),
        "instance": codec.encode_mask_ids(ids, tags),
        "depth": codec.encode_depth(depth),
    }
    write_files(folder, {name: data[kind] for kind, name in names.items()})
    return SensorReading(
        sensor=Sensor(Agent(drone_id), spec),
        map_SE3_sensor=SE3(quaternion_of(F @ matrix @ F @ OPTICAL_IN_FLU), F @ at),
        ue_euler_deg=euler_of(matrix),
        files=names,
    )


def euler_of(matrix: np.ndarray) -> tuple[float, float, float]:
    """Return (roll, pitch, yaw), degrees, of a (3, 3) matrix in the simulator's frame."""
    pitch = np.degrees(np.arcsin(np.clip(matrix[2, 0], -1, 1)))
    yaw = np.degrees(np.arctan2(matrix[1, 0], matrix[0, 0]))
    roll = np.degrees(np.arctan2(-matrix[2, 1], matrix[2, 2]))
    return float(roll), float(pitch), float(yaw)


def draw_view(at, matrix, intrinsic, size_px, poses, cast, houses=HOUSES):
    """Ray-trace one view: (H, W) uint16 ids, uint8 tags, and planar depth, metres."""
    width, height = size_px
    u, v = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    optical = np.stack([(u - intrinsic[0, 2]) / intrinsic[0, 0], (v - intrinsic[1, 2]) / intrinsic[1, 1], u * 0 + 1])
    rays = matrix @ UE_TO_OPTICAL.T @ optical.reshape(3, -1)  # world direction of each pixel, depth 1 along the axis
    with np.errstate(divide="ignore"):
        depth = np.where(rays[2] < 0, -at[2] / rays[2], np.inf)  # the ground
    ids = np.zeros(depth.shape, np.uint16)
    tags = np.where(np.isfinite(depth), 1, 11).astype(np.uint8)
    solids = [(0, 3, np.array(c), np.eye(3), np.array(h)) for c, h in houses]
    for i, (origin, turn) in poses.items():
        half, offset = shape_of(cast[i - 1])
        solids.append((i, cast[i - 1].tag, origin + turn @ offset, turn, half))
    ray_lengths2 = (rays * rays).sum(axis=0)
    for i, tag, centre, turn, half in solids:
        along, missing2 = (centre - at) @ rays, (centre - at) @ (centre - at) - 1.01 * half @ half
        meets = np.flatnonzero((missing2 < 0) | (along > 0) & (along * along >= ray_lengths2 * missing2))  # its sphere
        start, way = (turn.T @ (at - centre))[:, None], turn.T @ rays[:, meets]
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = (-half[:, None] - start) / way, (half[:, None] - start) / way
        near, far = np.minimum(a, b).max(axis=0), np.maximum(a, b).min(axis=0)
        nearer = (near <= far) & (near > 0) & (near < depth[meets])
        hits = meets[nearer]
        depth[hits], ids[hits], tags[hits] = near[nearer], i, tag
    return ids.reshape(height, width), tags.reshape(height, width), depth.reshape(height, width)


def shape_of(mover: Mover) -> tuple[np.ndarray, np.ndarray]:
    """Return (3,) half extents and (3,) offset, metres, of the drawn box; a zero-sized reported bicycle has its true size."""
    if not any(mover.half):
        return np.array([0.82, 0.19, 0.81]), np.array([0.0, 0.0, 0.81])
    return np.array(mover.half), np.array(mover.box_offset)
