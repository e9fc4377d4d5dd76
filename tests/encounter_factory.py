"""A synthetic recording of an encounter: an aeroplane's box in front of a horizon."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.dataset_factory import put_scene
from tools.common.factories import make_plan, write_files
from uavsim.dataset import assemble
from uavsim.geometry import quaternion
from uavsim.geometry.frames import FLU_SE3_OPTICAL
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.ingredients.intruders.intruder_plans import IntruderPlan, IntrudersPlan
from uavsim.ingredients.traffic import TrafficPlan
from uavsim.records.plan import ScenePlan, SwarmTrajectory
from uavsim.records.recording import (
    ActorInfo,
    ActorStates,
    DroneState,
    RecordedFrame,
    Recording,
    SensorReading,
    SessionFacts,
)
from uavsim.records.sensors import CameraParams, SensorSpec

FRAMES = 60
STEP_US = 100_000
SIZE_PX = (200, 160)
HALF_M = (4.15, 5.5, 1.35)
START_M, SPEED_MPS, ASIDE_M = 420.0, 60.0, 12.0
SKY, GROUND, FLYING, INSTANCE = 11, 10, 21, 3
FOCAL_PX = 100.0
FRONT = SensorSpec(
    "FRONT", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), CameraParams(*SIZE_PX, 90.0), ("rgb", "instance", "semantic")
)


def place_of(step: int, *, above_m: float) -> np.ndarray:
    """Return the aeroplane's (3,) map position, metres: it approaches head-on, slightly left of the drone at 100 m."""
    return np.array([START_M - SPEED_MPS * step * STEP_US / 1e6, ASIDE_M, 100.0 + above_m])


def encounter_plan(*, above_m: float = 30.0, planned: bool = True, scene_index: int = 0) -> ScenePlan:
    drone_poses = SE3(quaternion.IDENTITY, np.tile([0.0, 0.0, 100.0], (FRAMES, 1, 1)))
    path = np.stack([place_of(step, above_m=above_m) for step in range(FRAMES)])
    intruder = IntruderPlan(
        kind="aeroplane", path="rectilinear", profile="aot", name="Airplane1", blueprint="static.prop.aeroplane",
        size_lwh_m=(8.3, 11.0, 2.7), planned=planned, drone_id=0, camera="FRONT",
        map_SE3_flu=SE3(quaternion.from_yaw(np.pi), path), begin_s=0.0, cpa_s=7.0, range_m=420.0, closing_mps=60.0,
        azimuth_deg=-1.6, elevation_deg=4.1, cpa_m=float(np.hypot(ASIDE_M, above_m)), collision_course=True,
    )  # fmt: skip
    scene = f"scene_{scene_index:04d}"
    return replace(
        make_plan(scene=scene, scene_index=scene_index, dataset="air", samples=1, sweeps=0, drones=1),
        samples=FRAMES, step_us=STEP_US, keyframe_every_steps=1, rig=(FRONT,), swarm=SwarmTrajectory((0,), drone_poses),
        ingredients={"traffic": TrafficPlan(0), "intruders": IntrudersPlan((intruder,))},
    )  # fmt: skip


def painted(place_m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (H, W) mask ids, mask tags and semantic tags: ground in the lower half, the aeroplane's box in front."""
    width, height = SIZE_PX
    semantic = np.where(np.arange(height)[:, None] < height // 2, SKY, GROUND) * np.ones((1, width), np.int64)
    ids = np.zeros((height, width), np.int64)
    near_m = place_m[0] - HALF_M[0]
    if near_m > 1.0:
        u = width / 2 - FOCAL_PX * (place_m[1] + np.array([HALF_M[1], -HALF_M[1]])) / place_m[0]
        v = height / 2 - FOCAL_PX * (place_m[2] - 100.0 + np.array([HALF_M[2], -HALF_M[2]])) / place_m[0]
        columns = (np.arange(width) + 0.5 >= u[0]) & (np.arange(width) + 0.5 < u[1])
        lines = (np.arange(height) + 0.5 >= v[0]) & (np.arange(height) + 0.5 < v[1])
        ids[np.outer(lines, columns)] = INSTANCE
    semantic[ids > 0] = FLYING
    return ids.astype(np.uint16), np.where(ids > 0, FLYING, semantic).astype(np.uint8), semantic.astype(np.uint8)


def make_encounter(folder: Path, *, above_m: float = 30.0, planned: bool = True, scene_index: int = 0) -> Recording:
    """Draw and return a recording."""
    plan = encounter_plan(above_m=above_m, planned=planned, scene_index=scene_index)
    frames = []
    for step in range(FRAMES):
        pose = SE3(quaternion.IDENTITY, np.array([0.0, 0.0, 100.0]))
        xyz_m = place_of(step, above_m=above_m)
        ids, tags, semantic = painted(xyz_m)
        rgb = np.stack([90 + 10 * semantic, 60 + 3 * semantic, np.full_like(semantic, 40 + step)], axis=-1)
        files = {kind: f"{kind}/{step:06d}.png" for kind in FRONT.modalities}
        images = (codec.encode_png(rgb.astype(np.uint8)), codec.encode_mask_ids(ids, tags), codec.encode_tags(semantic))
        write_files(folder, dict(zip(files.values(), images, strict=True)))
        shot = SensorReading(plan.sensors[0], pose @ FLU_SE3_OPTICAL, (0.0, 0.0, 0.0), files)
        still = np.zeros((1, 3))
        states = ActorStates(
            np.array([INSTANCE]), SE3(quaternion.from_yaw(np.array([np.pi])), xyz_m[None]), still, still, still, still
        )
        drones = (DroneState(0, pose, np.zeros(3), pose),)
        weather = tuple(plan.weather.values[0].tolist())
        time_us = plan.start_timestamp_us + step * STEP_US
        frames.append(RecordedFrame(step, time_us, 900 + step, step, drones, (shot,), states, weather))
    info = ActorInfo(
        INSTANCE, 77, "intruder", "static.prop.aeroplane", "", HALF_M, SE3.identity(), FLYING, {"role_name": "prop"}
    )
    facts = SessionFacts("mock", "0.9.16", "0.9.16", "carla", 0, 0, 0, 0, "actor_id")
    return Recording(folder=folder, plan=plan, facts=facts, actors=(info,), frames=tuple(frames))


def make_encounter_dataset(root: Path, *, heights_m: tuple[float, ...] = (30.0, -25.0)) -> Path:
    """Make a strict dataset with one scene per height of the aeroplane above the drone."""
    assemble(
        root,
        [
            put_scene(root, make_encounter(root / "recording", above_m=above_m, scene_index=index))
            for index, above_m in enumerate(heights_m)
        ],
    )
    return root
