"""Plans show ground agents; invalid settings are refused with their line."""

from pathlib import Path

import pytest

from uavsim.config.overrides import Overrides
from uavsim.errors import ConfigError
from uavsim.ingredients.roadside import RoadsidePlan
from uavsim.ingredients.vehicles import VehiclesPlan
from uavsim.plan.scenes import plan_scenes
from uavsim.records.codec import pack_plan, unpack_plan
from uavsim.records.plan import ScenePlan
from uavsim.records.sensors import Agent

DATASET = """\
towns: {Town10HD: {scenes: 1}}
formation: cross
rig: nadir
traffic: {vehicles: 3}
"""
BOTH = (
    "vehicles: {count: 2, image_px: [400, 224]}\nroadside: {at: [{position_m: [10, 20], yaw_deg: 90}], rig: roadside}\n"
)


def plan(folder: Path, more: str, overrides: Overrides | None = None) -> ScenePlan:
    path = folder / "own.yaml"
    path.write_text(DATASET + more)
    (found,) = plan_scenes(str(path), overrides=overrides or Overrides())
    return found


def test_agents_and_their_sensors_are_in_the_plan_after_the_drones(tmp_path: Path) -> None:
    found = unpack_plan(pack_plan(plan(tmp_path, BOTH)))
    assert [agent.id for agent in found.agents] == ["0", "1", "2", "3", "4", "v0", "v1", "r0"]
    assert found.channels[:5] == plan(tmp_path, "").channels
    assert found.channels[5:7] == ("CAM_FRONT_id_v0", "CAM_FRONT_RIGHT_id_v0")
    others = [sensor.channel for sensor in found.sensors if not sensor.channel.startswith("CAM")]
    assert [name for name in others if "LIDAR" in name] == ["LIDAR_TOP_id_v0", "LIDAR_TOP_id_v1", "LIDAR_TOP_id_r0"]
    assert len([name for name in others if "RADAR" in name]) == 2 * 5
    front = found.rig_of(Agent(0, "vehicle"))[0].camera
    assert (front.width_px, front.height_px, front.fov_deg) == (400, 224, 64.6)
    assert found.rig_of(Agent(0)) == found.rig


def test_without_them_plans_are_what_they_were(tmp_path: Path) -> None:
    assert b"vehicles.VehiclesPlan" not in pack_plan(plan(tmp_path, ""))
    assert plan(tmp_path, "").ground == ()


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (
            "vehicles: {count: 4}",
            r"own.yaml:5: vehicles.count: 4 vehicles with sensors exceed the traffic of Town10HD, 3 vehicles",
        ),
        ("vehicles: {count: 1, rig: nuscenes_cat}", r"own.yaml:5: vehicles.rig: .*nuscenes_car"),
        ("vehicles: {rig: nuscenes_car}", r"own.yaml:5: vehicles.count: is missing"),
        ("roadside: {}", r"own.yaml:5: roadside: no roadside unit is configured; set count or at"),
        ("roadside: {at: [{position_m: [5000, 0], yaw_deg: 0}]}", r"own.yaml:5: .*x=5000 y=0 is outside Town10HD"),
        (
            "roadside: {at: [{position_m: [-80, 0], yaw_deg: 0}], pole_m: 10}",
            r"own.yaml:5: roadside.at\[0\].position_m: x=-80 y=0 is inside 'building 2' of Town10HD .* 45 m high",
        ),
        ("vehicles: {count: 1, at: [[5000, 0]]}", r"own.yaml:5: vehicles.at\[0\]: x=5000 y=0 is outside Town10HD"),
        ("vehicles: {count: 1, at: [[0, 0], [1, 0]]}", r"own.yaml:5: vehicles: at has 2 places, but count is 1"),
        (
            "vehicles: {count: 1, near: swarm}",
            r"own.yaml:5: vehicles.near: unknown value 'swarm'; did you mean 'start'",
        ),
        (
            "topology: bridge\nvehicles: {count: 1}",
            r"own.yaml:6: vehicles: topology bridge supports only drones",
        ),
        (
            "topology: merged\nroadside: {count: 1}",
            r"own.yaml:6: roadside: topology merged supports only drones",
        ),
    ],
)
def test_impossible_values_are_refused_with_their_line(tmp_path: Path, more: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        plan(tmp_path, more)


def test_an_overridden_topology_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"own.yaml:5: vehicles: topology bridge supports only drones"):
        plan(tmp_path, BOTH, Overrides(topology="bridge"))


def test_the_selection_of_cars_is_in_the_plan(tmp_path: Path) -> None:
    more = "vehicles: {count: 2, near: route, within_m: 80, blueprint: vehicle.audi.*, at: [[1, 2]]}\n"
    more += "roadside: {count: 1, within_m: 60}\n"
    found = unpack_plan(pack_plan(plan(tmp_path, more)))
    vehicles, units = found.ground
    assert isinstance(vehicles, VehiclesPlan)
    assert isinstance(units, RoadsidePlan)
    assert (vehicles.near, vehicles.within_m, vehicles.blueprint, vehicles.at) == (
        "route",
        80,
        "vehicle.audi.*",
        ((1, 2),),
    )
    assert (vehicles.farthest_m, units.farthest_m, units.within_m) == (80, None, 60)
