"""Small irregular scene plans for tests, so that symmetry hides no error."""

from dataclasses import replace

import numpy as np

from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.traffic import TrafficPlan
from uavsim.records.plan import (
    ImageFormat,
    ScenePlan,
    SwarmTrajectory,
    TownSite,
    WeatherTrack,
)
from uavsim.records.sensors import CameraParams, SensorSpec, Settle

RIG_ANGLES = {
    "FRONT": (-45.0, 0.0),
    "LEFT": (-45.0, -90.0),
    "RIGHT": (-45.0, 90.0),
    "BACK": (-45.0, 180.0),
    "BOTTOM": (-90.0, 0.0),
}


def rig(
    *, sensors: tuple[str, ...] = ("rgb", "instance"), width: int = 320, height: int = 180
) -> tuple[SensorSpec, ...]:
    return tuple(
        SensorSpec(name, (0.0, 0.0, 0.0), (0.0, pitch, yaw), CameraParams(width, height, 90.0), sensors)
        for name, (pitch, yaw) in RIG_ANGLES.items()
    )


def settled(plan: ScenePlan, *, ticks: int, first_ticks: int) -> ScenePlan:
    """Return a plan with RGB cameras that settle before each image."""
    settle = Settle(ticks, first_ticks)
    rig = (replace(s, params=replace(s.camera, settle=settle)) if s.params.is_optical else s for s in plan.rig)
    return replace(plan, rig=tuple(rig))


def scene_plan(
    *,
    samples: int = 3,
    vehicles: int = 25,
    seed: int = 7,
    topology: str = "carla",
    cameras: tuple[SensorSpec, ...] | None = None,
    warmup_ticks: int = 20,
) -> ScenePlan:
    every = 10
    steps = (samples - 1) * every + 1
    cross = np.array([[0, 0], [20, 0], [-20, 0], [0, 20], [0, -20]], dtype=float)
    yaw = 0.3
    turn = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    t_m = np.zeros((steps, 5, 3))
    for k in range(steps):
        t_m[k, :, :2] = cross @ turn.T + [-20.0 + 0.25 * k, -30.0 + 0.1 * k]
    t_m[:, :, 2] = 60.0
    return ScenePlan(
        dataset="test",
        scene_name="scene_0000",
        scene_index=0,
        description="a test scene",
        town=TownSite("Town10HD", "Town10HD", (-110.0, -135.0, 105.0, 65.0), 0.0),
        route_name="row1_col1",
        formation_name="cross",
        rig_name="test",
        topology=topology,
        seed=seed,
        start_timestamp_us=1_700_000_000_000_003,
        step_us=50_000,
        warmup_ticks=warmup_ticks,
        samples=samples,
        keyframe_every_steps=every,
        sweeps_per_keyframe=0,
        rig=cameras or rig(),
        swarm=SwarmTrajectory((0, 1, 2, 3, 4), SE3(quaternion.from_yaw(yaw), t_m)),
        ingredients={"traffic": TrafficPlan(vehicles)},
        weather=WeatherTrack(
            "ClearNoon", (0,), np.array([[5.0, 0, 0, 10, -1, 45, 2, 0.75, 0.1, 0, 1, 0.03, 0.0331, 0]])
        ),
        images=ImageFormat(),
        splits=("uav_train",),
        version="v1.0-mini",
    )
