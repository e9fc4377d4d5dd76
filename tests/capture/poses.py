"""Sensor poses of a plan with drones exactly at their planned poses."""

from uavsim.capture.rig import sensor_poses
from uavsim.records.plan import ScenePlan
from uavsim.simulate.ports import SensorPose
from uavsim.simulate.swarm import PlannedSwarm


def planned_swarm(plan: ScenePlan) -> PlannedSwarm:
    swarm = PlannedSwarm()
    swarm.begin(plan, heartbeat=lambda _phase, _tick: None)
    return swarm


def planned_poses(plan: ScenePlan, step: int = 0) -> list[SensorPose]:
    return sensor_poses(plan, planned_swarm(plan).advance(step))
