from types import SimpleNamespace
from typing import Any

from uavsim.config.dataset import TownShare
from uavsim.ingredients.traffic import RENAMED, Blueprints, Traffic, TrafficPlan, blueprints, planner
from uavsim.records.classes import UAV3D_CARS


def test_uav3ds_seventeen_cars_by_todays_names():
    cars = blueprints(("uav3d",))
    assert len(UAV3D_CARS) == len(set(UAV3D_CARS)) == len(cars) == 17
    assert not set(cars) & set(RENAMED)
    assert {"vehicle.lincoln.mkz_2017", "vehicle.ford.mustang", "vehicle.audi.a2"} <= set(cars)


def test_groups_lists_and_old_names():
    assert blueprints(("all",)) == ()
    assert blueprints(("uav3d", "all")) == ()
    assert blueprints(("vehicle.mustang.mustang", "vehicle.ford.mustang", "vehicle.x.y")) == (
        "vehicle.ford.mustang",
        "vehicle.x.y",
    )


def test_the_towns_number_goes_before_the_datasets():
    block = Traffic(vehicles=60, walkers=3, blueprints=Blueprints(ids=("uav3d",)))
    for own, vehicles in ((None, 60), (0, 0), (9, 9)):
        town: Any = SimpleNamespace(block=block, share=TownShare(scenes=1, vehicles=own))
        assert planner(town) == TrafficPlan(vehicles, blueprints(("uav3d",)))
